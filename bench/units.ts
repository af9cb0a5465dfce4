import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { runningPostgres } from '../src/db/postgres/running.ts';
import { listAll } from './api.ts';
import { median } from './compare.ts';
import { generatePages } from './corpus.ts';
import { cpuOf, memoryOf } from './processes.ts';
import { untilSettled } from './settled.ts';
import { signIn } from './sign-in.ts';
import { startBench } from './start-bench.ts';
import { measureStarts, type Starts } from './starts.ts';
import { openSelects } from './units/pgbench.ts';
import { listRows, type Row, untilMerged } from './units/rows.ts';

const USAGE = `Usage: npm run bench:units -- [options]
  --pages 10000     pages of the wiki that is read
  --rounds 5        how often each row is measured, in turns with pgbench
  --round-ms 1000   how long each time
  --connections 1   at once
  --json FILE       writes the figures
`;

/** Longer than the service keeps idle connections and processes. */
const IDLE_MS = 40_000;
const UPLOAD_FILES = 1_000;
const PAGE_BYTES = 4_000;
const STARTS = 3;

/**
 * What each kind of request costs, in CPU time of the service with PostgreSQL and all processes, divided by that of a select of
 * `pgbench -S -M prepared` a moment before; the starts, the memory and the size on disk beside it. Needs pgbench.
 */
const options = readOptions();
console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`);
const folder = await mkdtemp(join(tmpdir(), 'ibid-bench-'));
const starts = await measureStarts(join(folder, 'data'), STARTS).finally(() =>
  rm(folder, { recursive: true, force: true, maxRetries: 5 }),
);
const bench = await startBench();
try {
  const fresh_mb = await idleMemory();
  const { session, wikis } = await bench.api.get('/v1/overview');
  const root = `/${session.organizations[0].slug}/${wikis[0].slug}`;
  const connection = runningPostgres(bench.dataDir) ?? {};
  const bytes_a_page = await fill();
  await untilSettled(connection);
  const cookie = await signIn(bench.dataDir, bench.service.address);
  const all = await listAll(bench.api, `/v1/wikis/${bench.wiki_id}/pages`);
  const pages = all.filter(({ source_count }) => source_count > 0);
  const selects = await openSelects(bench.dataDir, bench.service.pid);
  const watch = watchMemory();
  const rows = await measureRows(listRows(bench, { pages, root, cookie }, options.connections), () =>
    selects.measure(),
  );
  const highest_mb = watch.stop();
  const idle_mb = await idleMemory();
  const figures = {
    pages: options.pages,
    connections: options.connections,
    rows,
    starts,
    fresh_mb,
    highest_mb,
    idle_mb,
    bytes_a_page,
  };
  printRest(figures);
  if (options.json !== '') await writeFile(options.json, `${JSON.stringify(figures, undefined, 2)}\n`);
} finally {
  await bench.stop();
}

interface Figures {
  starts: Starts;
  fresh_mb: number;
  highest_mb: number;
  idle_mb: number;
  bytes_a_page: number;
}

async function measureRows(rows: Row[], unit: () => Promise<number>) {
  const taken = rows.map(() => ({ cost_ms: [] as number[], units: [] as number[], per_second: [] as number[] }));
  // The first round warms up.
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const [i, row] of rows.entries()) {
      const select_ms = await unit();
      const before = cpuOf(bench.service.pid);
      const began = performance.now();
      const count = await row.run(options.round_ms);
      const seconds = (performance.now() - began) / 1_000;
      const after = cpuOf(bench.service.pid);
      const cost_ms = (after.own_ms + after.children_ms - before.own_ms - before.children_ms) / count;
      if (round === 0) continue;
      taken[i]?.cost_ms.push(cost_ms);
      taken[i]?.units.push(cost_ms / select_ms);
      taken[i]?.per_second.push(count / seconds);
    }
  }
  console.log(`\n${'CPU of a'.padEnd(24)}      ms   selects   (aim)   a second`);
  return rows.map(({ name, aim }, i) => {
    const { cost_ms = [], units = [], per_second = [] } = taken[i] ?? {};
    const row = { name, aim, cost_ms: median(cost_ms), units: median(units), per_second: median(per_second) };
    console.log(
      `${name.padEnd(24)} ${row.cost_ms.toFixed(2).padStart(7)} ${row.units.toFixed(0).padStart(9)} ${`(${aim})`.padStart(7)} ${row.per_second.toFixed(0).padStart(10)}`,
    );
    return row;
  });
}

/** Fills the wiki, and answers how many bytes of the database a page takes, its source, citations and share of the index included. */
async function fill(): Promise<number> {
  const before = await databaseSize();
  for (let from = 0; from < options.pages; from += UPLOAD_FILES) {
    const count = Math.min(UPLOAD_FILES, options.pages - from);
    await bench.api.upload(bench.wiki_id, generatePages({ from, count, bytes: PAGE_BYTES }));
  }
  await untilMerged(bench.dataDir);
  return ((await databaseSize()) - before) / options.pages;
}

async function databaseSize(): Promise<number> {
  const database = new Client(runningPostgres(bench.dataDir));
  await database.connect();
  try {
    return Number((await database.query('select pg_database_size(current_database()) as bytes')).rows[0].bytes);
  } finally {
    await database.end();
  }
}

async function idleMemory(): Promise<number> {
  await delay(IDLE_MS);
  return memoryOf(bench.service.pid).pss_mb;
}

/** The most memory that the service and all its processes have at once, twice a second. */
function watchMemory() {
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(bench.service.pid).pss_mb);
  }, 500);
  return {
    stop() {
      clearInterval(watch);
      return most;
    },
  };
}

function printRest({ starts: { first_ms, next_ms }, fresh_mb, highest_mb, idle_mb, bytes_a_page }: Figures): void {
  const line = (name: string, value: string, aim: string) =>
    console.log(`${name.padEnd(40)} ${value.padStart(9)}   (${aim})`);
  console.log('');
  line('first start to /readyz', `${(first_ms / 1_000).toFixed(2)} s`, '2.5 s');
  line('next start', `${(next_ms / 1_000).toFixed(2)} s`, '.5 s');
  line('memory when idle, new (PSS)', `${Math.round(fresh_mb)} MB`, '140 MB');
  line('memory when idle, after all this', `${Math.round(idle_mb)} MB`, '200 MB');
  line('memory at most', `${Math.round(highest_mb)} MB`, '260 MB at 16 connections');
  line('database, bytes a page', bytes_a_page.toFixed(0), `${3 * PAGE_BYTES}`);
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      pages: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '5' },
      'round-ms': { type: 'string', default: '1000' },
      connections: { type: 'string', default: '1' },
      json: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  return {
    pages: Number(values.pages),
    rounds: Number(values.rounds),
    round_ms: Number(values['round-ms']),
    connections: Number(values.connections),
    json: values.json,
  };
}
