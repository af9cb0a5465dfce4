import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { requireDomain } from '../../platform/access/before-sign-in.ts';
import { countCte } from '../../platform/access/limits/limit-counts.ts';
import type { Rate } from '../../platform/access/limits/rate-limit-buckets.ts';
import { networkOf } from '../../platform/access/network.ts';
import { OWN_ISSUER } from '../../platform/access/user-ctes.ts';
import { normalizeEmail } from '../../platform/core/email-address.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { Empty, InputText } from '../../platform/core/records.ts';
import { newLinkSecret } from '../../platform/core/secrets.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { requireMail } from '../../platform/http/require-mail.ts';
import { isKnownNetwork } from './known-network.ts';
import { LINK_END, sendSignInMail } from './send-sign-in-mail.job.ts';
import { LINK_MINUTES } from './sign-in-mail.ts';

/** Links sent to an address on requests from one network. */
const PER_NETWORK: Rate = { quota: 5, windowSeconds: 3600 };
/** Links sent to an address on requests from all unknown networks together. */
const FROM_STRANGERS: Rate = { quota: 20, windowSeconds: 3600 };

/**
 * Neither the response nor its timing reveals whether the address is known: the same statement writes the same rows for
 * every address, and the job decides whether to send a message.
 */
export const requestEmailLink = endpoint({
  method: 'POST',
  path: '/v1/auth/email',
  summary: 'Request a sign-in link',
  description: `Sends a sign-in link, valid once within ${LINK_MINUTES} minutes, to an address that may have one. The response is the same for every address.`,
  access: anyone(),
  event: 'sign_in_link.requested',
  body: Type.Object({ email: InputText() }),
  reply: Empty,
  errors: ['forbidden', 'invalid_email', 'email_unavailable'],
  example: { body: { email: 'ada@example.com' }, reply: {} },
  run: async ({ body, many, origin, services, later }) => {
    const email = normalizeEmail(body.email);
    if (email === undefined) throw new ApiError('invalid_email', 'Send one plain e-mail address.');
    requireDomain({ email, email_verified: true }, services.signIn.domains);
    await requireMail(services.mail);
    const isOpen = services.signIn.sign_up === 'open';
    const network = networkOf(origin.address);
    const link_id = newId('link');
    await many({
      forgotten: sql`
        delete from email_links where link_id in (
          select link_id from email_links where expires_at < now() - interval '1 hour'
          order by expires_at limit 100 for update skip locked)`,
      allowed: sql`
        select ${isOpen}::boolean
          or exists (select from identities where issuer = ${OWN_ISSUER} and subject = ${email})
          or is_invited(${email}) as yes`,
      of_network: countCte(`email link ${email} ${network}`, PER_NETWORK, raw('caller')),
      stranger: sql`select from of_network where not ${isKnownNetwork(email, network)}`,
      of_strangers: countCte(`email link ${email}`, FROM_STRANGERS, raw('stranger')),
      link: sql`
        insert into email_links (link_id, email, network, token_hash, expires_at)
        select ${link_id}, ${email}, ${network}, case when yes then ${newLinkSecret().hash}::bytea end, ${LINK_END}
        from allowed, of_network
        where not exists (select from stranger) or exists (select from of_strangers)
        returning email`,
      mail: later(sendSignInMail, { link_id }, sql`link`),
      result: sql`select email from link`,
    });
    return {};
  },
});
