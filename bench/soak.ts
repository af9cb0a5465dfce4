import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { Client } from 'pg';
import { openApi } from './api.ts';
import { randomNumbers } from './corpus.ts';
import { importPages } from './import-pages.ts';
import { median } from './median.ts';
import { memoryOf, pidsBelow } from './processes.ts';
import { makeKeyFor, type ServiceProcess, startServiceProcess } from './service-process.ts';
import { startMixedLoad } from './soak/mixed-load.ts';

const USAGE = `Usage: npm run bench -- soak [options]
  --minutes 360        for how long
  --rate 20            requests a second
  --pages 2000         pages at the beginning
  --kill-minutes 10    how often one of its processes, chosen at random, is killed with -9; 0: never
  --rows 24            rows of the table, each with the same share of the time
  --seed N             of the kinds of requests and of the kills
`;

/**
 * Runs a mixed load for hours on one service with its own PostgreSQL, and kills its processes one after another. Prints
 * memory, size on disk and latency over time. Fails if an acknowledged page has another text at the end, and at an
 * answer other than a success or 503 with Retry-After.
 */
const options = readOptions();
const random = randomNumbers(options.seed);
console.log(
  `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}; ${options.rate} requests a second for ${options.minutes} minutes, seed ${options.seed}`,
);
const folder = await mkdtemp(join(tmpdir(), 'ibid-soak-'));
const dataDir = join(folder, 'data');
let service: ServiceProcess | undefined;
try {
  service = await startServiceProcess(dataDir);
  const api = openApi(service.address, await makeKeyFor(dataDir, 'soak@example.com'));
  const { overview } = await api.post('/v1/onboarding');
  const { wiki_id } = overview.wikis[0];
  await importPages(api, wiki_id, options.pages);
  const load = startMixedLoad({
    token: api.token,
    wiki_id,
    rate: options.rate,
    random,
    address: () => service?.address,
  });
  const kills = await run(load);
  await load.stop();
  const wrong = [...load.wrong, ...(await load.differing())];
  console.log(
    `${load.counts.answered} answers, ${load.counts.written} acknowledged writes, ${load.counts.unavailable} answers 503 with Retry-After, ` +
      `${load.counts.unanswered} without an answer while the service was killed, ${kills} kills; ${wrong.length} wrong or lost`,
  );
  for (const line of wrong.slice(0, 20)) console.log(line);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  await service?.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

interface Sizes {
  database_mb: number;
  revisions: number;
  files_mb: number;
}

/** Prints a row for each part of the time and kills processes. Returns the number of kills. */
async function run(load: ReturnType<typeof startMixedLoad>): Promise<number> {
  const begin = performance.now();
  const part_ms = (options.minutes * 60_000) / options.rows;
  const kill_ms = options.kill_minutes * 60_000;
  let kills = 0;
  let nextKill = kill_ms === 0 ? Number.POSITIVE_INFINITY : begin + kill_ms;
  console.log(
    ' minute   memory MB (service)   database MB   revisions   KB each   files MB   read p50 p99 ms   write p50 p99 ms   kills',
  );
  for (let row = 1; row <= options.rows; row += 1) {
    const memory: { pss_mb: number; own_pss_mb: number }[] = [];
    const end = begin + row * part_ms;
    while (performance.now() < end) {
      await delay(Math.min(5_000, Math.max(0, end - performance.now())));
      if (service) memory.push(memoryOf(service.pid));
      if (performance.now() < nextKill) continue;
      await killOne(load);
      kills += 1;
      nextKill += kill_ms;
    }
    const { reads, writes } = load.takeLatencies();
    const { database_mb, revisions, files_mb } = await sizes();
    const cells = [
      [Math.round((row * part_ms) / 60_000), 7],
      [
        `${Math.round(median(memory.map((each) => each.pss_mb)))} (${Math.round(median(memory.map((each) => each.own_pss_mb)))})`,
        22,
      ],
      [database_mb.toFixed(0), 14],
      [revisions, 12],
      [((1024 * database_mb) / revisions).toFixed(1), 10],
      [files_mb.toFixed(1), 11],
      [`${reads.p50.toFixed(1)} ${reads.p99.toFixed(0)}`, 18],
      [`${writes.p50.toFixed(1)} ${writes.p99.toFixed(0)}`, 19],
      [kills, 8],
    ] as const;
    console.log(cells.map(([text, width]) => String(text).padStart(width)).join(''));
  }
  return kills;
}

/** Kills the service or a process below it, and restarts the service if it was killed. */
async function killOne(load: ReturnType<typeof startMixedLoad>): Promise<void> {
  if (!service) return;
  const pids = [service.pid, ...pidsBelow(service.pid)];
  const pid = pids[Math.floor(random() * pids.length)] ?? service.pid;
  load.setDisturbed(true);
  process.kill(pid, 'SIGKILL');
  if (pid === service.pid) {
    // Its child processes end by themselves, or the next service takes them over.
    service = undefined;
    service = await startServiceProcess(dataDir);
  } else await delay(5_000);
  load.setDisturbed(false);
}

/** Reads the sizes; retries while PostgreSQL recovers from a kill. */
async function sizes(): Promise<Sizes> {
  for (let tries = 1; ; tries += 1) {
    const database = new Client(runningPostgres(dataDir) ?? {});
    // An error of the connection also fails its query, which is caught below.
    database.on('error', () => undefined);
    try {
      await database.connect();
      const { rows } = await database.query(
        `select pg_database_size(current_database()) / 1048576.0 as database_mb, (select count(*)::int from revisions) as revisions,
          (select coalesce(sum(byte_size), 0) / 1048576.0 from sources) as files_mb`,
      );
      const [{ database_mb, revisions, files_mb }] = rows;
      return { database_mb: Number(database_mb), revisions, files_mb: Number(files_mb) };
    } catch (error) {
      if (tries === 60) throw error;
      await delay(1_000);
    } finally {
      await database.end().catch(() => undefined);
    }
  }
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '360' },
      rate: { type: 'string', default: '20' },
      pages: { type: 'string', default: '2000' },
      'kill-minutes': { type: 'string', default: '10' },
      rows: { type: 'string', default: '24' },
      seed: { type: 'string', default: String(Math.floor(Date.now() / 1000)) },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit();
  }
  return {
    minutes: Number(values.minutes),
    rate: Number(values.rate),
    pages: Number(values.pages),
    kill_minutes: Number(values['kill-minutes']),
    rows: Number(values.rows),
    seed: Number(values.seed),
  };
}
