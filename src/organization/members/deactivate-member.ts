import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { lastOwner } from '../../platform/core/errors.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { readMemberFacts } from './member-facts.ts';
import { exampleMember, Member, memberColumns, memberCte } from './schema.ts';

/** Effective for every request that starts after the response, because each request reads the membership. */
export const deactivateMember = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/members/:membership_id/deactivate',
  summary: 'Deactivate a member',
  description: 'The member loses all access and frees a seat. Deactivating an inactive member changes nothing.',
  access: onWorkspace('members:manage'),
  whenUnpaid: true,
  event: 'organization_membership.updated',
  params: Type.Object({ workspace_id: Id, membership_id: Id }),
  reply: Member,
  errors: ['role_not_grantable', 'last_owner'],
  example: { reply: { ...exampleMember, status: 'inactive' } },
  run: ({ params, transaction, services }) =>
    transaction(async (tx) => {
      const { is_last_owner } = await readMemberFacts(tx, params.membership_id);
      if (is_last_owner) throw lastOwner();
      return tx.one({
        before: memberCte(services, params.membership_id),
        changed: sql`
          update memberships m set status = 'inactive' from access a
          where m.workspace_id = a.workspace_id and m.membership_id = ${params.membership_id}
          returning m.*`,
        result: sql`select ${memberColumns(services)} from changed m join users u on u.user_id = m.user_id`,
      });
    }),
});
