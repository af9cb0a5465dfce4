import { Type } from 'typebox';
import { newLinkSecret } from '../core/secrets.ts';
import { raw, sql } from '../db/sql.ts';
import { defineJob } from '../jobs/define-job.ts';
import { MailRefused } from '../providers/mail/mail.ts';
import { LINK_MINUTES, signInMail } from './sign-in-mail.ts';

export const LINK_END = raw(`now() + interval '${LINK_MINUTES} minutes'`);

/**
 * Sends a sign-in link to an address that may have one, and nothing to another. The secret of the link is created here and
 * kept nowhere.
 */
export const sendSignInMail = defineJob({
  name: 'send-sign-in-mail',
  for: 'service',
  lane: 'mail',
  key: ({ email }) => email,
  attempts: 5,
  timeoutSeconds: 60,
  input: Type.Object({ email: Type.String() }),
  async run({ db, input: { email }, services }) {
    const { secret, hash } = newLinkSecret();
    const [link] = await db.query(sql`
      update sign_in_links set token_hash = ${hash}, expires_at = ${LINK_END}
      where email = ${email} and token_hash is not null and expires_at > now() returning 1`);
    if (!link) return;
    try {
      await services.mail.send(signInMail(services.publicUrl, email, secret));
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      services.log.warn({ err: error, to: email }, 'the mail server refused a sign-in link');
    }
  },
});
