import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { indexBody } from '../src/analysis/document-terms.ts';
import { runningPostgres } from '../src/db/postgres/running.ts';
import { toStatement } from '../src/db/sql.ts';
import { pendingBatch } from '../src/search/index/pending.ts';
import { randomNumbers, someWords } from './corpus.ts';
import { cpuOf } from './processes.ts';
import { fill } from './search-speed.ts';
import type { ServiceProcess } from './service-process.ts';

/** Pages edited between two merges: what a busy wiki has within a few seconds. */
const BATCH = 32;

/**
 * Fills a wiki and edits half as many pages, ten words and a sentence each, and prints what the index of them takes on disk, and
 * what the index's share of an edit is: the row that the edit adds, and its merge.
 */
export async function measureSize(service: ServiceProcess, dataDir: string, wiki_id: string, pages: number) {
  await fill(dataDir, wiki_id, pages);
  const database = new Client(runningPostgres(dataDir));
  await database.connect();
  try {
    await printSizes(database, `${pages} pages`);
    const edits = Math.ceil(pages / 2);
    const random = randomNumbers(5);
    const words = someWords(400, random);
    const costs = { wal: 0, images: 0, cpu: 0 };
    for (let done = 0, version = 2; done < edits; done += BATCH, version += 1) {
      const ids = Array.from(
        { length: BATCH },
        () => `page_bench${String(Math.floor(random() * pages)).padStart(7, '0')}`,
      );
      const { rows } = await database.query<{ page_id: string; title: string; text: string }>(
        'select page_id, title, text from pages join page_texts using (wiki_id, page_id) where wiki_id = $1 and page_id = any ($2)',
        [wiki_id, ids],
      );
      const edited = rows.map(({ page_id, title, text }) => {
        const parts = text.split(' ');
        const word = () => words[Math.floor(random() * words.length)] as string;
        for (let i = 0; i < 10; i += 1) parts[Math.floor(random() * parts.length)] = word();
        return { page_id, title, text: `${parts.join(' ')} ${Array.from({ length: 10 }, word).join(' ')}.` };
      });
      await database.query(
        `update page_texts t set text = g.text from unnest($2::text[], $3::text[]) g (id, text)
        where t.wiki_id = $1 and t.page_id = g.id`,
        [wiki_id, edited.map(({ page_id }) => page_id), edited.map(({ text }) => text)],
      );
      const documents = edited.map(({ page_id, title, text }) => ({
        document_id: page_id,
        version,
        title,
        body: indexBody(text),
      }));
      const before = await walOf(database);
      const cpu = cpuOf(service.pid);
      await database.query(toStatement(pendingBatch('page', wiki_id, documents)));
      while ((await database.query('select from search_pending limit 1')).rowCount) await delay(50);
      const after = await walOf(database);
      const used = cpuOf(service.pid);
      costs.wal += after.bytes - before.bytes;
      costs.images += after.images - before.images;
      costs.cpu += used.own_ms + used.children_ms - cpu.own_ms - cpu.children_ms;
    }
    const each = (sum: number) => (sum / edits).toFixed(2);
    console.log(
      `  an edit's share: WAL ${each(costs.wal / 1024)} KiB and ${each(costs.images)} images of pages, CPU at most ${each(costs.cpu)} ms (all of the service while it merges)`,
    );
    await printSizes(database, `after ${edits} edits`);
    await delay(15_000);
    await printSizes(database, 'once autovacuum has run');
  } finally {
    await database.end();
  }
}

async function walOf(database: Client): Promise<{ bytes: number; images: number }> {
  const { rows } = await database.query(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes, (select wal_fpi::int from pg_stat_wal) as images`,
  );
  return rows[0];
}

async function printSizes(database: Client, when: string): Promise<void> {
  const { rows } = await database.query<{
    name: string;
    rows: number;
    dead: number;
    heap: number;
    toast: number;
    keys: number;
    text: number;
  }>(`
    select c.relname as name, s.n_live_tup::int as rows, s.n_dead_tup::int as dead, pg_relation_size(c.oid)::float8 as heap,
      (pg_table_size(c.oid) - pg_relation_size(c.oid))::float8 as toast, pg_indexes_size(c.oid)::float8 as keys,
      (select sum(octet_length(text)) from page_texts)::float8 as text
    from pg_class c join pg_stat_all_tables s on s.relid = c.oid
    where c.relkind = 'r' and c.relname like 'search\\_%' and pg_total_relation_size(c.oid) > 100000 order by 1`);
  const text = rows[0]?.text ?? 1;
  const share = (bytes: number) => (bytes / text).toFixed(3);
  console.log(`${when}: texts ${(text / 2 ** 20).toFixed(1)} MiB; sizes relative to them`);
  for (const { name, rows: live, dead, heap, toast, keys } of rows) {
    console.log(
      `  ${name.padEnd(18)} ${share(heap + toast + keys)} (rows ${share(heap)}, toast ${share(toast)}, keys ${share(keys)}; ${live} live, ${dead} dead)`,
    );
  }
  console.log(`  together ${share(rows.reduce((sum, { heap, toast, keys }) => sum + heap + toast + keys, 0))}`);
}
