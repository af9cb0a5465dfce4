import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { refusal } from '../../platform/access/before-sign-in.ts';
import { networkOf } from '../../platform/access/network.ts';
import { newToken, tokenHash } from '../../platform/access/token.ts';
import { InputText } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { ACCESS_END, FORGET_REFRESH_TOKENS, IDLE_END, tokensOf } from './new-session.ts';
import { exampleTokens, sessionAuditColumns, Tokens } from './schema.ts';

/**
 * Of concurrent requests with the same token, one marks it as used: the update waits for the row lock and checks again.
 * Reusing a token ends the session, for a thief as for its owner.
 */
export const refreshSession = endpoint({
  method: 'POST',
  path: '/v1/auth/refresh',
  summary: 'Refresh a session',
  description:
    'Returns new tokens; the previous ones stop working. Do not refresh concurrently: reusing a refresh token ends its session.',
  access: anyone(),
  givesBack: 1,
  event: 'session.refreshed',
  body: Type.Object({ refresh_token: InputText() }),
  reply: Tokens,
  errors: ['unauthorized'],
  example: { body: { refresh_token: exampleTokens.refresh_token }, reply: exampleTokens },
  run: async ({ body, origin, many }) => {
    const hash = tokenHash('refresh', body.refresh_token);
    if (!hash) throw refusal('refresh_token_malformed');
    const access = newToken('access');
    const refresh = newToken('refresh');
    const [renewed] = await many<{ session_id: string }>({
      before: sql`
        select ${sessionAuditColumns} from sessions s join refresh_tokens r on r.session_id = s.session_id
        where r.token_hash = ${hash}`,
      spent: sql`
        update refresh_tokens r set used_at = now() from sessions s
        where r.token_hash = ${hash} and r.used_at is null and r.expires_at > now()
          and s.session_id = r.session_id and s.revoked_at is null and s.expires_at > now()
        returning r.token_hash, r.session_id`,
      session: sql`
        update sessions s set access_hash = ${access.hash}, access_expires_at = ${ACCESS_END}, last_used_at = now(),
          address = ${origin.address}, network = ${networkOf(origin.address)}, user_agent = ${origin.user_agent}
        from spent where s.session_id = spent.session_id and s.revoked_at is null
        returning ${sessionAuditColumns}`,
      after: sql`select * from session`,
      next: sql`
        insert into refresh_tokens (token_hash, session_id, user_id, expires_at)
        select ${refresh.hash}, session_id, user_id, ${IDLE_END} from session`,
      forgotten: FORGET_REFRESH_TOKENS,
      result: sql`select session_id, user_id from session`,
    });
    if (renewed) return tokensOf(renewed.session_id, access.secret, refresh.secret);
    await many(
      {
        before: sql`
          select ${sessionAuditColumns} from sessions s join refresh_tokens r on r.session_id = s.session_id
          where r.token_hash = ${hash}`,
        result: sql`
          update sessions s set revoked_at = now() from refresh_tokens r
          where r.token_hash = ${hash} and r.used_at is not null and s.session_id = r.session_id and s.revoked_at is null
            and s.expires_at > now()
          returning ${sessionAuditColumns}`,
      },
      'session.reuse_detected',
    );
    throw refusal('refresh_token_spent');
  },
});
