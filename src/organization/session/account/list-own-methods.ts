import { Type } from 'typebox';
import { signedIn } from '../../../platform/access/access-rule.ts';
import { OWN_ISSUER } from '../../../platform/access/user-ctes.ts';
import { Record } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';

/** Lists the caller's methods, even if the service has disabled them; `GET /v1/auth/methods` lists the enabled ones. */
export const listOwnMethods = endpoint({
  method: 'GET',
  path: '/v1/me/sign-in-methods',
  summary: "List the caller's sign-in methods",
  description: 'How the caller can sign in: by a link to their address, by password, or through an OpenID provider.',
  access: signedIn({ unrestricted: true }),
  reply: Type.Array(
    Record(
      {
        method: Type.Enum(['email', 'password', 'openid']),
        name: Type.String({ description: 'The address or the issuer; "" for a password.' }),
      },
      { title: 'OwnSignInMethod' },
    ),
  ),
  example: { reply: [{ method: 'email', name: 'ada@example.com' }] },
  run: ({ many }) =>
    many(sql`
      select case when i.issuer = ${OWN_ISSUER} then 'email' else 'openid' end as method,
        case when i.issuer = ${OWN_ISSUER} then i.subject else i.issuer end as name
      from access a join identities i on i.user_id = a.user_id
      union all
      select 'password', '' from access a join passwords p on p.user_id = a.user_id
      order by method, name`),
});
