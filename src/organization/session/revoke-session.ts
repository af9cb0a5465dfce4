import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { sessionAuditColumns } from './schema.ts';

/** Effective for every request that starts after the response, because each request looks up its session. */
export const revokeSession = endpoint({
  method: 'DELETE',
  path: '/v1/me/sessions/:session_id',
  summary: 'Revoke a session',
  access: signedIn({ session: true }),
  event: 'session.revoked',
  params: Type.Object({ session_id: Id }),
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ params, one }) => {
    await one({
      before: sql`
        select ${sessionAuditColumns} from sessions s join access a on a.user_id = s.user_id
        where s.session_id = ${params.session_id}`,
      revoked: sql`
        update sessions s set revoked_at = now() from access a
        where s.session_id = ${params.session_id} and s.user_id = a.user_id and s.revoked_at is null and s.expires_at > now()
        returning 1`,
      result: sql`select from revoked`,
    });
    return null;
  },
});
