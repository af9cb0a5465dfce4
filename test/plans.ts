import pg from 'pg';
import type { OwnerDb } from '../src/db/db.ts';
import { raw, type Sql, sql } from '../src/db/sql.ts';

/** Enough rows that the planner does not read them all to find one. */
const ROWS = 4_000;

/** The tables that grow with a wiki, and the columns in which their rows differ; referenced tables come first. */
export const UNIQUE_COLUMNS: Record<string, string[]> = {
  pages: ['page_id', 'path', 'slug'],
  revisions: ['page_id'],
  page_texts: ['page_id'],
  page_links: ['from_page_id', 'to_page_id', 'to_path'],
  page_paths: ['path', 'page_id'],
  page_tags: ['page_id', 'tag_key'],
  attachments: ['attachment_id', 'page_id'],
  uploads: ['upload_id'],
  upload_files: ['upload_id', 'file_id', 'filename'],
  upload_parts: ['upload_id', 'name'],
  sources: ['source_id', 'sha256'],
  source_texts: ['source_id'],
  page_sources: ['page_id', 'source_id'],
  jobs: ['job_id', 'upload_id'],
  search_documents: ['document_id', 'document_no'],
  search_blocks: ['term'],
  search_vocabulary: ['first'],
  search_words: ['word', 'backwards'],
  exports: ['export_id'],
  audit_events: ['event_id'],
};

/**
 * A few rows per wiki, pending postings that are soon merged (every search reads all of its wiki), postings of the format before
 * segments, of which a new database has none, pages that both users and their file have changed, unsaved texts, saved
 * searches and starred pages, of which a person has few, and templates.
 */
const SMALL_TABLES = [
  'search_wikis',
  'search_segments',
  'search_pending',
  'search_postings',
  'page_bases',
  'autosaves',
  'saved_searches',
  'templates',
  'starred_pages',
];

/** Tables that no request reads, those that are large first. */
export const BIG_JOB_TABLES = ['compiled_files', 'import_pages', 'import_revisions', 'import_attachments'];
const JOB_TABLES = [
  ...BIG_JOB_TABLES,
  'imports',
  'imported_people',
  'staged_imports',
  'background_jobs',
  'blob_references',
];

/** Of the copies those that indexes of few rows contain: jobs that wait, and links that name a page. */
const IN_PARTIAL_INDEXES = [
  sql`update jobs set status = 'queued', started_at = null, finished_at = null, run_after = 'infinity' where job_id like 'more%'`,
  sql`update page_links set wanted_title = to_path, wanted_path = to_path where to_path like 'more%'`,
];

export interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  /** Of a CTE, and of a subquery that is a value. */
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
 * Grows every table that grows with a wiki, by copies of an existing row. Errors: Error for a table that is not listed
 * here, and for an empty one.
 */
export async function growTables(db: OwnerDb, wiki_id: string): Promise<void> {
  const ofWikis = await db.query<{ name: string }>(sql`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'wiki_id' and table_name <> 'wikis'`);
  const left = [...SMALL_TABLES, ...JOB_TABLES];
  const unknown = ofWikis.map(({ name }) => name).filter((name) => !(name in UNIQUE_COLUMNS) && !left.includes(name));
  if (unknown.length > 0)
    throw new Error(`add to UNIQUE_COLUMNS of test/plans.ts the columns in which rows differ of: ${unknown}`);
  for (const [table, columns] of Object.entries(UNIQUE_COLUMNS)) {
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

/** The same for the table that grows with the requests of all tenants. */
export async function growIdempotencyKeys(db: OwnerDb): Promise<void> {
  await db.query(sql`
    insert into idempotency_keys (id, fingerprint, answer)
    select sha256(n::text::bytea), '', '' from generate_series(1, ${ROWS}::int) n`);
  await db.query(sql`analyze idempotency_keys`);
}

/** The rows that a statement of the service answers with these values. `setContext` is the statement that says who asks. */
export function rowsOf(
  db: OwnerDb,
  setContext: Sql,
  statement: { text: string; values: readonly unknown[] },
): Promise<object[]> {
  return executed(db, setContext, statement, raw('execute'));
}

/**
 * What a statement of the service reads of the tables with these values: rows, those that a filter then drops included, and
 * blocks. `setContext` is the statement that says who asks.
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

/** What the rows of a table are compared with in the plan of a statement: its conditions, one a line. */
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

/** The rows that a plan has read of tables, those that a filter then dropped included. */
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
