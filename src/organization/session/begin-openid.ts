import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { Record } from '../../platform/core/records.ts';
import { seal } from '../../platform/core/sealed.ts';
import { newLinkSecret } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { ATTEMPT, askIssuer, issuerOf } from './openid.ts';

/** Seals the expected callback with a secret of this client, so that no other client can complete the sign-in. */
export const beginOpenId = endpoint({
  method: 'POST',
  path: '/v1/auth/openid',
  summary: 'Begin an OpenID sign-in',
  description:
    'Redirect the browser to `authorization_url`, and store `attempt` where no other site can read it. Within 10 minutes, send it with the URL that the browser returns to.',
  access: anyone(),
  reply: Record({ authorization_url: Type.String(), attempt: Type.String() }, { title: 'OpenIdSignIn' }),
  errors: ['forbidden', 'identity_unavailable'],
  example: { reply: { authorization_url: 'https://id.example.com/authorize?client_id=ibid&…', attempt: 'kZ0…' } },
  run: async ({ maybeOne, services }) => {
    const { authorization_url, attempt } = await askIssuer(issuerOf(services).begin());
    const { secret, hash } = newLinkSecret();
    await maybeOne({
      forgotten: sql`
        delete from openid_attempts where attempt_hash in (
          select attempt_hash from openid_attempts where expires_at < now() order by expires_at limit 100
          for update skip locked)`,
      result: sql`
        insert into openid_attempts (attempt_hash, sealed, expires_at)
        values (${hash}, ${seal(ATTEMPT, secret, JSON.stringify(attempt))}, now() + interval '10 minutes') returning 1`,
    });
    return { authorization_url, attempt: secret };
  },
});
