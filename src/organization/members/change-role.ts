import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { canGrant, findRole, notGrantable, unknownRole } from '../../platform/access/roles.ts';
import { lastOwner } from '../../platform/core/errors.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { readMemberFacts } from './member-facts.ts';
import { exampleMember, Member, memberColumns, memberCte } from './schema.ts';

/** Takes the lock on the workspace, so that if two owners demote each other, one remains an owner. */
export const changeRole = endpoint({
  method: 'PATCH',
  path: '/v1/workspaces/:workspace_id/members/:membership_id',
  summary: "Change a member's role",
  access: onWorkspace('members:manage'),
  event: 'organization_membership.updated',
  params: Type.Object({ workspace_id: Id, membership_id: Id }),
  body: Type.Object({ role: InputText({ minLength: 1 }) }),
  reply: Member,
  errors: ['unknown_role', 'role_not_grantable', 'last_owner'],
  example: { body: { role: 'viewer' }, reply: { ...exampleMember, role: 'viewer' } },
  run: ({ params, body, transaction, services }) =>
    transaction(async (tx) => {
      const { own, own_granted, is_last_owner } = await readMemberFacts(tx, params.membership_id);
      const wanted = findRole(body.role);
      if (!wanted) throw unknownRole(body.role);
      if (!canGrant(own, wanted, own_granted)) throw notGrantable();
      if (is_last_owner && wanted.slug !== 'owner') throw lastOwner();
      return tx.one({
        before: memberCte(services, params.membership_id),
        changed: sql`
          update memberships m set role = ${wanted.slug} from access a
          where m.workspace_id = a.workspace_id and m.membership_id = ${params.membership_id}
          returning m.*`,
        result: sql`select ${memberColumns(services)} from changed m join users u on u.user_id = m.user_id`,
      });
    }),
});
