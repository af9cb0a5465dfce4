import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { Client } from 'pg';
import type { Api } from './api.ts';
import { someWords } from './corpus.ts';
import { runRound } from './http-load.ts';
import { median } from './median.ts';
import { cpuByProgram, cpuOf } from './processes.ts';
import { startBench } from './start-bench.ts';
import { openWalReader } from './wal.ts';

const USAGE = `Usage: npm run bench -- writes [options]
  --pages 10000   of the wiki, at least 2000
  --only TEXT     only edits, move or tree
`;

/** Measures writes in a wiki: edits by one and by eight writers with their WAL, a move of 1,000 pages, the tree. */
const { pages: PAGES, only } = readOptions();
const SUBTREE = 1_000;
const ROUND_MS = 3_000;
/** Revisions from earlier answers, so that an edit needs no read before it. */
const revisions = new Map<string, number>();

const { dataDir, service, api, wiki_id, stop } = await startBench();
try {
  await fill();
  const tree: { page_id: string; parent_page_id: string; slug: string }[] = await api.get(`/v1/wikis/${wiki_id}/tree`);
  if (tree.length !== PAGES) throw new Error(`the wiki has ${tree.length} pages, not ${PAGES}`);
  if ('edits'.includes(only)) for (const writers of [1, 8]) await measureEdits(api, wiki_id, tree, writers);
  if ('move'.includes(only)) await measureMove(api, wiki_id, tree);
  if ('tree'.includes(only)) await measureTree(api, wiki_id);
} finally {
  await stop();
}

/** Inserts ten pages at the root with 999 pages below each: 9 folders of 110 pages. */
async function fill(): Promise<void> {
  const database = new Client(ownPostgres());
  await database.connect();
  const words = someWords(400).join(' ');
  try {
    await database.query('begin');
    await database.query(
      `insert into pages (wiki_id, page_id, path, slug, title, parent_page_id, parent_path, position, origin, revision, word_count,
        created_by, updated_by)
      select $1, 'page_bench' || n, coalesce(p || '/', '') || 'p' || n, 'p' || n, 'Page ' || n, 'page_bench' || parent, p, n,
        'authored', 1, 400, 'user_bench', 'user_bench'
      from generate_series(0, $2 - 1) n
      cross join lateral (select case when n % $3 = 0 then null when n % $3 < 10 then n - n % $3
        else n - n % $3 + 1 + n % 9 end as parent) a
      cross join lateral (select case when parent is null then null when parent % $3 = 0 then 'p' || parent
        else 'p' || (parent - parent % $3) || '/p' || parent end as p) b`,
      [wiki_id, PAGES, SUBTREE],
    );
    await database.query(
      `insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
      select wiki_id, page_id, 1, title, $2, '<p>' || $2 || '</p>', '[]', created_by from pages where wiki_id = $1`,
      [wiki_id, words],
    );
    await database.query(
      'insert into page_texts (wiki_id, page_id, text) select wiki_id, page_id, $2 from pages where wiki_id = $1',
      [wiki_id, words],
    );
    // The service extracts the terms from the texts, as it does for pages older than the index.
    await database.query(
      `insert into search_pending (wiki_id, kind, document_id, version) select wiki_id, 'page', page_id, 1 from pages
      where wiki_id = $1`,
      [wiki_id],
    );
    await database.query('commit');
    await untilMerged(database);
    await database.query('vacuum analyze');
  } finally {
    await database.end();
  }
}

function ownPostgres() {
  const connection = runningPostgres(dataDir);
  if (!connection) throw new Error('the service runs no PostgreSQL of its own: unset DATABASE_URL');
  return connection;
}

/** Waits until the search index contains all written pages. */
async function untilMerged(database: Client): Promise<void> {
  while ((await database.query('select from search_pending limit 1')).rowCount) await delay(100);
}

async function measureEdits(
  api: Api,
  wiki_id: string,
  tree: readonly { page_id: string; slug: string }[],
  writers: number,
): Promise<void> {
  const words = someWords(400);
  let next = writers * 1_000;
  const edit = async () => {
    const { page_id, slug } = tree[next++ % tree.length] ?? { page_id: '', slug: '' };
    const path = `/v1/wikis/${wiki_id}/pages/${page_id}`;
    const base_revision = revisions.get(page_id) ?? 1;
    const markdown = `# Edited\n\n[one](${slug}) ${words.join(' ')} ${next}\n`;
    const began = performance.now();
    const { revision } = await send('PATCH', api, path, { markdown, base_revision });
    revisions.set(page_id, revision);
    times.push(performance.now() - began);
  };
  let times: number[] = [];
  const database = new Client(ownPostgres());
  await database.connect();
  const wal = await openWalReader(ownPostgres());
  try {
    await runRound(writers, 1_000, edit);
    await untilMerged(database);
    times = [];
    const from = await wal.position();
    const before = cpuByProgram(service.pid);
    await runRound(writers, ROUND_MS, edit);
    await untilMerged(database);
    const after = cpuByProgram(service.pid);
    const { total, images, tables } = await wal.between(from, await wal.position());
    const cpu = [...after].map(
      ([program, ms]) => `${program} ${((ms - (before.get(program) ?? 0)) / times.length).toFixed(2)}`,
    );
    printEdits(writers, times, cpu);
    const kib = (bytes: number) => (bytes / 1024 / times.length).toFixed(1);
    const parts = tables.slice(0, 9).map(([table, bytes]) => `${table} ${kib(bytes)}`);
    console.log(`  WAL, KiB: ${kib(total)} (whole pages ${kib(images)}); ${parts.join(', ')}`);
  } finally {
    await wal.close();
    await database.end();
  }
}

function printEdits(writers: number, times: readonly number[], cpu: readonly string[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  console.log(
    `edit, ${writers} writer(s): ${Math.round((1_000 * times.length) / ROUND_MS)}/s, p50 ${median(times).toFixed(1)} ms, ` +
      `p99 ${(sorted[Math.floor(0.99 * sorted.length)] ?? 0).toFixed(1)} ms, CPU with the merge of the index, ms: ${cpu.join(', ')}`,
  );
}

async function measureMove(api: Api, wiki_id: string, tree: readonly { page_id: string; parent_page_id: string }[]) {
  const [first, second] = tree.filter((page) => page.parent_page_id === '');
  const times: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    const began = performance.now();
    await send('PATCH', api, `/v1/wikis/${wiki_id}/pages/${first?.page_id}`, {
      parent_page_id: i % 2 === 0 ? second?.page_id : '',
    });
    times.push(performance.now() - began);
  }
  console.log(
    `move of ${SUBTREE} pages: median ${median(times).toFixed(0)} ms, most ${Math.max(...times).toFixed(0)} ms (aim 200)`,
  );
}

async function measureTree(api: Api, wiki_id: string): Promise<void> {
  const times: number[] = [];
  const before = cpuOf(service.pid);
  for (let i = 0; i < 40; i += 1) {
    const began = performance.now();
    await fetch(`${api.address}/v1/wikis/${wiki_id}/tree`, { headers: { authorization: `Bearer ${api.token}` } }).then(
      (answer) => answer.arrayBuffer(),
    );
    times.push(performance.now() - began);
  }
  const after = cpuOf(service.pid);
  const cpu = (name: 'own_ms' | 'children_ms') => ((after[name] - before[name]) / times.length).toFixed(1);
  console.log(
    `tree of ${PAGES} pages: median ${median(times).toFixed(1)} ms (aim 30), CPU ${cpu('own_ms')} + ${cpu('children_ms')} ms`,
  );
}

async function send(method: string, api: Api, path: string, body: unknown): Promise<{ revision: number }> {
  const answer = await fetch(api.address + path, {
    method,
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

function readOptions(): { pages: number; only: string } {
  const { values } = parseArgs({
    options: {
      pages: { type: 'string', default: '10000' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  return { pages: Number(values.pages), only: values.only };
}
