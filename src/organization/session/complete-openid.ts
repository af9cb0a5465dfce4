import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { refusal, requireDomain, type SignedOutReason } from '../../platform/access/before-sign-in.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { InputText, Record } from '../../platform/core/records.ts';
import { unseal } from '../../platform/core/sealed.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import type { IssuerRefusal, OpenIdAttempt } from '../../platform/providers/identity/openid-sign-in.ts';
import { followGroups } from './groups/follow-groups.ts';
import { signIn } from './new-session.ts';
import { ATTEMPT, askIssuer, CALLBACK_PATH, issuerOf } from './openid.ts';
import { exampleTokens, Tokens } from './schema.ts';

const REASONS: { [refused in IssuerRefusal['refused']]: SignedOutReason } = {
  issuer_refused: 'openid_issuer_refused',
  code_refused: 'openid_code_refused',
  clock: 'openid_clock',
  answer_invalid: 'openid_answer_invalid',
};

/** Consumes the attempt before calling the issuer, so that it is tried once. */
export const completeOpenId = endpoint({
  method: 'POST',
  path: '/v1/auth/openid/complete',
  summary: 'Sign in with OpenID',
  access: anyone(),
  limit: 'callback',
  givesBack: 1,
  event: 'session.created',
  body: Type.Object({
    attempt: InputText(),
    callback_url: InputText({ description: 'The URL that the browser returned to, unchanged.' }),
  }),
  reply: Record(
    {
      ...Tokens.properties,
      without_seat: Type.Array(Type.String(), {
        description: "Names of workspaces that one of the user's groups grants access to, but that have no free seat.",
      }),
    },
    { title: 'OpenIdTokens' },
  ),
  errors: ['invalid_request', 'unauthorized', 'forbidden', 'identity_unavailable'],
  example: {
    body: { attempt: 'kZ0…', callback_url: 'https://wiki.example.com/sign-in/callback?code=…&state=…' },
    reply: { ...exampleTokens, without_seat: [] },
  },
  run: async (context) => {
    const { body, maybeOne, origin, services, transaction } = context;
    const issuer = issuerOf(services);
    const callback = parametersOf(body.callback_url, services.publicUrl);
    const taken = await maybeOne<{ sealed: Buffer }>({
      taken: sql`
        delete from openid_attempts where attempt_hash = ${sha256(body.attempt)} returning sealed, expires_at`,
      result: sql`select sealed from taken where expires_at > now()`,
    });
    if (!taken) throw refusal('openid_attempt_unknown');
    const attempt = JSON.parse(unseal(ATTEMPT, body.attempt, taken.sealed)) as OpenIdAttempt;
    const answer = await askIssuer(issuer.complete(callback, attempt));
    if ('refused' in answer) throw refusal(REASONS[answer.refused], answer.facts);
    requireDomain(answer.identity, services.signIn.domains);
    const { identity, groups, id_token } = answer;
    const mapping = services.signIn.groups;
    if (!mapping || !groups) return { ...(await signIn(context, identity, origin, { id_token })), without_seat: [] };
    return transaction(async (tx) => {
      const tokens = await signIn(tx, identity, origin, { id_token });
      const signedIn = { session_id: tokens.session_id, groups, issuer: identity.issuer };
      return { ...tokens, without_seat: await followGroups(tx, mapping, signedIn, origin) };
    });
  },
});

/** Throws 400 `invalid_request` for any URL except our own callback. */
function parametersOf(callbackUrl: string, publicUrl: string): URLSearchParams {
  const wanted = new URL(publicUrl + CALLBACK_PATH);
  const url = URL.parse(callbackUrl);
  if (url?.origin !== wanted.origin || url.pathname !== wanted.pathname || url.username || url.password) {
    throw new ApiError('invalid_request', `callback_url must start with ${wanted.href}.`);
  }
  return url.searchParams;
}
