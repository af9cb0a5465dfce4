import { Type } from 'typebox';
import { anyone } from '../../../platform/access/access-rule.ts';
import { refusal, requireDomain } from '../../../platform/access/before-sign-in.ts';
import { tokenHash } from '../../../platform/access/token.ts';
import { OWN_ISSUER } from '../../../platform/access/user-ctes.ts';
import { normalizeEmail } from '../../../platform/core/email-address.ts';
import { ApiError } from '../../../platform/core/errors.ts';
import { InputText } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { newSession } from '../new-session.ts';
import { exampleTokens, Tokens } from '../schema.ts';
import { countGuess, deleteGuesses } from './password-guess.ts';
import { GivenPassword, isPassword } from './password-hash.ts';
import { sendGuessWarning } from './send-guess-warning.job.ts';

/** Takes as long for an unknown address, or one without a password, as for a wrong password. */
export const signInWithPassword = endpoint({
  method: 'POST',
  path: '/v1/auth/password',
  summary: 'Sign in with a password',
  access: anyone(),
  givesBack: 1,
  event: 'session.created',
  body: Type.Object({
    email: InputText(),
    password: GivenPassword,
    device_token: Type.Optional(
      InputText({
        description:
          'Device token of this browser, from `POST /v1/auth/browser`. Guesses by others do not delay a device that the user has signed in on.',
      }),
    ),
  }),
  reply: Tokens,
  errors: ['unauthorized', 'forbidden', 'invalid_email', 'rate_limited'],
  example: { body: { email: 'ada@example.com', password: 'correct horse battery staple' }, reply: exampleTokens },
  run: async (context) => {
    const { body, origin, maybeOne, many, services, later } = context;
    if (!services.signIn.passwords) throw refusal('passwords_off');
    const email = normalizeEmail(body.email);
    if (email === undefined) throw new ApiError('invalid_email', 'Send one plain e-mail address.');
    requireDomain({ email, email_verified: true }, services.signIn.domains);
    const device = tokenHash('device', body.device_token ?? '');
    const guess = await countGuess(context, { email, address: origin.address, device }, (from) =>
      later(sendGuessWarning, { email }, from),
    );
    const known = await maybeOne<{ user_id: string; phc: string }>(sql`
      select p.user_id, p.phc from passwords p join identities i on i.user_id = p.user_id
      where i.issuer = ${OWN_ISSUER} and i.subject = ${email}`);
    if (!(await isPassword(body.password, known?.phc)) || !known) throw refusal('password_wrong');
    const session = newSession(origin);
    const [made] = await many({
      // The password may have changed during the comparison.
      signing_in: sql`select user_id from passwords where user_id = ${known.user_id} and phc = ${known.phc} for share`,
      forgiven: deleteGuesses(guess),
      ...session.steps,
    });
    if (!made) throw refusal('password_wrong');
    return session.tokens;
  },
});
