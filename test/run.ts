import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PoolConfig } from 'pg';
import { type OwnerDb, openDb } from '../src/db/db.ts';
import { SUPERUSER } from '../src/db/postgres/cluster.ts';
import { startPostgres } from '../src/db/postgres/postgres.ts';
import { prepareDatabase } from '../src/db/prepare-database.ts';
import { raw } from '../src/db/sql.ts';
import { addressOf } from './world.ts';

/**
 * Runs every test, on one PostgreSQL that is started for the run, or on DATABASE_URL. Arguments: the files to run
 * instead of all.
 */
const files = process.argv.slice(2);
/**
 * For a file or a test that hangs. What waits for something fails long before, and says for what (until.ts). A fuzzer runs
 * for FUZZ_MINUTES.
 */
const HANGS_MS = (20 + Number(process.env.FUZZ_MINUTES || 0)) * 60_000;
/** A migrated database, of which each test gets a copy: the migrations of each would take a minute of the run. */
const TEMPLATE = 'ibid_test_template';
const folder = await mkdtemp(join(tmpdir(), 'ibid-run-'));
const postgres = process.env.DATABASE_URL ? undefined : await startPostgres({ dataDir: folder, log: () => undefined });
if (postgres) {
  await makeTemplate(postgres.connection).catch(async (error: unknown) => {
    await postgres.stop();
    throw error;
  });
}
const env = {
  ...process.env,
  // Each file is a process that loads the whole service; the first ones compile it for all.
  NODE_COMPILE_CACHE: join(folder, 'compiled'),
  ...(postgres && { IBID_TEST_TEMPLATE: TEMPLATE }),
  IBID_TEST_DATABASE_URL: postgres ? addressOf(postgres.connection) : process.env.DATABASE_URL,
};

const tests = files.length > 0 ? files : globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts']).sort();
const runner = spawn(process.execPath, ['--test', '--test-concurrency=3', `--test-timeout=${HANGS_MS}`, ...tests], {
  stdio: 'inherit',
  env,
});
const code = await new Promise<number>((resolve) => runner.on('exit', (status) => resolve(status ?? 1)));
await postgres?.stop();
await rm(folder, { recursive: true, force: true });
process.exitCode = code;

async function makeTemplate(connection: PoolConfig): Promise<void> {
  await ask({ ...connection, user: SUPERUSER, database: 'postgres' }, async ({ query }) => {
    // What a test writes here need not outlive the machine.
    await query(raw('alter system set fsync = off'));
    await query(raw('select pg_reload_conf()'));
  });
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
