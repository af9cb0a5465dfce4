import { Type } from 'typebox';
import { onWorkspace } from '../access/access-rule.ts';
import { Id } from '../core/records.ts';
import { newLinkSecret } from '../core/secrets.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { sendInvitation } from './invitation-mail.ts';
import { enforceInvitationRateLimit } from './invitation-rate-limit.ts';
import { readPending } from './pending-invitation.ts';
import { exampleInvitation, INVITATION_DAYS, Invitation, invitationColumns, invitationCte } from './schema.ts';

export const resendInvitation = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/invitations/:invitation_id/resend',
  summary: 'Resend an invitation',
  description: 'A new link, good for another seven days; the one that was sent before opens nothing any more.',
  access: onWorkspace('members:manage'),
  event: 'invitation.resent',
  limit: 'invitations',
  params: Type.Object({ workspace_id: Id, invitation_id: Id }),
  reply: Invitation,
  errors: ['conflict', 'role_not_grantable', 'email_unavailable'],
  example: { reply: exampleInvitation },
  run: ({ params, services, transaction }) =>
    transaction(async (tx) => {
      const { email, role, workspace_name, asker_name } = await readPending(tx, params.invitation_id);
      await enforceInvitationRateLimit(tx, services);
      const { secret, hash } = newLinkSecret();
      const invitation = await tx.one<Invitation>({
        before: invitationCte(params.invitation_id),
        i: sql`
          update invitations i set secret_hash = ${hash}, expires_at = now() + make_interval(days => ${INVITATION_DAYS})
          from access a
          where i.workspace_id = a.workspace_id and i.invitation_id = ${params.invitation_id}
          returning i.*`,
        result: sql`select ${invitationColumns} from i`,
      });
      const { expires_at } = invitation;
      await sendInvitation(services, { email, role, workspace_name, inviter_name: asker_name, expires_at, secret });
      return invitation;
    }),
});
