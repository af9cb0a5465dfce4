import pg from 'pg';
import { TABLES } from '../src/app.ts';
import { listTables } from '../src/operation/backup/copied-tables.ts';
import type { OwnerDb } from '../src/platform/db/db.ts';
import { raw, type Sql, sql } from '../src/platform/db/sql.ts';

/** Enough rows that the planner does not scan them all to find one. */
const ROWS = 4_000;

/** Tables that grow with the content of a tenant and are read by requests, with the columns in which copies of a row differ. */
export const UNIQUE_COLUMNS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  TABLES.flatMap(({ name, copies }) => (copies ? [[name, copies]] : [])),
);

/** Statements that put some of the copies into partial indexes: queued jobs, and links to a title. */
const IN_PARTIAL_INDEXES = [
  sql`update jobs set status = 'queued', started_at = null, finished_at = null, run_after = 'infinity' where job_id like 'more%'`,
  sql`update page_links set wanted_title = to_path, wanted_path = to_path where to_path like 'more%'`,
];

export interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  /** Name of a CTE, or of a scalar subquery. */
  'Subplan Name'?: string;
  Plans?: Plan[];
}

/** A plan that was run; rows are averages over its loops. */
export interface RunPlan extends Plan {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: RunPlan[];
}

/**
 * Grows every table that grows with the content of a tenant by copying an existing row, referenced tables first. Throws
 * an Error for an empty table.
 */
export async function growTables(db: OwnerDb, wiki_id: string): Promise<void> {
  for (const { name: table } of await listTables(db.query)) {
    const columns = UNIQUE_COLUMNS[table];
    if (!columns) continue;
    const differing = columns
      .map((column) => `'${column}', ${column.endsWith('_no') ? '' : `'more' || `}n + 1000000`)
      .join(', ');
    const [written] = await db.query<{ columns: string }>(sql`
      select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
      where table_schema = current_schema() and table_name = ${table} and is_generated = 'NEVER'`);
    const all = raw(written?.columns ?? '');
    const { length } = await db.query(sql`
      insert into ${raw(table)} (${all})
      select ${all} from (
        select copy.*
        from (select * from ${raw(table)} order by ${raw(columns[0] ?? '')} limit 1) t, generate_series(1, ${ROWS}::int) n,
          jsonb_populate_record(null::${raw(table)}, to_jsonb(t) || jsonb_build_object('wiki_id', ${wiki_id}::text, ${raw(differing)})) copy
      ) copies
      returning 1`);
    if (length !== ROWS) throw new Error(`${table} has no row to copy`);
  }
  for (const change of IN_PARTIAL_INDEXES) await db.query(change);
}

/** Same for the table that grows with the requests of all tenants. */
export async function growIdempotencyKeys(db: OwnerDb): Promise<void> {
  await db.query(sql`
    insert into idempotency_keys (id, fingerprint, answer)
    select sha256(n::text::bytea), '', '' from generate_series(1, ${ROWS}::int) n`);
  await db.query(sql`analyze idempotency_keys`);
}

/**
 * Returns the rows of a service's statement run with these values. `setContext`: the statement that sets the request
 * context.
 */
export function rowsOf(
  db: OwnerDb,
  setContext: Sql,
  statement: { text: string; values: readonly unknown[] },
): Promise<object[]> {
  return executed(db, setContext, statement, raw('execute'));
}

/**
 * Returns the table rows and blocks that a statement of the service reads with these values, including rows that a
 * filter drops. `setContext`: the statement that sets the request context.
 */
export async function readBy(
  db: OwnerDb,
  setContext: Sql,
  { text, values }: { text: string; values: readonly unknown[] },
): Promise<{ rows: number; blocks: number }> {
  const explain = raw('explain (analyze, buffers, timing off, format json) execute');
  const [row] = await executed<{ 'QUERY PLAN': [{ Plan: RunPlan }] }>(db, setContext, { text, values }, explain);
  if (!row) throw new Error('there is no plan');
  const { Plan: plan } = row['QUERY PLAN'][0];
  return { rows: rowsRead(plan), blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}

/** Returns the conditions on a table in the plan of a statement, one a line. */
export async function conditionsOn(
  db: OwnerDb,
  setContext: Sql,
  statement: { text: string; values: readonly unknown[] },
  table: string,
): Promise<string> {
  const explain = raw('explain (format json) execute');
  const [row] = await executed<{ 'QUERY PLAN': [{ Plan: Plan }] }>(db, setContext, statement, explain);
  const conditions = (plan: Plan): string[] => [
    ...(plan['Relation Name'] === table ? Object.entries(plan).filter(([key]) => /Cond$|^Filter$/.test(key)) : []).map(
      ([, condition]) => String(condition),
    ),
    ...(plan.Plans ?? []).flatMap(conditions),
  ];
  return row ? conditions(row['QUERY PLAN'][0].Plan).join('\n') : '';
}

function executed<T>(
  db: OwnerDb,
  setContext: Sql,
  { text, values }: { text: string; values: readonly unknown[] },
  how: Sql,
): Promise<T[]> {
  return db.transaction(async (query, runScript) => {
    await query(setContext);
    await runScript('set local role ibid_service; set local plan_cache_mode = force_generic_plan');
    await runScript(`prepare looked_at as ${text}`);
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
    const rows = await query<T>(sql`${how} looked_at${raw(given)}`);
    await runScript('deallocate looked_at');
    return rows;
  });
}

/** Returns the number of table rows that a plan has read, including rows that a filter dropped. */
export function rowsRead(plan: RunPlan): number {
  const each =
    plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const own = plan['Relation Name'] === undefined ? 0 : each * plan['Actual Loops'];
  return (plan.Plans ?? []).reduce((sum, below) => sum + rowsRead(below), own);
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  if (Array.isArray(value) && value.length === 0) return "'{}'";
  if (Array.isArray(value)) return `array[${value.map(literal).join(', ')}]`;
  return typeof value === 'string' ? pg.escapeLiteral(value) : String(value);
}
