import { signedIn } from '../../platform/access/access-rule.ts';
import { Record, Text } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';

export const getSignOut = endpoint({
  method: 'GET',
  path: '/v1/auth/sign-out',
  summary: 'Get the sign-out of the OpenID provider',
  description:
    'Where to redirect the browser to end its session at the OpenID provider, after `POST /v1/auth/sign-out` has ended this session. Empty if the session was not started through OpenID, the provider has no such URL, or OIDC_SIGN_OUT is off.',
  access: signedIn({ session: true }),
  reply: Record({ end_session_url: Text }, { title: 'IssuerSignOut' }),
  example: { reply: { end_session_url: 'https://id.example.com/logout?client_id=ibid&id_token_hint=…' } },
  run: async ({ maybeOne, services: { signIn } }) => {
    const session = await maybeOne<{ id_token: string }>(sql`
      select s.id_token from sessions s join access a on a.credential_id = s.session_id where s.id_token is not null`);
    return { end_session_url: (session && (await signIn.openid?.endSessionUrl(session.id_token))) ?? '' };
  },
});
