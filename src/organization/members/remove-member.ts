import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { lastOwner } from '../../platform/core/errors.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { readMemberFacts } from './member-facts.ts';
import { memberColumns } from './schema.ts';

/** Pages written by the member stay; workspace keys created by the member stop working. */
export const removeMember = endpoint({
  method: 'DELETE',
  path: '/v1/workspaces/:workspace_id/members/:membership_id',
  summary: 'Remove a member',
  description:
    'All members can remove themselves, that is, leave the workspace. The last active owner cannot be removed.',
  access: onWorkspace('members:manage', { orOwnMembership: true }),
  whenUnpaid: true,
  event: 'organization_membership.deleted',
  params: Type.Object({ workspace_id: Id, membership_id: Id }),
  status: 204,
  reply: Type.Null(),
  errors: ['role_not_grantable', 'last_owner'],
  example: { reply: null },
  run: ({ params, transaction, services }) =>
    transaction(async (tx) => {
      const { is_last_owner } = await readMemberFacts(tx, params.membership_id);
      if (is_last_owner) throw lastOwner();
      await tx.one({
        removed: sql`
          delete from memberships m using access a
          where m.workspace_id = a.workspace_id and m.membership_id = ${params.membership_id}
          returning m.*`,
        before: sql`select ${memberColumns(services)} from removed m join users u on u.user_id = m.user_id`,
        result: sql`select from before`,
      });
      return null;
    }),
});
