import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../src/db/postgres/postgres.ts';
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
const folder = await mkdtemp(join(tmpdir(), 'ibid-run-'));
const postgres = process.env.DATABASE_URL ? undefined : await startPostgres({ dataDir: folder, log: () => undefined });
const env = {
  ...process.env,
  // Each file is a process that loads the whole service; the first ones compile it for all.
  NODE_COMPILE_CACHE: join(folder, 'compiled'),
  IBID_TEST_DATABASE_URL: postgres ? addressOf(postgres.connection) : process.env.DATABASE_URL,
};

const tests = files.length > 0 ? files : globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts']).sort();
const runner = spawn(process.execPath, ['--test', '--test-concurrency=2', `--test-timeout=${HANGS_MS}`, ...tests], {
  stdio: 'inherit',
  env,
});
const code = await new Promise<number>((resolve) => runner.on('exit', (status) => resolve(status ?? 1)));
await postgres?.stop();
await rm(folder, { recursive: true, force: true });
process.exitCode = code;
