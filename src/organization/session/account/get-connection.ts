import { signedIn } from '../../../platform/access/access-rule.ts';
import { Flag, Record } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';

export const getConnection = endpoint({
  method: 'GET',
  path: '/v1/me/connection',
  summary: 'Get the other account',
  description:
    "Whether another account signs in by e-mail with the caller's verified address. This happens if a person first signed in by e-mail and later through an OpenID provider.",
  access: signedIn({ session: true }),
  reply: Record({ has_other_account: Flag }, { title: 'Connection' }),
  example: { reply: { has_other_account: true } },
  run: ({ one }) => one(sql`select has_other_account() from access`),
});
