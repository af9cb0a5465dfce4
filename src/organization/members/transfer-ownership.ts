import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { readMemberFacts } from './member-facts.ts';
import { exampleMember, Member, memberColumns } from './schema.ts';

export const transferOwnership = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/transfer',
  summary: 'Transfer the ownership',
  description: 'Makes another active member an owner and the caller an admin in one step. Returns the new owner.',
  access: onWorkspace('workspace:transfer'),
  event: 'workspace.transferred',
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({ membership_id: InputText() }),
  reply: Member,
  errors: ['member_inactive', 'invalid_request'],
  example: { body: { membership_id: exampleMember.membership_id }, reply: exampleMember },
  run: ({ body, transaction, services }) =>
    transaction(async (tx) => {
      await tx.maybeOne(sql`select 1`);
      const heir = await readMemberFacts(tx, body.membership_id).catch((error: unknown) => {
        // The id comes from the body, so an unknown membership is a 400, not a 404.
        if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
        throw new ApiError('invalid_request', 'membership_id is not a member of this workspace.');
      });
      if (heir.is_self) throw new ApiError('invalid_request', 'membership_id is your own: choose another member.');
      if (heir.status === 'inactive') throw new ApiError('member_inactive', 'Reactivate the member first.');
      return tx.one<Member>({
        before: sql`
          select jsonb_object_agg(m.membership_id, m.role) as roles from access a
          join memberships m on m.workspace_id = a.workspace_id and m.membership_id in (a.membership_id, ${body.membership_id})`,
        changed: sql`
          update memberships m set role = case when m.membership_id = a.membership_id then 'admin' else 'owner' end
          from access a
          where m.workspace_id = a.workspace_id and m.membership_id in (a.membership_id, ${body.membership_id})
          returning m.*`,
        after: sql`select jsonb_object_agg(membership_id, role) as roles from changed`,
        result: sql`
          select ${memberColumns(services)} from changed m join users u on u.user_id = m.user_id
          where m.membership_id = ${body.membership_id}`,
      });
    }),
});
