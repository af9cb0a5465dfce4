import { setTimeout as delay } from 'node:timers/promises';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import type { ClientBase } from 'pg';
import { Client } from 'pg';
import type { Api } from './api.ts';
import { generatePages, randomNumbers, someWords } from './corpus.ts';
import { openConnection, runRound } from './http-load.ts';
import { cpuOf } from './processes.ts';
import type { ServiceProcess } from './service-process.ts';

const ROUND_MS = 4_000;
const BYTES = 1_500;
const BATCH = 1_000;

/** Returns queries of one to six words that occur in the pages. They are the same in each run. */
function someQueries(): string[] {
  const random = randomNumbers(11);
  const words = someWords(300, random);
  return Array.from({ length: 187 }, (_, i) =>
    Array.from({ length: 1 + (i % 6) }, () => words[Math.floor(random() * words.length)]).join(' '),
  );
}

/** Swaps two neighbouring letters in the longest word of a query. */
function mistyped(query: string): string {
  const longest = query.split(' ').reduce((one, other) => (other.length > one.length ? other : one));
  const at = Math.floor(longest.length / 2);
  const [first = '', second = ''] = longest.slice(at - 1, at + 1);
  return query.replace(longest, longest.slice(0, at - 1) + second + first + longest.slice(at + 1));
}

/**
 * Prints the costs of searches, suggestions and edits in a wiki with this number of pages of about 1,500 characters.
 */
export async function measureSpeed(service: ServiceProcess, dataDir: string, api: Api, wiki_id: string, pages: number) {
  const began = performance.now();
  const sizes = await fill(dataDir, wiki_id, pages);
  console.log(`${pages} pages: indexed ${Math.round((1_000 * pages) / (performance.now() - began))} pages/s`);
  console.log(`  on disk, relative to the texts of all wikis: ${sizes}`);
  const queries = someQueries();
  const paths = (what: string, texts: readonly string[]) =>
    texts.map((text) => `/v1/wikis/${wiki_id}/${what}query=${encodeURIComponent(text)}`);
  const long = Array.from({ length: 60 }, (_, i) =>
    [...queries.slice(i, i + 6)].join(' ').split(' ').slice(0, 18).join(' '),
  );
  const titles = queries.map((text) => text.slice(0, 3 + (text.length % 6)));
  for (const [name, requests, clients] of [
    ['search, first 10', paths('pages/search?limit=10&', queries), 1],
    // Alternate with the same queries, each with a typo, because other load on the machine changes over time.
    ['search, mistyped', paths('pages/search?limit=10&', queries.map(mistyped)), 1],
    ['search, first 10', paths('pages/search?limit=10&', queries), 1],
    ['search, mistyped', paths('pages/search?limit=10&', queries.map(mistyped)), 1],
    ['search, first 50', paths('pages/search?', queries), 1],
    ['search, 18 words', paths('pages/search?limit=10&', long), 1],
    ['search, first 10', paths('pages/search?limit=10&', queries), 8],
    ['suggest', paths('suggest?', titles), 1],
    // Reads single records, as the baseline.
    ['page by id', numbers(Math.min(200, pages)).map((n) => `/v1/wikis/${wiki_id}/pages/page_bench${n}`), 1],
  ] as const) {
    await printRound(service, api, name, requests, clients);
  }
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, i) => String(i).padStart(7, '0'));
}

async function printRound(service: ServiceProcess, api: Api, name: string, paths: readonly string[], clients: number) {
  const connections = await Promise.all(Array.from({ length: clients }, () => openConnection(service.port)));
  const requests = paths.map(
    (path) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${api.token}\r\n\r\n`,
  );
  let next = 0;
  const ask = (lane: number) =>
    connections[lane]?.get(requests[next++ % requests.length] ?? '') ?? Promise.reject(new Error('no connection'));
  try {
    await runRound(clients, 1_000, ask);
    const before = cpuOf(service.pid);
    const round = await runRound(clients, ROUND_MS, ask);
    const after = cpuOf(service.pid);
    const [own, below] = [after.own_ms - before.own_ms, after.children_ms - before.children_ms].map(
      (ms) => ms / round.requests,
    );
    console.log(
      `  ${name.padEnd(18)} ${clients} client(s)  ${Math.round(round.per_second).toString().padStart(5)}/s  p50 ${round.p50_ms.toFixed(2)}  ` +
        `p99 ${round.p99_ms.toFixed(2)} ms  CPU ${((own ?? 0) + (below ?? 0)).toFixed(2)} ms (${own?.toFixed(2)} + ${below?.toFixed(2)})`,
    );
  } finally {
    for (const connection of connections) connection.close();
  }
}

/**
 * Writes directly into the tables; the service builds the index from them, as it does after an upgrade. Returns the
 * sizes of the index.
 */
async function fill(dataDir: string, wiki_id: string, pages: number): Promise<string> {
  const connection = runningPostgres(dataDir);
  if (!connection) throw new Error('the service runs no PostgreSQL of its own: unset DATABASE_URL');
  const database = new Client(connection);
  await database.connect();
  try {
    for (let from = 0; from < pages; from += BATCH)
      await fillBatch(database, wiki_id, from, Math.min(BATCH, pages - from));
    while ((await database.query('select from search_pending limit 1')).rowCount) await delay(50);
    await database.query('vacuum analyze');
    const { rows } = await database.query<{ name: string; ratio: number }>(`
      select c.relname as name, round(pg_total_relation_size(c.oid)::numeric / t.bytes, 2)::float as ratio
      from pg_class c, (select sum(octet_length(text)) as bytes from page_texts) t
      where c.relkind = 'r' and c.relname in ('search_blocks', 'search_segments', 'search_documents', 'search_vocabulary', 'search_words', 'search_pending')
      order by 1`);
    const total = rows.reduce((sum, { ratio }) => sum + ratio, 0);
    return [...rows.map(({ name, ratio }) => `${name} ${ratio}`), `together ${total.toFixed(2)}`].join(', ');
  } finally {
    await database.end();
  }
}

async function fillBatch(database: ClientBase, wiki_id: string, from: number, count: number): Promise<void> {
  const texts = Object.values(generatePages({ from, count, bytes: BYTES }));
  const numbers = texts.map((_, i) => String(from + i).padStart(7, '0'));
  const titles = texts.map((text) => text.slice(2, text.indexOf('\n')));
  await database.query(
    `with given as (select * from unnest($2::text[], $3::text[], $4::text[]) g (n, title, text)), made as (
      insert into pages (wiki_id, page_id, path, slug, title, origin, revision, word_count, created_by, updated_by)
      select $1, 'page_bench' || n, $1 || n, $1 || n, title, 'authored', 1, 200, 'user_bench', 'user_bench' from given
    ), revised as (
      insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
      select $1, 'page_bench' || n, 1, title, text, text, '[]', 'user_bench' from given
    ), written as (
      insert into page_texts (wiki_id, page_id, text) select $1, 'page_bench' || n, text from given
    )
    insert into search_pending (wiki_id, kind, document_id, version) select $1, 'page', 'page_bench' || n, 1 from given`,
    [wiki_id, numbers, titles, texts],
  );
}
