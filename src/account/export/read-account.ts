import { rolesWith } from '../../access/roles.ts';
import { OWN_ISSUER } from '../../access/user-ctes.ts';
import { unpackTexts } from '../../core/packed-texts.ts';
import { type Sql, sql } from '../../db/sql.ts';

/** Reads rows through the guard of the request; times are texts, with all that PostgreSQL knows of them. */
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

/** Where a list goes on: behind the keys of its last row. */
export type After = readonly (string | number)[];

/** A list of the archive: its file, the keys by which it is read, where they begin, and the rows behind given keys. */
export interface List {
  file: string;
  keys: readonly string[];
  first: After;
  /** The list ends with a batch of fewer rows than this; 1: with an empty one. */
  most: number;
  rows(after: After): Sql;
  /** A row as it is written; without it as it is read. */
  shown?(row: Record<string, unknown>): Promise<Record<string, unknown>>;
}

function list(file: string, keys: string, first: After, most: number, rows: List['rows'], shown?: List['shown']): List {
  return { file, keys: keys.split(' '), first, most, rows, ...(shown && { shown }) };
}

async function markdownFrom(packed: string) {
  return { markdown: (await unpackTexts(Buffer.from(packed, 'base64'))).markdown };
}

const BEFORE_ALL = '-infinity';

/** Each statement answers one batch, and the next one when it is sent with the keys of the last row. */
export const LISTS: readonly List[] = [
  list(
    'sessions.jsonl',
    'session_id',
    [''],
    500,
    ([id]) => sql`
      select s.session_id, s.created_at, s.last_used_at, s.expires_at, s.revoked_at, s.address, s.user_agent, s.in_browser
      from access a join sessions s on s.user_id = a.user_id where s.session_id > ${id}::text order by s.session_id limit 500`,
  ),
  list(
    'memberships.jsonl',
    'membership_id',
    [''],
    500,
    // The name of a workspace is known while the membership is active.
    ([id]) => sql`
      select m.membership_id, m.workspace_id, w.name as workspace_name, w.slug as workspace_slug, m.role, m.status, m.created_at
      from access a join memberships m on m.user_id = a.user_id left join workspaces w on w.workspace_id = m.workspace_id
      where m.membership_id > ${id}::text order by m.membership_id limit 500`,
  ),
  list(
    'invitations.jsonl',
    'invitation_id',
    [''],
    500,
    ([id]) => sql`select i.* from access a, caller_invitations(${id}::text) i`,
  ),
  list(
    'api_keys.jsonl',
    'key_id',
    [''],
    500,
    ([id]) => sql`
      select k.key_id, k.workspace_id, k.name, k.obfuscated_value, k.permissions, k.created_at, k.expires_at, k.revoked_at, k.last_used_at
      from access a join api_keys k on k.user_id = a.user_id where k.key_id > ${id}::text order by k.key_id limit 500`,
  ),
  list(
    'starred_pages.jsonl',
    'wiki_id page_id',
    ['', ''],
    500,
    ([wiki, page]) => sql`select s.* from access a, caller_stars(${wiki}::text, ${page}::text) s`,
  ),
  list(
    'saved_searches.jsonl',
    'wiki_id saved_search_id',
    ['', ''],
    500,
    ([wiki, id]) => sql`select s.* from access a, caller_searches(${wiki}::text, ${id}::text) s`,
  ),
  list(
    'autosaves.jsonl',
    'wiki_id autosave_id',
    ['', ''],
    1,
    ([wiki, id]) => sql`select s.* from access a, caller_autosaves(${wiki}::text, ${id}::text) s`,
  ),
  list(
    'revisions.jsonl',
    'wiki_id page_id revision',
    ['', '', 0],
    1,
    ([wiki, page, revision]) => sql`
      select r.wiki_id, r.page_id, r.revision, r.path, r.title, r.origin, r.created_at, r.markdown, encode(r.packed, 'base64') as packed
      from access a, caller_revisions(${wiki}::text, ${page}::text, ${revision}::int, ${rolesWith('pages:write')}::text[]) r`,
    async ({ packed, ...row }) => (typeof packed === 'string' ? { ...row, ...(await markdownFrom(packed)) } : row),
  ),
  list(
    'attachments.jsonl',
    'wiki_id attachment_id',
    ['', ''],
    500,
    ([wiki, id]) => sql`select t.* from access a, caller_attachments(${wiki}::text, ${id}::text) t`,
  ),
  list(
    'uploads.jsonl',
    'wiki_id upload_id',
    ['', ''],
    10,
    ([wiki, id]) => sql`select u.* from access a, caller_uploads(${wiki}::text, ${id}::text) u`,
  ),
  list(
    'account_events.jsonl',
    'created_at event_id',
    [BEFORE_ALL, ''],
    500,
    ([time, id]) => sql`
      select e.event_id, e.type, e.target_kind, e.target_id, e.credential_kind, e.credential_id, e.request_id, e.address, e.created_at,
        e.before, e.after
      from access a, caller_account_events(${time}::timestamptz, ${id}::text) e`,
  ),
];

export interface OwnWorkspace {
  workspace_id: string;
}

/** How many workspaces are answered at once. */
export const WORKSPACES = 500;

/** The workspaces that the caller is an active member of. */
export function readWorkspaces(read: Read, after: string): Promise<OwnWorkspace[]> {
  return read<OwnWorkspace>(sql`
    select m.workspace_id from access a join memberships m on m.user_id = a.user_id and m.status = 'active'
    where m.workspace_id > ${after} order by m.workspace_id limit ${WORKSPACES}::int`);
}

/** Lists of what one did in a workspace, which only its active members have. */
export const WORKSPACE_LISTS: readonly (Omit<List, 'rows'> & { rows(workspace_id: string, after: After): Sql })[] = [
  {
    file: 'workspace_events.jsonl',
    keys: ['created_at', 'event_id'],
    first: [BEFORE_ALL, ''],
    most: 500,
    // Without what was changed: it may name others, or be a text that the caller may not read any more.
    rows: (workspace_id, [time, id]) => sql`
      select e.workspace_id, e.event_id, e.type, e.target_kind, e.target_id, e.credential_kind, e.credential_id, e.request_id, e.address,
        e.created_at
      from access a join audit_events e on e.workspace_id = ${workspace_id} and e.actor_id = a.user_id
      where (e.created_at, e.event_id) > (${time}::timestamptz, ${id}::text) order by e.created_at, e.event_id limit 500`,
  },
  {
    file: 'requests.jsonl',
    keys: ['call_id'],
    first: [''],
    most: 500,
    rows: (workspace_id, [id]) => sql`
      select r.workspace_id, r.call_id, r.request_id, r.method, r.path, r.status, r.error, r.duration_ms, r.credential_kind,
        r.credential_id, r.created_at
      from access a join request_log r on r.workspace_id = ${workspace_id} and r.call_id > ${id}::text
      where r.credential_id in (
        select k.key_id from api_keys k where k.user_id = a.user_id
        union all select s.session_id from sessions s where s.user_id = a.user_id)
      order by r.call_id limit 500`,
  },
];
