import { Type } from 'typebox';
import { Id } from '../../platform/core/records.ts';
import { newLinkSecret } from '../../platform/core/secrets.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';
import { MailRefused } from '../../platform/providers/mail/mail.ts';
import { type InvitationLetter, invitationMail } from './invitation-mail.ts';
import type { MailStatus } from './schema.ts';

/**
 * Emails the link of an invitation. The secret is created here and only its hash is stored: a repeated attempt sends a
 * new secret, which invalidates the previous one.
 */
export const sendInvitationMail = defineJob({
  name: 'send-invitation-mail',
  for: 'workspace',
  lane: 'mail',
  key: ({ invitation_id }) => invitation_id,
  attempts: 10,
  timeoutSeconds: 60,
  input: Type.Object({ invitation_id: Id, sent_by: Id }),
  async run({ db: { query }, input, services }) {
    const { secret, hash } = newLinkSecret();
    const [letter] = await query<Omit<InvitationLetter, 'secret'>>(sql`
      update invitations i set secret_hash = ${hash}
      from workspaces w, users u
      where i.invitation_id = ${input.invitation_id} and i.state = 'pending' and i.expires_at > now()
        and w.workspace_id = i.workspace_id and u.user_id = ${input.sent_by}
      returning i.email, i.role, i.expires_at, w.name as workspace_name, u.display_name as inviter_name`);
    // It was revoked, accepted or resent in the meantime.
    if (!letter) return;
    try {
      await services.mail.send(invitationMail(services.publicUrl, { ...letter, secret }));
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      services.log.warn({ err: error, ...input }, 'the mail server rejected an invitation');
      return setMailStatus(query, input.invitation_id, 'bounced');
    }
    await setMailStatus(query, input.invitation_id, 'sent');
  },
  onFailure: (query, { input }) => setMailStatus(query, input.invitation_id, 'failed'),
});

async function setMailStatus(query: Query, invitation_id: string, status: MailStatus): Promise<void> {
  await query(sql`update invitations set mail_status = ${status} where invitation_id = ${invitation_id}`);
}
