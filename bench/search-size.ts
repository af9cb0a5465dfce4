import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { indexBody } from '@ibid/markdown/analysis/document-terms.ts';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { Client } from 'pg';
import yazl from 'yazl';
import { toStatement } from '../src/platform/db/sql.ts';
import { pendingBatch } from '../src/wiki/search/index/pending.ts';
import type { Api } from './api.ts';
import { combinedPages, randomNumbers, someWords } from './corpus.ts';
import { cpuOf } from './processes.ts';
import { inParallel } from './relevance.ts';
import type { ServiceProcess } from './service-process.ts';
import { openWalReader } from './wal.ts';

/** Lines of output during the edits. The WAL between two of them must be kept. */
const PARTS = 10;
const EDITORS = 4;
/** Documents per merge in a wiki that is edited a lot, and the number of merges that are measured separately. */
const BATCH = 32;
const MERGES = 20;

/**
 * Imports pages of real text into a wiki, and edits half as many over the API, ten words and a sentence each. Prints
 * the size of the index during the edits, relative to the texts, and the index's share in the cost of an edit: WAL of
 * its tables, and CPU time.
 */
export async function measureSize(service: ServiceProcess, dataDir: string, api: Api, wiki_id: string, pages: number) {
  const database = new Client(runningPostgres(dataDir));
  await database.connect();
  try {
    await importPages(api, wiki_id, pages);
    await untilMerged(database);
    await printSizes(database, `${pages} pages`);
    const words = someWords(400, randomNumbers(5));
    const tree: { page_id: string; slug: string }[] = await api.get(`/v1/wikis/${wiki_id}/tree`);
    const ids = tree.filter(({ slug }) => slug.startsWith('page-')).map(({ page_id }) => page_id);
    if (ids.length !== pages) throw new Error(`${ids.length} pages were imported, not ${pages}`);
    await measureEdits(database, dataDir, api, wiki_id, ids, words);
    await untilMerged(database);
    await printSizes(database, 'after the last merge');
    await delay(25_000);
    await printSizes(database, 'once autovacuum has run');
    await measureMerges(service, database, wiki_id, ids, words);
  } finally {
    await database.end();
  }
}

async function importPages(api: Api, wiki_id: string, pages: number): Promise<void> {
  const zip = new yazl.ZipFile();
  for (const [name, text] of Object.entries(combinedPages(pages))) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(await buffer(zip.outputStream))]), 'pages.zip');
  const { job_id } = await api.post(`/v1/wikis/${wiki_id}/imports`, form);
  for (;;) {
    const job = await api.get(`/v1/wikis/${wiki_id}/jobs/${job_id}`);
    if (job.status === 'completed') return;
    if (job.finished_at) throw new Error(`the import failed: ${job.error}`);
    await delay(500);
  }
}

async function untilMerged(database: Client): Promise<void> {
  while ((await database.query('select from search_pending limit 1')).rowCount) await delay(200);
}

/** Edits by several users at once, and prints the figures after each part. */
async function measureEdits(
  database: Client,
  dataDir: string,
  api: Api,
  wiki_id: string,
  ids: readonly string[],
  words: readonly string[],
): Promise<void> {
  const random = randomNumbers(5);
  const each = Math.ceil(ids.length / 2 / PARTS);
  const wal = await openWalReader(runningPostgres(dataDir) ?? {});
  try {
    for (let part = 1; part <= PARTS; part += 1) {
      const from = await wal.position();
      await inParallel(EDITORS, Array.from({ length: each }), async () => {
        const path = `/v1/wikis/${wiki_id}/pages/${ids[Math.floor(random() * ids.length)]}`;
        const { markdown, revision } = await api.get(path);
        await patch(api, path, { markdown: editedText(markdown, words, random), base_revision: revision });
      });
      await untilMerged(database);
      const { tables } = await wal.between(from, await wal.position());
      const own = tables.filter(([name]) => name.startsWith('search_'));
      const kib = (bytes: number) => (bytes / 1024 / each).toFixed(2);
      await printSizes(database, `after ${part * each} edits`, part < PARTS);
      console.log(
        `  WAL of the index, KiB an edit: ${kib(own.reduce((sum, [, bytes]) => sum + bytes, 0))} (${own.map(([name, bytes]) => `${name} ${kib(bytes)}`).join(', ')})`,
      );
    }
  } finally {
    await wal.close();
  }
}

/** Replaces ten words and appends a sentence. Lines are kept. */
function editedText(text: string, words: readonly string[], random: () => number): string {
  const word = () => words[Math.floor(random() * words.length)] as string;
  const parts = text.split(' ');
  for (let i = 0; i < 10; i += 1) {
    const at = Math.floor(random() * parts.length);
    if (/^[a-z]+$/i.test(parts[at] as string)) parts[at] = word();
  }
  return `${parts.join(' ').trimEnd()} ${Array.from({ length: 10 }, word).join(' ')}.\n`;
}

async function patch(api: Api, path: string, body: object): Promise<void> {
  const answer = await fetch(api.address + path, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  // A 409: another editor has saved the page first.
  if (!answer.ok && answer.status !== 409) throw new Error(`${path} answers ${answer.status}: ${text.slice(0, 300)}`);
}

/** Measures the service while it merges, and while it is idle. */
async function measureMerges(
  service: ServiceProcess,
  database: Client,
  wiki_id: string,
  ids: readonly string[],
  words: readonly string[],
): Promise<void> {
  const random = randomNumbers(6);
  const cpu = () => {
    const { own_ms, children_ms } = cpuOf(service.pid);
    return { own_ms, children_ms, at: performance.now() };
  };
  const began = cpu();
  await delay(10_000);
  const idle = [began, cpu()] as const;
  let [own, children, terms] = [0, 0, 0];
  for (let merge = 0; merge < MERGES; merge += 1) {
    const chosen = Array.from({ length: BATCH }, () => ids[Math.floor(random() * ids.length)]);
    const { rows } = await database.query<{ page_id: string; title: string; text: string; revision: number }>(
      `select page_id, title, text, revision from pages join page_texts using (wiki_id, page_id)
      where wiki_id = $1 and page_id = any ($2)`,
      [wiki_id, chosen],
    );
    const edited = rows.map((row) => ({ ...row, text: editedText(row.text, words, random) }));
    const beforeTerms = process.cpuUsage();
    const documents = edited.map(({ page_id, title, text, revision }) => ({
      document_id: page_id,
      version: revision + 1 + merge,
      title,
      body: indexBody(text),
    }));
    terms += process.cpuUsage(beforeTerms).user / 1_000;
    const before = cpu();
    await database.query(toStatement(pendingBatch('page', wiki_id, documents)));
    await untilMerged(database);
    const after = cpu();
    const idleShare = (after.at - before.at) / (idle[1].at - idle[0].at);
    own += after.own_ms - before.own_ms - idleShare * (idle[1].own_ms - idle[0].own_ms);
    children += after.children_ms - before.children_ms - idleShare * (idle[1].children_ms - idle[0].children_ms);
  }
  const each = (ms: number) => (ms / MERGES / BATCH).toFixed(2);
  console.log(
    `  CPU of the index, ms an edit, without what the idle service uses: terms of the text ${each(terms)}, merge ${each(own)} (Node) + ${each(children)} (PostgreSQL)`,
  );
}

interface TableSize {
  name: string;
  rows: number;
  dead: number;
  heap: number;
  toast: number;
  keys: number;
  text: number;
}

async function printSizes(database: Client, when: string, isShort = false): Promise<void> {
  const { rows } = await database.query<TableSize>(`
    select c.relname as name, s.n_live_tup::int as rows, s.n_dead_tup::int as dead, pg_relation_size(c.oid)::float8 as heap,
      (pg_table_size(c.oid) - pg_relation_size(c.oid))::float8 as toast, pg_indexes_size(c.oid)::float8 as keys,
      (select sum(octet_length(text)) from page_texts)::float8 as text
    from pg_class c join pg_stat_all_tables s on s.relid = c.oid
    where c.relkind = 'r' and c.relname like 'search\\_%' and pg_total_relation_size(c.oid) > 100000 order by 1`);
  const text = rows[0]?.text ?? 1;
  const share = (bytes: number) => (bytes / text).toFixed(3);
  const together = share(rows.reduce((sum, { heap, toast, keys }) => sum + heap + toast + keys, 0));
  if (isShort) {
    const parts = rows.map((row) => `${row.name} ${share(row.heap + row.toast + row.keys)}`);
    console.log(`${when}: together ${together} (${parts.join(', ')})`);
    return;
  }
  console.log(`${when}: texts ${(text / 2 ** 20).toFixed(1)} MiB; together ${together} of them`);
  for (const { name, rows: live, dead, heap, toast, keys } of rows) {
    console.log(
      `  ${name.padEnd(18)} ${share(heap + toast + keys)} (rows ${share(heap)}, toast ${share(toast)}, keys ${share(keys)}; ${live} live, ${dead} dead)`,
    );
  }
}
