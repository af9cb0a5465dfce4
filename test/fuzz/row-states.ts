import type { OwnerDb } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';

/** Tables whose rows change by themselves, or that are written before a request by design, each with the reason. */
const NOT_COMPARED: Record<string, string> = {
  workers: 'heartbeats',
  schedules: 'what is due next',
  limit_counts: 'counted whether or not the request succeeds',
  blobs: 'a file is tracked before it is stored, so that a crash leaves none that is unknown',
};
/** Columns that record the use of a credential, in a statement of its own that fails no request. */
const OF_USE = ['last_used_at', 'last_workspace_id', 'access_expires_at'];

/** The number of rows and a hash of them, by table. */
export type RowStates = Map<string, { rows: number; hash: string }>;

export async function readRowStates(db: OwnerDb): Promise<RowStates> {
  const tables = await db.query<{ name: string }>(sql`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`);
  const parts = tables
    .filter(({ name }) => !(name in NOT_COMPARED))
    .map(
      ({ name }) =>
        `select '${name}' as name, count(*)::int as rows,
          coalesce(md5(string_agg(h, '' order by h)), '') as hash
        from (select md5((to_jsonb(t) - '{${OF_USE.join(',')}}'::text[])::text) as h from "${name}" t) hashed`,
    );
  const rows = await db.query<{ name: string; rows: number; hash: string }>(sql`${raw(parts.join(' union all '))}`);
  return new Map(rows.map(({ name, rows: number, hash }) => [name, { rows: number, hash }]));
}

/** How the rows differ, by table: `pages +1, audit_events +1, wikis changed`; '' where they do not. */
export function effectBetween(before: RowStates, after: RowStates): string {
  const parts: string[] = [];
  for (const [name, { rows, hash }] of after) {
    const was = before.get(name);
    if (!was || was.hash === hash) continue;
    const more = rows - was.rows;
    parts.push(more === 0 ? `${name} changed` : `${name} ${more > 0 ? '+' : ''}${more}`);
  }
  return parts.join(', ');
}
