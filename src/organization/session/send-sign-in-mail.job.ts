import { Type } from 'typebox';
import { Id } from '../../platform/core/records.ts';
import { newLinkSecret } from '../../platform/core/secrets.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';
import { MailRefused } from '../../platform/providers/mail/mail.ts';
import { LINK_MINUTES, type LinkRequests, signInMail } from './sign-in-mail.ts';

export const LINK_END = raw(`now() + interval '${LINK_MINUTES} minutes'`);

/**
 * Emails a sign-in link if the address may sign in. The secret of the link is created here and only its hash is stored.
 */
export const sendSignInMail = defineJob({
  name: 'send-sign-in-mail',
  for: 'service',
  lane: 'mail',
  key: ({ link_id }) => link_id,
  attempts: 5,
  timeoutSeconds: 60,
  input: Type.Object({ link_id: Id }),
  async run({ db, input: { link_id }, services }) {
    const { secret, hash } = newLinkSecret();
    const [link] = await db.query<LinkRequests & { email: string }>(sql`
      with link as (
        update email_links set token_hash = ${hash}, expires_at = ${LINK_END}
        where link_id = ${link_id} and token_hash is not null and expires_at > now() returning email)
      select link.email, count(*)::int as requests, count(distinct r.network)::int as networks
      from link join email_links r on r.email = link.email and r.created_at > now() - interval '1 hour'
      group by link.email`);
    // The address may not sign in, or another link was used.
    if (!link) return;
    try {
      await services.mail.send(signInMail(services.publicUrl, link.email, secret, link));
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      services.log.warn({ err: error, to: link.email }, 'the mail server rejected a sign-in link');
    }
  },
});
