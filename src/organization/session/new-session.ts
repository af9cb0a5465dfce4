import type { Statements } from '../../platform/access/guard.ts';
import { networkOf } from '../../platform/access/network.ts';
import { newToken, SESSION_IDLE_DAYS } from '../../platform/access/token.ts';
import { type Profile, USER_OF_CTES, userCtes } from '../../platform/access/user-ctes.ts';
import { newId } from '../../platform/core/ids.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import type { Origin } from '../../platform/http/endpoint.ts';
import { ACCESS_SECONDS, SESSION_DAYS, type Tokens } from './schema.ts';

/**
 * Expiry of an access token and of an unused session, as SQL expressions. The maximum length of the session applies in
 * addition.
 */
export const ACCESS_END: Sql = raw(`now() + interval '${ACCESS_SECONDS} seconds'`);
export const IDLE_END: Sql = raw(`now() + interval '${SESSION_IDLE_DAYS} days'`);

interface NewSession {
  /**
   * CTEs that follow a CTE named `signing_in` (user_id) and insert the session of that user. They insert no session if
   * `signing_in` is empty.
   */
  steps: Record<'forgotten' | 'ended' | 'session' | 'refresh' | 'result', Sql>;
  /** Tokens for the client; valid once the statement has returned a row. */
  tokens: Tokens;
}

/** Prepares a new session. Its CTEs also delete a few expired rows. */
export function newSession({ address, user_agent }: Origin, id_token?: string): NewSession {
  const session_id = newId('ses');
  const access = newToken('access');
  const refresh = newToken('refresh');
  return {
    steps: {
      forgotten: FORGET_REFRESH_TOKENS,
      ended: sql`
        delete from sessions where session_id in (
          select session_id from sessions where expires_at < now() order by expires_at limit 20 for update skip locked)`,
      session: sql`
        insert into sessions (session_id, user_id, access_hash, access_expires_at, address, network, user_agent, id_token, expires_at)
        select ${session_id}, user_id, ${access.hash}, ${ACCESS_END}, ${address}::text, ${networkOf(address)}, ${user_agent}::text, ${id_token ?? null}::text,
          now() + ${raw(`interval '${SESSION_DAYS} days'`)}
        from signing_in returning session_id, user_id`,
      refresh: sql`
        insert into refresh_tokens (token_hash, session_id, user_id, expires_at)
        select ${refresh.hash}, session_id, user_id, ${IDLE_END} from session`,
      result: sql`select session_id, user_id from session`,
    },
    tokens: tokensOf(session_id, access.secret, refresh.secret),
  };
}

export function tokensOf(session_id: string, access_token: string, refresh_token: string): Tokens {
  return { access_token, token_type: 'Bearer', expires_in: ACCESS_SECONDS, refresh_token, session_id };
}

export const FORGET_REFRESH_TOKENS: Sql = sql`
  delete from refresh_tokens where token_hash in (
    select token_hash from refresh_tokens where expires_at < now() order by expires_at limit 100 for update skip locked)`;

/**
 * Signs in the user of the profile, creating the user if new. `more` are CTEs that write with the user of `signing_in`;
 * `id_token` is the issuer's.
 */
export async function signIn(
  on: Statements,
  profile: Profile,
  origin: Origin,
  { more = {}, id_token }: { more?: Record<string, Sql>; id_token?: string | undefined } = {},
): Promise<Tokens> {
  const session = newSession(origin, id_token);
  const work = { ...userCtes(profile), signing_in: USER_OF_CTES, ...more, ...session.steps };
  // If another request won the race to create the user, the second attempt finds the user.
  const [row] = await on.many(work);
  const [found] = row ? [row] : await on.many(work);
  if (!found) throw new Error('a user was neither found nor created');
  return session.tokens;
}
