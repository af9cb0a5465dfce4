import { OWN_ISSUER } from '../../../platform/access/user-ctes.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';

/**
 * Reads rows. Every call checks the caller's access again, as the guard does. Times are strings with the full precision
 * of PostgreSQL.
 */
export type Read = <T>(rows: Sql) => Promise<T[]>;

export interface ProfileRow {
  user_id: string;
  avatar_sha256: string | null;
  avatar_type: string | null;
}

export function readProfile(read: Read): Promise<ProfileRow[]> {
  return read<ProfileRow>(sql`
    select u.user_id, u.email, u.email_verified, u.display_name, u.avatar_url, u.created_at, u.language, u.time_zone, u.avatar_sha256,
      u.avatar_type, (
        select coalesce(json_agg(json_build_object(
          'method', case when i.issuer = ${OWN_ISSUER} then 'email' else 'openid' end, 'issuer', i.issuer, 'subject', i.subject)), '[]')
        from identities i where i.user_id = u.user_id) as sign_in_methods,
      (select p.changed_at from passwords p where p.user_id = u.user_id) as password_changed_at
    from access a join users u on u.user_id = a.user_id`);
}

export interface OwnWorkspace {
  workspace_id: string;
}

/** Workspaces per batch. */
export const WORKSPACES = 500;

/** Returns the next batch of workspaces in which the caller is an active member. */
export function readWorkspaces(read: Read, after: string): Promise<OwnWorkspace[]> {
  return read<OwnWorkspace>(sql`
    select m.workspace_id from access a join memberships m on m.user_id = a.user_id and m.status = 'active'
    where m.workspace_id > ${after} order by m.workspace_id limit ${WORKSPACES}::int`);
}
