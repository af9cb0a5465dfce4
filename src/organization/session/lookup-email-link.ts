import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { Record } from '../../platform/core/records.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { refuseLink } from './complete-email-link.ts';

/**
 * Shows which e-mail address a link signs in, so that users do not sign in as another person unknowingly. Only the holder
 * of the link knows its secret.
 */
export const lookupEmailLink = endpoint({
  method: 'GET',
  path: '/v1/auth/email/lookup',
  summary: 'Look up a sign-in link',
  description: 'The address that the link signs in. Does not use up the link.',
  access: anyone(),
  givesBack: 1,
  query: Type.Object({ token: Type.String({ minLength: 1, maxLength: 256, description: 'The secret of the link.' }) }),
  reply: Record({ email: Type.String() }, { title: 'EmailLink' }),
  errors: ['unauthorized'],
  example: { reply: { email: 'ada@example.com' } },
  run: async (context) => {
    const hash = sha256(context.query.token);
    const link = await context.maybeOne<{ email: string }>(sql`
      select email from email_links where token_hash = ${hash} and expires_at > now()`);
    return link ?? refuseLink(context, hash);
  },
});
