import { Type } from 'typebox';
import { OWN_ISSUER } from '../../../platform/access/user-ctes.ts';
import { Id } from '../../../platform/core/records.ts';
import { newLinkSecret } from '../../../platform/core/secrets.ts';
import { sql } from '../../../platform/db/sql.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { MailRefused } from '../../../platform/providers/mail/mail.ts';
import { newAddressMail, oldAddressMail, takenAddressMail } from './email-change-mail.ts';

interface Change {
  old_email: string;
  new_email: string;
  is_taken: boolean;
}

/** Emails the link to the old or the new address. The secret is created here and only its hash is stored. */
export const sendEmailChangeMail = defineJob({
  name: 'send-email-change-mail',
  for: 'user',
  lane: 'mail',
  key: ({ change_id, to }) => `${change_id} ${to}`,
  attempts: 5,
  timeoutSeconds: 60,
  input: Type.Object({ change_id: Id, to: Type.Union([Type.Literal('old'), Type.Literal('new')]) }),
  async run({ db, input: { change_id, to }, services }) {
    const { secret, hash } = newLinkSecret();
    const isToOld = to === 'old';
    const [change] = await db.query<Change>(sql`
      with forgotten as (
        delete from email_changes where user_id in (
          select user_id from email_changes where expires_at < now() order by expires_at limit 100 for update skip locked)),
      change as (
        select c.*, exists (
          select from identities i where i.issuer = ${OWN_ISSUER} and i.subject = c.new_email
          union all
          select from users u where u.email = c.new_email and u.email_verified) as is_taken
        from email_changes c where c.change_id = ${change_id} and c.expires_at > now() for update of c)
      update email_changes c set
        old_hash = case when ${isToOld} and c.old_confirmed_at is null then ${hash}::bytea else c.old_hash end,
        new_hash = case when not ${isToOld} and c.new_confirmed_at is null and not change.is_taken then ${hash}::bytea else c.new_hash end
      from change where c.change_id = change.change_id
      returning c.old_email, c.new_email, change.is_taken`);
    // Replaced by another request, or no longer valid.
    if (!change) return;
    const { old_email, new_email, is_taken } = change;
    const linked = { publicUrl: services.publicUrl, secret, old_email, new_email };
    const message = isToOld ? oldAddressMail(linked) : is_taken ? takenAddressMail(linked) : newAddressMail(linked);
    try {
      await services.mail.send(message);
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      services.log.warn({ err: error, to: message.to }, 'the mail server rejected an address change link');
    }
  },
});
