import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { refusal, requireDomain } from '../../platform/access/before-sign-in.ts';
import { ownProfile } from '../../platform/access/user-ctes.ts';
import { normalizeEmail } from '../../platform/core/email-address.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { InputText } from '../../platform/core/records.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { readName } from '../../platform/core/titles.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { signIn } from './new-session.ts';
import { hashNewPassword, NewPassword } from './password/password-hash.ts';
import { exampleTokens, Tokens } from './schema.ts';

/** A link expires after 30 days, even if there is no user yet. */
const GOOD = raw(`created_at > now() - interval '30 days' and not exists (select from users)`);

/**
 * Creates the first user of a new service, by the link that is logged at the start: a reader of the log is the
 * operator, who vouches for the address. A database lock lets only one of several concurrent requests succeed.
 */
export const makeFirstOwner = endpoint({
  method: 'POST',
  path: '/v1/auth/first-owner',
  summary: 'Become the first user',
  description: 'Only while the service has no user. Takes the secret of the link that the service logged at startup.',
  access: anyone(),
  givesBack: 1,
  event: 'session.created',
  body: Type.Object({
    token: InputText({ description: 'The secret of the link.' }),
    email: InputText(),
    display_name: Type.Optional(InputText()),
    password: Type.Optional(NewPassword),
  }),
  reply: Tokens,
  errors: ['unauthorized', 'forbidden', 'invalid_email', 'invalid_name', 'rate_limited'],
  example: { body: { token: 'kZ0…', email: 'ada@example.com', display_name: 'Ada Lovelace' }, reply: exampleTokens },
  run: async ({ body, origin, maybeOne, transaction, services }) => {
    const hash = sha256(body.token);
    // Check the secret before validating or hashing the rest, so that only the operator learns about errors in it.
    const found = await maybeOne<{ is_good: boolean; has_users: boolean }>(sql`
      select exists (select from welcome_links where token_hash = ${hash} and ${GOOD}) as is_good, has_users() as has_users`);
    if (!found?.is_good) throw refusal(found?.has_users ? 'welcome_has_users' : 'welcome_unknown');
    const email = normalizeEmail(body.email);
    if (email === undefined) throw new ApiError('invalid_email', 'Send one plain e-mail address.');
    requireDomain({ email, email_verified: true }, services.signIn.domains);
    const name = body.display_name === undefined ? undefined : readName(body.display_name);
    if (name instanceof ApiError) throw name;
    if (body.password !== undefined && !services.signIn.passwords) throw refusal('passwords_off');
    const phc = body.password === undefined ? null : await hashNewPassword(body.password);
    return transaction(async (tx) => {
      await tx.maybeOne(sql`select pg_advisory_xact_lock(4711003)`);
      const link = await tx.maybeOne(sql`
        delete from welcome_links where exists (select from welcome_links where token_hash = ${hash} and ${GOOD})
        returning 1`);
      // A concurrent request created the first user.
      if (!link) throw refusal('welcome_has_users');
      return signIn(tx, ownProfile(email, name), origin, {
        more: {
          password: sql`
            insert into passwords (user_id, phc) select user_id, ${phc}::text from signing_in where ${phc}::text is not null`,
        },
      });
    });
  },
});
