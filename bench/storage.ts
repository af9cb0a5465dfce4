import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { runningPostgres } from '../src/db/postgres/running.ts';
import { type Sql, toStatement } from '../src/db/sql.ts';
import { enqueueDue } from '../src/jobs/background-queue.ts';
import { packRevisions } from '../src/revisions/pack-revisions.job.ts';
import { listAll } from './api.ts';
import { documentationPages } from './corpus.ts';
import { openEditor } from './editing.ts';
import { startBench } from './start-bench.ts';
import { untilMerged } from './units/rows.ts';

const USAGE = `Usage: npm run bench:storage -- [options]
  --pages 2000      pages of real text that are uploaded
  --bytes 3000      how long each is at least
  --edits 1000      pages that are edited afterwards, three times
  --lines 25        tables, and indexes, that are printed
`;

const UPLOAD_FILES = 1_000;

/**
 * What pages of real text take on disk, by table and by index, beyond what an empty service has; then what a further revision adds,
 * once those that were replaced are packed, and room that has become free is used again: it is the third edit of each page.
 * Sizes are those after a vacuum; they depend on the pages alone, so runs on different machines and at different times compare.
 */
const options = readOptions();
const bench = await startBench();
const database = new Client(runningPostgres(bench.dataDir));
await database.connect();
try {
  const files = Object.entries(documentationPages({ count: options.pages, bytes: options.bytes }));
  const markdown = files.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0) / files.length;
  const empty = await sizes();
  for (let from = 0; from < files.length; from += UPLOAD_FILES) {
    await bench.api.upload(bench.wiki_id, Object.fromEntries(files.slice(from, from + UPLOAD_FILES)));
  }
  const filled = await sizes();
  console.log(`${files.length} pages of ${markdown.toFixed(0)} bytes of Markdown; bytes of disk a page`);
  printTables(growth(empty, filled, files.length), markdown);
  printIndexes(growth(empty, filled, files.length));
  await printColumns();
  await database.query(`update migrations set applied_at = now() - interval '2 days'`);
  await database.query(`alter table revisions alter column created_at set default now() - interval '2 hours'`);
  await edit();
  await edit();
  const edited = await sizes();
  await edit();
  console.log(`\n${options.edits} pages edited for the third time; bytes of disk a revision`);
  printTables(growth(edited, await sizes(), options.edits), markdown);
} finally {
  await database.end();
  await bench.stop();
}

/** Of a table and its TOAST, or of an index. */
interface Size {
  name: string;
  /** Its table. */
  of: string;
  heap: number;
  toast: number;
  indexes: number;
}

/** After what follows a write, and a vacuum. */
async function sizes(): Promise<Size[]> {
  await untilMerged(bench.dataDir);
  await database.query('vacuum (analyze)');
  const { rows } = await database.query<Size>(`
    select c.relname as name, coalesce(t.relname, '') as of, pg_relation_size(c.oid)::float8 as heap,
      case c.relkind when 'r' then pg_table_size(c.oid) - pg_relation_size(c.oid) else 0 end::float8 as toast,
      case c.relkind when 'r' then pg_indexes_size(c.oid) else 0 end::float8 as indexes
    from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_class t on t.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i')`);
  return rows;
}

function growth(before: readonly Size[], after: readonly Size[], count: number): Size[] {
  const known = new Map(before.map((size) => [size.name, size]));
  return after
    .map((size) => {
      const { heap = 0, toast = 0, indexes = 0 } = known.get(size.name) ?? {};
      return {
        ...size,
        heap: (size.heap - heap) / count,
        toast: (size.toast - toast) / count,
        indexes: (size.indexes - indexes) / count,
      };
    })
    .sort((a, b) => total(b) - total(a));
}

function total({ heap, toast, indexes }: Size): number {
  return heap + toast + indexes;
}

function printTables(all: readonly Size[], markdown: number): void {
  const tables = all.filter(({ of }) => of === '');
  const sum = tables.reduce((bytes, size) => bytes + total(size), 0);
  const line = (name: string, values: readonly (number | string)[]) =>
    console.log(
      `${name.padEnd(24)}${values.map((value) => (typeof value === 'number' ? value.toFixed(0) : value).padStart(9)).join('')}`,
    );
  line('', ['heap', 'TOAST', 'indexes', 'all']);
  for (const size of tables.slice(0, options.lines)) {
    line(size.name, [size.heap, size.toast, size.indexes, total(size)]);
  }
  line('all tables', [
    tables.reduce((bytes, { heap }) => bytes + heap, 0),
    tables.reduce((bytes, { toast }) => bytes + toast, 0),
    tables.reduce((bytes, { indexes }) => bytes + indexes, 0),
    sum,
  ]);
  console.log(`${(sum / markdown).toFixed(2)} times the Markdown`);
}

function printIndexes(all: readonly Size[]): void {
  console.log('\nIndexes');
  for (const { name, of, heap } of all.filter(({ of }) => of !== '').slice(0, options.lines)) {
    console.log(`${name.padEnd(40)}${of.padEnd(24)}${heap.toFixed(0).padStart(6)}`);
  }
}

/** How long the values of the largest columns are as they are stored, on average of all rows. */
async function printColumns(): Promise<void> {
  const { rows } = await database.query<{ table: string; column: string }>(`
    select c.relname as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and a.attlen = -1`);
  const columns: { name: string; bytes: number }[] = [];
  for (const { table, column } of rows) {
    const of = await database.query(
      `select coalesce(sum(pg_column_size("${column}")), 0)::float8 as bytes from "${table}"`,
    );
    columns.push({ name: `${table}.${column}`, bytes: of.rows[0].bytes / options.pages });
  }
  console.log('\nColumns, as they are stored');
  for (const { name, bytes } of columns.sort((a, b) => b.bytes - a.bytes).slice(0, options.lines)) {
    console.log(`${name.padEnd(64)}${bytes.toFixed(0).padStart(6)}`);
  }
}

/** Each with another sentence in its middle. */
async function editPages(): Promise<void> {
  const pages = await listAll(bench.api, `/v1/wikis/${bench.wiki_id}/pages`);
  const compiled = pages.filter(({ source_count }) => source_count > 0).slice(0, options.edits);
  for (const { page_id } of compiled) {
    const path = `/v1/wikis/${bench.wiki_id}/pages/${page_id}`;
    await (await openEditor(bench.service.port, { path, token: bench.api.token })).edit();
  }
}

/** Edits the pages, and packs what was replaced, which is an hour old by its time; what was dead is vacuumed. */
async function edit(): Promise<void> {
  await editPages();
  await database.query('update wikis set revisions_packed_to = null');
  await enqueueDue(async (sql: Sql) => (await database.query(toStatement(sql))).rows, packRevisions);
  const left = 'select from background_jobs where name = $1';
  while ((await database.query(left, [packRevisions.name])).rowCount) await delay(200);
  await untilMerged(bench.dataDir);
  await database.query('vacuum');
}

function readOptions() {
  const names = { pages: '2000', bytes: '3000', edits: '1000', lines: '25' };
  const { values } = parseArgs({
    options: Object.fromEntries(
      Object.entries(names).map(([name, value]) => [name, { type: 'string' as const, default: value }]),
    ),
  });
  const number = (name: keyof typeof names) => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a number from 1\n${USAGE}`);
    return value;
  };
  return { pages: number('pages'), bytes: number('bytes'), edits: number('edits'), lines: number('lines') };
}
