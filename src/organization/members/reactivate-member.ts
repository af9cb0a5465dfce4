import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { refuseWithoutSeat } from '../workspaces/seats.ts';
import { readMemberFacts } from './member-facts.ts';
import { exampleMember, Member, memberColumns, memberCte } from './schema.ts';

export const reactivateMember = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/members/:membership_id/reactivate',
  summary: 'Reactivate a member',
  description: 'The member gets their role back and takes a seat. Reactivating an active member changes nothing.',
  access: onWorkspace('members:manage'),
  event: 'organization_membership.updated',
  params: Type.Object({ workspace_id: Id, membership_id: Id }),
  reply: Member,
  errors: ['role_not_grantable', 'seat_limit_reached'],
  example: { reply: exampleMember },
  run: ({ params, transaction, services }) =>
    transaction(async (tx) => {
      const facts = await readMemberFacts(tx, params.membership_id);
      if (facts.status === 'inactive') refuseWithoutSeat(facts);
      return tx.one({
        before: memberCte(services, params.membership_id),
        changed: sql`
          update memberships m set status = 'active' from access a
          where m.workspace_id = a.workspace_id and m.membership_id = ${params.membership_id}
          returning m.*`,
        result: sql`select ${memberColumns(services)} from changed m join users u on u.user_id = m.user_id`,
      });
    }),
});
