import { Type } from 'typebox';
import { anyone } from '../access/access-rule.ts';
import { ownProfile } from '../access/user-ctes.ts';
import { InputText } from '../core/records.ts';
import { sha256 } from '../core/secrets.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { signIn } from './new-session.ts';
import { exampleTokens, signInRefused, Tokens } from './schema.ts';

/** A holder of the link reads the mail of its address, so the address is verified. The update lets one of several in. */
export const completeEmailLink = endpoint({
  method: 'POST',
  path: '/v1/auth/email/complete',
  summary: 'Sign in with a link',
  access: anyone(),
  event: 'session.created',
  body: Type.Object({ token: InputText({ description: 'The secret of the link.' }) }),
  reply: Tokens,
  errors: ['unauthorized'],
  example: { body: { token: 'kZ0…' }, reply: exampleTokens },
  run: ({ body, origin, transaction }) =>
    transaction(async (tx) => {
      const link = await tx.maybeOne<{ email: string }>(sql`
        update sign_in_links set token_hash = null where token_hash = ${sha256(body.token)} and expires_at > now()
        returning email`);
      if (!link) throw signInRefused();
      return signIn(tx, ownProfile(link.email), origin);
    }),
});
