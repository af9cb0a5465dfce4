import type { OwnerDb } from '../../src/platform/db/db.ts';
import { raw, type Sql, sql } from '../../src/platform/db/sql.ts';

/** Tables whose rows change on their own, or that are written before a request by design, each with the reason. */
const NOT_COMPARED: Record<string, string> = {
  workers: 'heartbeats',
  schedules: 'what is due next',
  limit_counts: 'counted whether or not the request succeeds',
  blobs: 'a file is tracked before it is stored, so that a crash leaves none that is unknown',
};
/** Columns that record the use of a credential, in a separate statement that fails no request. */
const OF_USE = ['last_used_at', 'last_workspace_id', 'access_expires_at'];

/** The number of rows of each table, and a hash of them. */
export type RowStates = Map<string, { rows: number; hash: string }>;

export async function readRowStates(db: OwnerDb): Promise<RowStates> {
  const statement = statements.get(db) ?? statementOf(db);
  statements.set(db, statement);
  const rows = await db.query<{ name: string; rows: number; hash: string }>(await statement);
  return new Map(rows.map(({ name, rows: number, hash }) => [name, { rows: number, hash }]));
}

/** Cached by database, since its tables stay the same: listing them takes as long as reading their rows. */
const statements = new WeakMap<OwnerDb, Promise<Sql>>();

async function statementOf(db: OwnerDb): Promise<Sql> {
  const tables = await db.query<{ name: string; is_of_use: boolean }>(sql`
    select t.table_name as name, exists (
      select from information_schema.columns c
      where c.table_schema = t.table_schema and c.table_name = t.table_name and c.column_name = any (${OF_USE}::text[])
    ) as is_of_use
    from information_schema.tables t where t.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1`);
  const parts = tables
    .filter(({ name }) => !(name in NOT_COMPARED))
    .map(({ name, is_of_use }) => {
      // A row as JSON, from which columns can be removed, takes several times as long.
      const row = is_of_use ? `(to_jsonb(t) - '{${OF_USE.join(',')}}'::text[])` : 't';
      return `select '${name}' as name, count(*)::int as rows, coalesce(md5(string_agg(h, '' order by h)), '') as hash
        from (select md5(${row}::text) as h from "${name}" t) hashed`;
    });
  return sql`${raw(parts.join(' union all '))}`;
}

/** Formats the changes of rows by table: `pages +1, audit_events +1, wikis changed`; '' without changes. */
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
