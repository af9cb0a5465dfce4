import type { OwnerDb } from '../src/platform/db/db.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import { type Plan, UNIQUE_COLUMNS } from './plans.ts';

/** Tables that grow with the tenants of a service, and with the members of a tenant. */
const OF_TENANTS = ['users', 'memberships', 'api_keys', 'sessions', 'identities', 'invitations'];

/**
 * Number of tenants that the planner assumes for tables that grow with a tenant: see the migration rows_of_a_tenant.
 */
const BY_HAND = 20;

/** Number of rows that the planner is made to assume for a table, and for a table that grows with the tenants. */
const BELIEVED_ROWS = 100_000;
const BELIEVED_ROWS_OF_TENANTS = 1_000_000;

/**
 * Makes the planner assume that the rows are divided among this number of tenants. From PostgreSQL 18 on it also
 * assumes many rows. Before, it sees only the rows that growTables made, so plans that read whole tables of OF_TENANTS
 * are not found.
 */
export async function pretendTenants(db: OwnerDb, count: number): Promise<void> {
  const [server] = await db.query<{ version: number }>(
    sql`select current_setting('server_version_num')::int as version`,
  );
  for (const table of [...Object.keys(UNIQUE_COLUMNS), ...OF_TENANTS]) {
    const isGrown = table in UNIQUE_COLUMNS;
    const distinct: Record<string, number> = isGrown
      ? { [ownerOf(table)]: Math.min(count, BY_HAND) }
      : { workspace_id: count, user_id: -1 };
    const columns = await db.query<{ name: string }>(sql`
      select column_name as name from information_schema.columns
      where table_schema = current_schema() and table_name = ${table} and column_name = any (${Object.keys(distinct)}::text[])`);
    for (const { name } of columns)
      await db.query(sql`
        alter table ${raw(table)} alter column ${raw(name)} set (n_distinct = ${raw(String(distinct[name]))})`);
    await db.query(sql`analyze ${raw(table)}`);
    if (Number(server?.version) < 180_000) continue;
    await db.query(sql`
      select pg_restore_relation_stats('schemaname', current_schema()::text, 'relname', ${table}::text,
        'relpages', pg_relation_size(quote_ident(${table})) / 8192,
        'reltuples', ${isGrown ? BELIEVED_ROWS : BELIEVED_ROWS_OF_TENANTS}::real)`);
  }
}

function ownerOf(table: string): string {
  return table === 'audit_events' ? 'workspace_id' : 'wiki_id';
}

/** A table, and the index that was walked. */
interface WideRead {
  table: string;
  index?: string;
}

/**
 * Returns the statements whose plan reads all of a large table, or all of its rows of one tenant: by a sequential scan,
 * or by a walk of an index with no condition but the tenant and no limit.
 */
export async function wideReads(db: OwnerDb, texts: Iterable<string>): Promise<[text: string, reads: WideRead[]][]> {
  const found: [string, WideRead[]][] = [];
  await db.session(async (query, runScript) => {
    await runScript('set role ibid_service; set plan_cache_mode = force_generic_plan');
    for (const text of texts) {
      const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
      const nulls = count === 0 ? '' : `(${Array(count).fill('null').join(', ')})`;
      await runScript(`prepare looked_at as ${text}`);
      const [row] = await query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        sql`explain (format json) execute looked_at${raw(nulls)}`,
      );
      await runScript('deallocate looked_at');
      const reads = row ? wideIn(row['QUERY PLAN'][0].Plan, '', false) : [];
      if (reads.length > 0) found.push([text, reads]);
    }
  });
  return found;
}

/** Nodes that consume all rows before they return the first. */
const TAKES_ALL = /^(Sort|Incremental Sort|Aggregate|Hash|WindowAgg|Materialize|ModifyTable|CTE Scan|SetOp|Unique)$/;

function wideIn(plan: Plan, above: string, isLimited: boolean): WideRead[] {
  const node = plan['Node Type'];
  const table = plan['Relation Name'] ?? above;
  const goesOn = node === 'Limit' || (isLimited && !TAKES_ALL.test(node));
  const below = (plan.Plans ?? []).flatMap((child) =>
    wideIn(child, node === 'Bitmap Heap Scan' ? table : '', child['Subplan Name'] === undefined && goesOn),
  );
  if (!(table in UNIQUE_COLUMNS || OF_TENANTS.includes(table))) return below;
  if (node === 'Seq Scan') return [{ table }, ...below];
  const index = plan['Index Name'];
  if (index === undefined || isLimited) return below;
  const keys = (plan['Index Cond'] ?? '').split(' AND ').filter((one) => !/^\(*(wiki|workspace)_id = |^$/.test(one));
  return keys.length > 0 ? below : [{ table, index }, ...below];
}
