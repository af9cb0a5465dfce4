import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { newToken } from '../../platform/access/token.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Record, Timestamp } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { IDLE_END } from './new-session.ts';
import { exampleSession, sessionAuditColumns } from './schema.ts';

/**
 * Browser tabs cannot coordinate the use of a refresh token, so a browser gets one secret for the whole session, in a
 * cookie that scripts cannot read. Ends the session's tokens.
 */
export const createCookieSession = endpoint({
  method: 'POST',
  path: '/v1/auth/browser',
  summary: 'Keep a session in a browser',
  description:
    'Returns a secret for a cookie that no script can read (HttpOnly, SameSite=Lax): `__Host-ibid` if PUBLIC_URL is https, otherwise `ibid`. The cookie authenticates requests from our own pages only (Sec-Fetch-Site: same-origin, or our Origin for a write). As a token it is invalid. The access and refresh tokens of the session end. Send the device token with later password sign-ins of this user (`POST /v1/auth/password`), for 90 days.',
  access: signedIn({ session: true }),
  idempotent: false,
  event: 'session.kept_in_browser',
  reply: Record(
    {
      browser_secret: Type.String(),
      device_token: Type.String({
        description: 'Keep it after the session ends, where no script can read it. It grants no access.',
      }),
      expires_at: Timestamp,
    },
    { title: 'KeptSession' },
  ),
  errors: ['conflict'],
  example: {
    reply: { browser_secret: 'ibid_bs_7hGq…', device_token: 'ibid_dv_2fKx…', expires_at: exampleSession.expires_at },
  },
  run: async ({ many }) => {
    const { secret, hash } = newToken('browser');
    const device = newToken('device');
    const [kept] = await many<{ expires_at: string }>({
      before: sql`select ${sessionAuditColumns} from sessions s join access a on a.credential_id = s.session_id`,
      kept: sql`
        update sessions s set access_hash = ${hash}, access_expires_at = ${IDLE_END}, in_browser = true, device_hash = ${device.hash}, last_used_at = now()
        from access a where s.session_id = a.credential_id and not s.in_browser
        returning ${sessionAuditColumns}`,
      ended: sql`delete from refresh_tokens r using kept where r.session_id = kept.session_id`,
      result: sql`select * from kept`,
    });
    if (!kept) throw new ApiError('conflict', 'A browser already holds this session. Sign in again for a new secret.');
    return { browser_secret: secret, device_token: device.secret, expires_at: kept.expires_at };
  },
});
