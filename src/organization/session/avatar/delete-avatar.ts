import { Type } from 'typebox';
import { signedIn } from '../../../platform/access/access-rule.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';

export const deleteAvatar = endpoint({
  method: 'DELETE',
  path: '/v1/me/avatar',
  summary: "Remove the caller's picture",
  description:
    'The address of the picture stops working. If an identity provider supplies a picture, that one is shown again. Without a picture, nothing changes.',
  access: signedIn({ unrestricted: true }),
  event: 'user.updated',
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ many }) => {
    await many({
      before: sql`
        select u.user_id, u.avatar_sha256, u.avatar_type, u.avatar_bytes from users u join access a on a.user_id = u.user_id
        where u.avatar_id is not null for update of u`,
      after: sql`
        update users u set avatar_id = null, avatar_sha256 = null, avatar_type = null, avatar_bytes = null
        from before where u.user_id = before.user_id
        returning u.user_id, u.avatar_sha256, u.avatar_type, u.avatar_bytes`,
      result: sql`select user_id from after`,
    });
    return null;
  },
});
