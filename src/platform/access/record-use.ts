import { raw, type Sql, sql } from '../db/sql.ts';
import type { Access } from './access-rule.ts';
import type { Credential } from './credential.ts';
import { SESSION_IDLE_DAYS } from './token.ts';

const USED_LONG_AGO = raw('(select not c.used_lately from caller c, access a)');
const USED_LONG_AGO_OR_ELSEWHERE = raw(`(select not c.used_lately or (c.bound_workspace_id is null
      and c.last_workspace_id is distinct from a.workspace_id) from caller c, access a)`);
const NEVER = raw('false');

/**
 * Whether to record the use of the credential: at most once a minute, or when its user switches to another workspace.
 */
export function mustRecordUse(access: Access, credential: Credential): Sql {
  if (['widget', 'command', 'none'].includes(credential.kind)) return NEVER;
  return access.on === 'caller' ? USED_LONG_AGO : USED_LONG_AGO_OR_ELSEWHERE;
}

/** Each use extends a browser's session by this time. */
const BROWSER_IDLE_END = `now() + interval '${SESSION_IDLE_DAYS} days'`;

/** The CTEs after the guard's own that record the use of the credential and its user's current workspace. */
export function recordUseCtes(credential: Credential): Sql {
  return sql`switched as (
      update users u set last_workspace_id = a.workspace_id from access a
      where u.user_id = a.user_id and a.bound_workspace_id is null and a.workspace_id is not null)
    ${credential.kind === 'session' ? SESSION_USED : KEY_USED}`;
}

const SESSION_USED = raw(`
  update sessions s set last_used_at = now(),
    access_expires_at = case when s.in_browser then ${BROWSER_IDLE_END} else s.access_expires_at end
  from caller c where s.session_id = c.credential_id and not c.used_lately`);
const KEY_USED = raw(`
  update api_keys k set last_used_at = now() from caller c where k.key_id = c.credential_id and not c.used_lately`);
