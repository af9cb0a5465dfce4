import { Type } from 'typebox';
import { anyone } from '../access/access-rule.ts';
import { OWN_ISSUER } from '../access/user-ctes.ts';
import { normalizeEmail } from '../core/email-address.ts';
import { ApiError } from '../core/errors.ts';
import { InputText, Record } from '../core/records.ts';
import { newLinkSecret } from '../core/secrets.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { requireMail } from '../http/require-mail.ts';
import { LINK_END, sendSignInMail } from './send-sign-in-mail.job.ts';
import { LINK_MINUTES } from './sign-in-mail.ts';

/** How many links an address is sent in an hour. */
const LINKS_PER_HOUR = 5;

/**
 * Neither the answer nor its time tells whether the address is known: the same statement writes the same rows for every
 * address, and the job that sends the message finds out whether there is one to send.
 */
export const requestEmailLink = endpoint({
  method: 'POST',
  path: '/v1/auth/email',
  summary: 'Request a sign-in link',
  description: `Sends a link that signs its reader in once, within ${LINK_MINUTES} minutes, to an address that may have one. The answer is the same for every address.`,
  access: anyone(),
  event: 'sign_in_link.requested',
  body: Type.Object({ email: InputText() }),
  reply: Record({}),
  errors: ['invalid_email', 'email_unavailable'],
  example: { body: { email: 'ada@example.com' }, reply: {} },
  run: async ({ body, many, services, later }) => {
    const email = normalizeEmail(body.email);
    if (email === undefined) throw new ApiError('invalid_email', 'Send one plain e-mail address.');
    await requireMail(services.mail);
    const isOpen = services.signIn.sign_up === 'open';
    await many({
      forgotten: sql`
        delete from sign_in_links where email in (
          select email from sign_in_links where expires_at < now() - interval '1 hour' and email <> ${email}
          order by expires_at limit 100 for update skip locked)`,
      allowed: sql`
        select ${isOpen}::boolean
          or exists (select from identities where issuer = ${OWN_ISSUER} and subject = ${email})
          or is_invited(${email}) as yes`,
      link: sql`
        insert into sign_in_links as l (email, token_hash, expires_at, sent_at)
        select ${email}::text, case when yes then ${newLinkSecret().hash}::bytea end, ${LINK_END}, array[now()] from allowed
        on conflict (email) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at,
          sent_at = array(select t from unnest(l.sent_at) t where t > now() - interval '1 hour') || now()
        where (select count(*) from unnest(l.sent_at) t where t > now() - interval '1 hour') < ${LINKS_PER_HOUR}::int
        returning l.email`,
      mail: later(sendSignInMail, { email }, sql`link`),
      result: sql`select email from link`,
    });
    return {};
  },
});
