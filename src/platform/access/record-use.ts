import { raw, type Sql, sql } from '../db/sql.ts';
import type { Access } from './access-rule.ts';
import { type Credential, kindOf } from './credential-kinds.ts';

const USED_LONG_AGO = raw('(select not c.used_lately from caller c, access a)');
const USED_LONG_AGO_OR_ELSEWHERE = raw(`(select not c.used_lately or (c.bound_workspace_id is null
      and c.last_workspace_id is distinct from a.workspace_id) from caller c, access a)`);
const NEVER = raw('false');

/**
 * Returns the condition for recording the use of the credential: at most once a minute, or when its user switches to
 * another workspace.
 */
export function mustRecordUse(access: Access, credential: Credential): Sql {
  if (!kindOf(credential).recordUse) return NEVER;
  return access.on === 'caller' ? USED_LONG_AGO : USED_LONG_AGO_OR_ELSEWHERE;
}

/** Returns the CTEs, after the guard's own, that record the use of the credential and its user's current workspace. */
export function recordUseCtes(credential: Credential): Sql {
  return sql`switched as (
      update users u set last_workspace_id = a.workspace_id from access a
      where u.user_id = a.user_id and a.bound_workspace_id is null and a.workspace_id is not null)
    ${kindOf(credential).recordUse}`;
}
