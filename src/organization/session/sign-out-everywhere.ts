import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';

export const signOutEverywhere = endpoint({
  method: 'POST',
  path: '/v1/auth/sign-out-everywhere',
  summary: 'Sign out everywhere',
  description:
    'Ends all sessions of the user, including this one. Cancels a pending change of address. API keys stay valid.',
  access: signedIn({ session: true }),
  event: 'user.signed_out_everywhere',
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ many }) => {
    await many({
      ended: sql`
        update sessions s set revoked_at = now() from access a
        where s.user_id = a.user_id and s.revoked_at is null and s.expires_at > now()
        returning s.session_id`,
      void_change: sql`delete from email_changes c using access a where c.user_id = a.user_id`,
      // One audit record for all sessions.
      before: sql`select array_agg(session_id order by session_id) as session_ids from ended`,
      result: sql`select '{}'::text[] as session_ids from access`,
    });
    return null;
  },
});
