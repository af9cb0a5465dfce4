import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { newLinkSecret } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { requireMail } from '../../platform/http/require-mail.ts';
import { enforceInvitationRateLimit } from './invitation-rate-limit.ts';
import { readPending } from './pending-invitation.ts';
import {
  exampleInvitation,
  INVITATION_DAYS,
  Invitation,
  invitationAuditColumns,
  invitationColumns,
  invitationCte,
} from './schema.ts';
import { sendInvitationMail } from './send-invitation-mail.job.ts';

export const resendInvitation = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/invitations/:invitation_id/resend',
  summary: 'Resend an invitation',
  description: 'Sends a new link, valid for seven days. The previous link stops working.',
  access: onWorkspace('members:manage'),
  event: 'invitation.resent',
  limit: 'invitations',
  params: Type.Object({ workspace_id: Id, invitation_id: Id }),
  reply: Invitation,
  errors: ['conflict', 'role_not_grantable', 'email_unavailable'],
  example: { reply: exampleInvitation },
  run: async ({ params: { invitation_id }, services, transaction, maybeOne, later }) => {
    await maybeOne(sql`select 1`);
    await requireMail(services.mail);
    return transaction(async (tx) => {
      const { asker_id, email } = await readPending(tx, invitation_id);
      await enforceInvitationRateLimit(tx, services, { sent_by: asker_id, email });
      const invitation = await tx.one<Invitation>({
        before: invitationCte(invitation_id),
        i: sql`
          update invitations i set secret_hash = ${newLinkSecret().hash}, mail_status = 'queued',
            expires_at = now() + make_interval(days => ${INVITATION_DAYS})
          from access a
          where i.workspace_id = a.workspace_id and i.invitation_id = ${invitation_id}
          returning i.*`,
        after: sql`select ${invitationAuditColumns} from i`,
        result: sql`select ${invitationColumns} from i`,
      });
      await tx.execute(later(sendInvitationMail, { invitation_id, sent_by: asker_id }));
      return invitation;
    });
  },
});
