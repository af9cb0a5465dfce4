import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import { startPostgres } from '../src/db/postgres/postgres.ts';
import { runningPostgres } from '../src/db/postgres/running.ts';
import { median } from './compare.ts';
import { importPages } from './import-pages.ts';
import { memoryOf } from './processes.ts';
import { serviceEnv } from './service-process.ts';
import { untilSettled } from './settled.ts';
import { startBench } from './start-bench.ts';

const USAGE = `Usage: npm run bench:backups -- [options]
  --pages 100000   pages of the wiki
  --flips 5        how often a bit of a backup is flipped, which verify-backup must find
`;

/**
 * Backups of a large wiki, encrypted, with writers beside them: how long a backup, its check and a restore take, what the writers wait
 * meanwhile, whether each flipped bit is found, and whether what was restored has the same rows. It fails where it has not.
 */
const options = readOptions();
const IBID = new URL('../bin/ibid', import.meta.url).pathname;
const WRITERS = 4;
const PAUSE_MS = 20;
/** A write that waits longer than this is counted. */
const LONG_MS = 100;
const ALONE_MS = 15_000;
/** migrations: when each was applied. backup_status: of the backups themselves. service_controls: what was restored waits. workers: of now. */
const OF_A_SERVER = ['migrations', 'backup_status', 'service_controls', 'workers', 'wal_archive'];

const folder = await mkdtemp(join(tmpdir(), 'ibid-bench-backups-'));
const backups = join(folder, 'backups');
const BACKUP_KEY_FILE = join(folder, 'backup.key');
await writeFile(BACKUP_KEY_FILE, randomBytes(32).toString('hex'), { mode: 0o600 });
const place = { BACKUP_URL: `file://${backups}`, BACKUP_KEY_FILE };
const bench = await startBench(place);
try {
  console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  await importPages(bench.api, bench.wiki_id, options.pages);
  console.log(`${options.pages} pages, ${Math.round(await databaseSize())} MB in the database`);
  await untilSettled(runningPostgres(bench.dataDir) ?? {});
  const alone = await writeDuring(delay(ALONE_MS));
  console.log(`writes alone:            ${alone}`);
  const first = ibid(bench.dataDir, 'backup');
  const beside = await writeDuring(first);
  console.log(`writes beside a backup:  ${beside}`);
  console.log(`first backup: ${described(await first)}`);
  // What follows the writers would go on meanwhile: the index, jobs, counts.
  await bench.service.stop();
  console.log(
    `the next one: ${described(await ibid(bench.dataDir, 'backup'))}; ${Math.round((await sizeOf(backups)) / 1e6)} MB stored`,
  );
  console.log(`verify-backup: ${described(await ibid(bench.dataDir, 'verify-backup'))}`);
  await flipBits();
  const before = await sumsIn(bench.dataDir);
  const target = join(folder, 'restored');
  console.log(`restore: ${described(await ibid(target, 'restore'))}`);
  await compare(before, target);
} finally {
  await bench.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

interface Run {
  seconds: number;
  peak_mb: number;
}

function described(run: Run): string {
  return `${run.seconds.toFixed(1)} s, at most ${Math.round(run.peak_mb)} MB`;
}

/** Errors: that of the command, if it ends with another code than 0. */
async function ibid(dataDir: string, ...args: string[]): Promise<Run> {
  const begin = performance.now();
  const running = promisify(execFile)(process.execPath, [IBID, ...args], { env: { ...serviceEnv(dataDir), ...place } });
  let peak_mb = 0;
  const watch = setInterval(() => {
    if (running.child.pid && running.child.exitCode === null)
      peak_mb = Math.max(peak_mb, memoryOf(running.child.pid).pss_mb);
  }, 250);
  try {
    await running;
  } finally {
    clearInterval(watch);
  }
  return { seconds: (performance.now() - begin) / 1_000, peak_mb };
}

/** Creates and edits pages until the work is done, and says how long that took each time. */
async function writeDuring(work: Promise<unknown>): Promise<string> {
  const waits: number[] = [];
  let isOver = false;
  const write = async (writer: number) => {
    for (let i = 0; !isOver; i += 1) {
      const begin = performance.now();
      await bench.api.post(`/v1/wikis/${bench.wiki_id}/pages`, {
        title: `Beside ${writer} ${i}`,
        markdown: `Text ${i}`,
      });
      waits.push(performance.now() - begin);
      await delay(PAUSE_MS);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  await work.finally(() => {
    isOver = true;
  });
  await Promise.all(writers);
  waits.sort((a, b) => a - b);
  const long = waits.filter((ms) => ms > LONG_MS).length;
  return (
    `${waits.length}, ${median(waits).toFixed(1)} ms, p99 ${waits[Math.floor(waits.length * 0.99)]?.toFixed(0)} ms, ` +
    `longest ${waits.at(-1)?.toFixed(0)} ms, ${long} above ${LONG_MS} ms`
  );
}

/**
 * Flips a random bit of a random file of the latest backup, which is the one that is checked, and back again. Errors: Error if a
 * check does not find it.
 */
async function flipBits(): Promise<void> {
  const older = (await readdir(join(backups, 'backups'))).sort().slice(0, -1);
  const files = (await filesBelow(backups)).filter(
    ({ path, size }) => size > 0 && !older.some((backup_id) => path.includes(backup_id)),
  );
  for (let i = 0; i < options.flips; i += 1) {
    const { path, size } = files[Math.floor(Math.random() * files.length)] ?? { path: '', size: 0 };
    const at = Math.floor(Math.random() * size);
    const mask = 1 << Math.floor(Math.random() * 8);
    await flip(path, at, mask);
    const said = await ibid(bench.dataDir, 'verify-backup').then(
      () => 'it is whole',
      ({ stdout, stderr }) => `${stdout}${stderr}`,
    );
    await flip(path, at, mask);
    if (!said.includes(relative(backups, path)))
      throw new Error(`a flipped bit at ${at} of ${path} was not found: ${said}`);
  }
  console.log(`${options.flips} flipped bits in any of ${files.length} files: all found`);
}

async function flip(path: string, at: number, mask: number): Promise<void> {
  const file = await open(path, 'r+');
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  buffer.writeUInt8(buffer.readUInt8(0) ^ mask);
  await file.write(buffer, 0, 1, at);
  await file.close();
}

async function filesBelow(path: string): Promise<{ path: string; size: number }[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => ({
        path: join(entry.parentPath, entry.name),
        size: (await stat(join(entry.parentPath, entry.name))).size,
      })),
  );
}

async function sizeOf(path: string): Promise<number> {
  return (await filesBelow(path)).reduce((sum, { size }) => sum + size, 0);
}

/** Of each table the number of rows and the sum of their hashes, in any order. */
async function sumsOf(connection: ClientConfig): Promise<Map<string, string>> {
  return withClient(connection, async (database) => {
    const { rows: tables } = await database.query(
      `select quote_ident(relname) as name from pg_class
        where relnamespace = current_schema()::regnamespace and relkind = 'r' and relpersistence = 'p' and relname <> all ($1)
        order by 1`,
      [OF_A_SERVER],
    );
    const sums = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await database.query(
        `select count(*) || ' rows, ' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) as sum from only ${name} t`,
      );
      sums.set(name, rows[0].sum);
    }
    return sums;
  });
}

async function sumsIn(dataDir: string): Promise<Map<string, string>> {
  const postgres = await startPostgres({ dataDir, log: () => undefined });
  return sumsOf(postgres.connection).finally(() => postgres.stop());
}

/** Prints which tables differ, and fails where there are any. */
async function compare(before: Map<string, string>, target: string): Promise<void> {
  const after = await sumsIn(target);
  const differing = [...before].filter(([name, sum]) => after.get(name) !== sum).map(([name]) => name);
  console.log(
    `${before.size} tables compared by hash of their rows; ${differing.length} differ ${differing.join(', ')}`,
  );
  if (differing.length > 0) process.exitCode = 1;
}

function databaseSize(): Promise<number> {
  return withClient(runningPostgres(bench.dataDir) ?? {}, async (database) => {
    const { rows } = await database.query('select pg_database_size(current_database()) / 1e6 as mb');
    return Number(rows[0].mb);
  });
}

async function withClient<T>(connection: ClientConfig, work: (database: Client) => Promise<T>): Promise<T> {
  const database = new Client(connection);
  await database.connect();
  return work(database).finally(() => database.end());
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      pages: { type: 'string', default: '100000' },
      flips: { type: 'string', default: '5' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit();
  }
  return { pages: Number(values.pages), flips: Number(values.flips) };
}
