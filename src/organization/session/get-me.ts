import { signedIn } from '../../platform/access/access-rule.ts';
import { Flag, Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleUser, User, userColumns } from '../workspaces/schema.ts';

const { user_id, email, ...others } = User.properties;

/** Any credential may read its own user. */
export const getMe = endpoint({
  method: 'GET',
  path: '/v1/me',
  summary: 'Get the caller',
  access: signedIn(),
  reply: Record({ user_id, email, email_verified: Flag, ...others }, { title: 'Caller' }),
  example: { reply: { ...exampleUser, email_verified: true } },
  run: ({ one, services }) =>
    one(sql`
      select ${userColumns(services)}, u.email_verified from access a join users u on u.user_id = a.user_id
    `),
});
