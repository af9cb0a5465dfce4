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
import { measureStarts } from './starts.ts';
import { openSelects } from './units/pgbench.ts';
import { type Results, readBefore, tableOf } from './units/results.ts';
import { listRows, type Row, untilMerged } from './units/rows.ts';

const USAGE = `Usage: npm run bench:units -- [options]
  --pages 10000     pages of the wiki that is read
  --rounds 5        how often each row is measured, in turns with pgbench
  --round-ms 1000   how long each time
  --connections 1   at once
  --before FILE     the run to print beside this one; without it the newest in bench/results/ with as many connections
  --json FILE       writes the figures, as bench/results/units-DATE.json keeps them
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
// Before anything is measured: a file that is not there ends the run at once.
const before = readBefore(options.before, options.connections);
const machine = `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`;
const load = Number(loadavg()[0]?.toFixed(1));
console.log(`${machine}, load ${load}`);
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
  const results: Results = {
    date: new Date().toISOString().slice(0, 10),
    machine,
    load,
    pages: options.pages,
    connections: options.connections,
    rows,
    starts,
    fresh_mb,
    highest_mb,
    idle_mb: await idleMemory(),
    bytes_a_page,
  };
  console.log(tableOf(results, before));
  if (options.json !== '') await writeFile(options.json, `${JSON.stringify(results, undefined, 2)}\n`);
} finally {
  await bench.stop();
}

async function measureRows(rows: Row[], unit: () => Promise<number>) {
  const taken = rows.map(() => ({ cost_ms: [] as number[], select_ms: [] as number[], per_second: [] as number[] }));
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
      taken[i]?.select_ms.push(select_ms);
      taken[i]?.per_second.push(count / seconds);
    }
  }
  return rows.map(({ name, aim }, i) => {
    const { cost_ms = [], select_ms = [], per_second = [] } = taken[i] ?? {};
    const cost = median(cost_ms);
    // Of the medians: a select beside which another process ended is too cheap or too dear by far.
    return { name, aim, cost_ms: cost, units: cost / median(select_ms), per_second: median(per_second) };
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

function readOptions() {
  const { values } = parseArgs({
    options: {
      pages: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '5' },
      'round-ms': { type: 'string', default: '1000' },
      connections: { type: 'string', default: '1' },
      before: { type: 'string', default: '' },
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
    before: values.before,
    json: values.json,
  };
}
