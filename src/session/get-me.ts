import { Type } from 'typebox';
import { signedIn } from '../access/access-rule.ts';
import { Flag, Id, Record, Text } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { exampleUser } from '../workspaces/schema.ts';

/** Any credential may know whose it is. */
export const getMe = endpoint({
  method: 'GET',
  path: '/v1/me',
  summary: 'Get the caller',
  access: signedIn(),
  reply: Record({
    user_id: Id,
    email: Type.String(),
    email_verified: Flag,
    display_name: Type.String(),
    avatar_url: Text,
  }),
  example: { reply: { ...exampleUser, email_verified: true } },
  run: ({ one }) =>
    one(sql`
      select u.user_id, u.email, u.email_verified, u.display_name, u.avatar_url
      from access a join users u on u.user_id = a.user_id
    `),
});
