import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { sessionAuditColumns } from './schema.ts';

/** Ends the session of the access token, and with it its widget tokens. */
export const signOut = endpoint({
  method: 'POST',
  path: '/v1/auth/sign-out',
  summary: 'Sign out',
  access: signedIn({ session: true }),
  event: 'session.revoked',
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ many }) => {
    await many({
      before: sql`select ${sessionAuditColumns} from sessions s join access a on a.credential_id = s.session_id`,
      result: sql`
        update sessions s set revoked_at = now() from access a where s.session_id = a.credential_id and s.revoked_at is null
        returning ${sessionAuditColumns}`,
    });
    return null;
  },
});
