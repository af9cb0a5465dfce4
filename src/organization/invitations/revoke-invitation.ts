import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { readPending } from './pending-invitation.ts';
import { exampleInvitation, Invitation, invitationAuditColumns, invitationColumns, invitationCte } from './schema.ts';

export const revokeInvitation = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/invitations/:invitation_id/revoke',
  summary: 'Revoke an invitation',
  description: 'Its link stops working, and its seat becomes free.',
  access: onWorkspace('members:manage'),
  whenUnpaid: true,
  event: 'invitation.revoked',
  params: Type.Object({ workspace_id: Id, invitation_id: Id }),
  reply: Invitation,
  errors: ['conflict', 'role_not_grantable'],
  example: { reply: { ...exampleInvitation, state: 'revoked' } },
  run: ({ params, transaction }) =>
    transaction(async (tx) => {
      await readPending(tx, params.invitation_id);
      return tx.one({
        before: invitationCte(params.invitation_id),
        i: sql`
          update invitations i set state = 'revoked' from access a
          where i.workspace_id = a.workspace_id and i.invitation_id = ${params.invitation_id}
          returning i.*`,
        after: sql`select ${invitationAuditColumns} from i`,
        result: sql`select ${invitationColumns} from i`,
      });
    }),
});
