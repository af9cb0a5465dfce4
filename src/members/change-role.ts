import { Type } from 'typebox';
import { sql } from '../db/sql.ts';
import { onWorkspace } from '../http/access.ts';
import { endpoint } from '../http/endpoint.ts';
import { ApiError, notFound } from '../http/errors.ts';
import { Id } from '../http/records.ts';
import { findRole, mayGrant, notGrantable, unknownRole } from '../http/roles.ts';
import { exampleMember, Member, memberColumns } from './schema.ts';

/** Decided under the lock on the workspace, so that of two owners who demote each other one remains. */
export const changeRole = endpoint({
  method: 'PATCH',
  path: '/v1/workspaces/:workspace_id/members/:membership_id',
  summary: "Change a member's role",
  access: onWorkspace('members:manage'),
  event: 'organization_membership.updated',
  params: Type.Object({ workspace_id: Id, membership_id: Id }),
  body: Type.Object({ role: Type.String({ minLength: 1 }) }),
  reply: Member,
  errors: ['unknown_role', 'role_not_grantable', 'last_owner'],
  example: { body: { role: 'admin' }, reply: { ...exampleMember, role: 'admin' } },
  run: ({ params, body, transaction }) =>
    transaction(async (tx) => {
      const now = await tx.look<{ own_role: string; role: string; is_last_owner: boolean }>(sql`
        select a.role as own_role, m.role,
          m.role = 'owner' and m.status = 'active' and not exists (
            select from memberships o where o.workspace_id = a.workspace_id and o.role = 'owner' and o.status = 'active'
              and o.membership_id <> m.membership_id) as is_last_owner
        from access a join memberships m on m.workspace_id = a.workspace_id and m.membership_id = ${params.membership_id}
      `);
      if (!now) throw notFound('member');
      const own = findRole(now.own_role);
      const present = findRole(now.role);
      const wanted = findRole(body.role);
      if (!own || !present) throw new Error('a stored role is not in the catalogue');
      if (!mayGrant(own, present)) throw notGrantable();
      if (!wanted) throw unknownRole(body.role);
      if (!mayGrant(own, wanted)) throw notGrantable();
      if (now.is_last_owner && wanted.slug !== 'owner') {
        throw new ApiError(
          'last_owner',
          'A workspace keeps at least one active owner. Make somebody else an owner first.',
        );
      }
      return tx.one({
        changed: sql`
          update memberships m set role = ${wanted.slug} from access a
          where m.workspace_id = a.workspace_id and m.membership_id = ${params.membership_id}
          returning m.*`,
        result: sql`select ${memberColumns} from changed m join users u on u.user_id = m.user_id`,
      });
    }),
});
