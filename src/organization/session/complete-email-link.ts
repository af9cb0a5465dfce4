import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { refusal, requireDomain } from '../../platform/access/before-sign-in.ts';
import type { Statements } from '../../platform/access/guard.ts';
import { ownProfile } from '../../platform/access/user-ctes.ts';
import { InputText } from '../../platform/core/records.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { signIn } from './new-session.ts';
import { exampleTokens, Tokens } from './schema.ts';

/** Always throws 401. */
export async function refuseLink(on: Pick<Statements, 'maybeOne'>, hash: Buffer): Promise<never> {
  const expired = await on.maybeOne(sql`select 1 from email_links where token_hash = ${hash}`);
  throw refusal(expired ? 'link_expired' : 'link_unknown');
}

/**
 * The link proves access to the mailbox, so the address is verified. Ends all links of the address under a lock on
 * them, so that only one of several concurrently used links signs in.
 */
export const completeEmailLink = endpoint({
  method: 'POST',
  path: '/v1/auth/email/complete',
  summary: 'Sign in with a link',
  access: anyone(),
  givesBack: 2,
  event: 'session.created',
  body: Type.Object({ token: InputText({ description: 'The secret of the link.' }) }),
  reply: Tokens,
  errors: ['unauthorized', 'forbidden'],
  example: { body: { token: 'kZ0…' }, reply: exampleTokens },
  run: ({ body, origin, services, transaction }) =>
    transaction(async (tx) => {
      const hash = sha256(body.token);
      await tx.maybeOne(sql`
        select 1 from email_links
        where email = (select email from email_links where token_hash = ${hash} and expires_at > now())
        order by link_id for update`);
      const link = await tx.maybeOne<{ email: string }>({
        used: sql`select email from email_links where token_hash = ${hash} and expires_at > now()`,
        ended: sql`
          update email_links set token_hash = null where email in (select email from used) and token_hash is not null`,
        result: sql`select email from used`,
      });
      if (!link) return refuseLink(tx, hash);
      const profile = ownProfile(link.email);
      requireDomain(profile, services.signIn.domains);
      return signIn(tx, profile, origin);
    }),
});
