import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { refusal, requireDomain } from '../../platform/access/before-sign-in.ts';
import { ownProfile } from '../../platform/access/user-ctes.ts';
import { InputText } from '../../platform/core/records.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { signIn } from './new-session.ts';
import { exampleTokens, Tokens } from './schema.ts';

/**
 * The emailed invitation proves access to the mailbox, like a sign-in link. But it works for a week and gets forwarded,
 * so it only creates an account and never opens an existing one: a user with an account has to sign in.
 */
export const signInByInvitation = endpoint({
  method: 'POST',
  path: '/v1/auth/invitation',
  summary: 'Sign in with an invitation',
  description:
    'Creates a user for the invited address and signs them in, by the secret of the link in the invitation e-mail. If the address already has an account, its user signs in as usual. Accept the invitation afterwards.',
  access: anyone(),
  givesBack: 1,
  event: 'session.created',
  body: Type.Object({ token: InputText({ description: 'The secret of the link in the e-mail.' }) }),
  reply: Tokens,
  errors: ['unauthorized', 'forbidden'],
  example: { body: { token: 'kZ0…' }, reply: exampleTokens },
  run: ({ body, origin, services, transaction }) =>
    transaction(async (tx) => {
      const mailed = await tx.maybeOne<{ email: string; has_account: boolean }>(
        sql`select email, has_account from mailed_invitation(${sha256(body.token)})`,
      );
      if (!mailed) throw refusal('invitation_not_mailed');
      if (mailed.has_account) throw refusal('invitation_has_account');
      const profile = ownProfile(mailed.email);
      requireDomain(profile, services.signIn.domains);
      return signIn(tx, profile, origin);
    }),
});
