import { existsSync, globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type EventData, run } from 'node:test';
import { spec } from 'node:test/reporters';
import type { PoolConfig } from 'pg';
import { type OwnerDb, openDb } from '../src/db/db.ts';
import { SUPERUSER } from '../src/db/postgres/cluster.ts';
import { type Postgres, startPostgres } from '../src/db/postgres/postgres.ts';
import { prepareDatabase } from '../src/db/prepare-database.ts';
import { raw } from '../src/db/sql.ts';
import { bundleTests } from './bundle-tests.ts';
import { addressOf } from './database-address.ts';
import { killHangingFiles } from './hanging-files.ts';
import { inSources } from './source-places.ts';

/**
 * Runs every test, on one PostgreSQL that is started for the run, or on DATABASE_URL. Arguments: the files to run
 * instead of all, and options of node for each of them, as --test-name-pattern=TEXT.
 */
const given = process.argv.slice(2);
const nodeOptions = given.filter((text) => text.startsWith('--'));
const files = given.filter((text) => !text.startsWith('--'));
/**
 * For a file or a test that hangs. What waits for something fails long before, and says for what (until.ts). A fuzzer runs
 * for FUZZ_MINUTES, and what counts its cases for as long as FILE_MINUTES.
 */
const HANGS_MS = (20 + Number(process.env.FUZZ_MINUTES || 0) + Number(process.env.FILE_MINUTES || 0)) * 60_000;
/** On two CPUs: most of the time a file waits, for a database, a process, a timer. */
const FILES_AT_ONCE = 6;
/** As many files that failed run a second time, one at a time. More at once are no accident of the machine. */
const RUN_AGAIN = 3;
/** How many of the files that took longest are printed, where there are more. */
const SHOWN = 50;
/** What takes longest begins first, so that in the end nothing waits for one file. */
const LONGEST = [
  'test/matrix.test.ts',
  'src/ingest/split-documents.test.ts',
  'src/verification/verification.test.ts',
  'test/contract-input.test.ts',
  'web/screens.test.ts',
  'src/ingest/hostile-texts.test.ts',
  'src/db/postgres/postgres.test.ts',
  'test/contract.test.ts',
  'test/fuzz-faults.test.ts',
  'test/kill.test.ts',
  'web/saving.test.ts',
  'src/jobs/jobs.test.ts',
  'web/passages.test.ts',
  'web/writing.test.ts',
  'test/workers.test.ts',
  'src/pages/search.test.ts',
  'src/backup/backup.test.ts',
  'test/start.test.ts',
  'test/kill-uploads.test.ts',
  'test/row-security.test.ts',
  'test/kill-sync.test.ts',
  'test/storage.test.ts',
  'test/statements.test.ts',
  'src/ingest/surroundings/title-links.test.ts',
  'src/sources/citations.test.ts',
  'src/sandbox/document-reader.test.ts',
  'test/contract-paths.test.ts',
  'web/journey.test.ts',
  'web/settings-journey.test.ts',
  'test/paging-plans.test.ts',
  'src/sources/shown-blocks.test.ts',
  'src/sources/lines.test.ts',
  'web/finding.test.ts',
  'src/sandbox/sandbox.test.ts',
  'web/widgets.test.ts',
  'src/pages/pages.test.ts',
  'test/billing-document.test.ts',
  'src/backup/wal/recovery.test.ts',
  'src/ingest/archives.test.ts',
  'src/ingest/documents.test.ts',
  'src/usage/usage.test.ts',
  'test/kubernetes-pods.test.ts',
  'src/jobs/isolation.test.ts',
  'test/event-streams.test.ts',
  'src/transfer/import/imports.test.ts',
  'src/session/password/password.test.ts',
  'web/diagrams.test.ts',
  'test/pool-lanes.test.ts',
  'test/races.test.ts',
  'test/audit.test.ts',
];
/** A migrated database, of which each test gets a copy: the migrations of each would take a minute of the run. */
const TEMPLATE = 'ibid_test_template';
const tests = longestFirst(
  files.length > 0 ? files : globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts']).sort(),
);
const folder = await mkdtemp(join(tmpdir(), 'ibid-run-'));
// Imported by each of them. Bundled too: to strip the types of one file a process loads a compiler.
const IMPORTED = 'test/without-async-hooks.ts';
const bundled = await bundleTests([...tests, IMPORTED], folder);
const bundleOf = (file: string) => bundled.get(file) ?? '';
const postgres = process.env.DATABASE_URL ? undefined : await startForTests();
const env = {
  ...process.env,
  // The first files compile what they share for all.
  NODE_COMPILE_CACHE: join(folder, 'compiled'),
  ...(postgres && { IBID_TEST_TEMPLATE: TEMPLATE }),
  IBID_TEST_DATABASE_URL: postgres ? addressOf(postgres.connection) : process.env.DATABASE_URL,
};

let failed = await runFiles(tests.map(bundleOf), FILES_AT_ONCE);
if (failed.length > 0 && failed.length <= RUN_AGAIN) {
  const again = failed;
  console.log(`\nAgain, one at a time, since their failures may be those of a loaded machine: ${named(again)}\n`);
  failed = await runFiles(again, 1);
  const passed = again.filter((file) => !failed.includes(file));
  if (passed.length > 0) console.log(`\nFailed, and passed when they ran alone. Find out why: ${named(passed)}`);
}
await postgres?.stop();
await rm(folder, { recursive: true, force: true });
process.exitCode = failed.length > 0 ? 1 : 0;

/** Runs test files, prints what they print, and answers those that failed. */
async function runFiles(bundles: string[], concurrency: number): Promise<string[]> {
  const stream = run({
    files: bundles,
    concurrency,
    timeout: HANGS_MS,
    execArgv: ['--import', bundleOf(IMPORTED), ...nodeOptions],
    env,
  });
  // One that ended without a summary has failed, too.
  const passed = new Set<string>();
  const durations: [bundle: string, seconds: number][] = [];
  stream.on('test:summary', ({ file, success, duration_ms }: EventData.TestSummary) => {
    if (file === undefined) return;
    if (success) passed.add(file);
    durations.push([file, duration_ms / 1_000]);
  });
  const stopLooking = killHangingFiles(bundles, HANGS_MS + 10_000);
  await pipeline(stream, inSources(), new spec(), process.stdout, { end: false });
  stopLooking();
  if (durations.length > SHOWN) {
    const longest = durations.sort(([, one], [, other]) => other - one).slice(0, SHOWN);
    console.log(
      `\nTook longest, in seconds:\n${longest.map(([file, s]) => `${s.toFixed(0).padStart(4)} ${named([file])}`).join('\n')}`,
    );
  }
  return bundles.filter((file) => !passed.has(file));
}

/** The test files that bundles are made of. */
function named(bundles: string[]): string {
  return tests.filter((file) => bundles.includes(bundleOf(file))).join(', ');
}

function longestFirst(files: string[]): string[] {
  const moved = LONGEST.filter((file) => !existsSync(file));
  if (moved.length > 0) throw new Error(`LONGEST in test/run.ts names files that are not there: ${moved.join(', ')}`);
  return [...LONGEST.filter((file) => files.includes(file)), ...files.filter((file) => !LONGEST.includes(file))];
}

/** A PostgreSQL with the template. */
async function startForTests(): Promise<Postgres> {
  const options = { dataDir: folder, log: () => undefined };
  let server = await startPostgres(options);
  try {
    await setUp(server.connection);
    await server.stop();
    server = await startPostgres(options);
    await makeTemplate(server.connection);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** What counts from the next start on. */
async function setUp(connection: PoolConfig): Promise<void> {
  await ask({ ...connection, user: SUPERUSER, database: 'postgres' }, async ({ query }) => {
    // What a test writes here need not outlive the machine.
    await query(raw('alter system set fsync = off'));
    await query(raw('alter system set full_page_writes = off'));
    // A file may run several services, each with its own pool.
    await query(raw('alter system set max_connections = 200'));
  });
}

async function makeTemplate(connection: PoolConfig): Promise<void> {
  await ask(connection, ({ query }) => query(raw(`create database ${TEMPLATE} encoding 'UTF8' template template0`)));
  await ask({ ...connection, database: TEMPLATE }, (db) =>
    prepareDatabase(db, { url: undefined, dataDir: folder }, () => undefined),
  );
}

async function ask(connection: PoolConfig, work: (db: OwnerDb) => Promise<unknown>): Promise<void> {
  const db = openDb({ connection, connections: 1 });
  try {
    await work(db);
  } finally {
    await db.close();
  }
}
