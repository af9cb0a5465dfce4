import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildWhenNeeded } from '../build/when-needed.js';
import { addressOf } from './database-address.ts';
import { type Bundles, bundleTests } from './run/bundles.ts';
import { CACHE } from './run/cache.ts';
import { openDurations } from './run/durations.ts';
import { endProcesses } from './run/end-processes.ts';
import { type FileResult, runFiles } from './run/file-process.ts';
import { placeOfRuns } from './run/memory-folder.ts';
import { startPostgresForTests, TEMPLATE } from './run/postgres.ts';
import { openReport } from './run/report.ts';
import { filesOf, type Request, readRequest, sharingOf, touched, USAGE } from './run/selection.ts';

/**
 * Runs tests on a PostgreSQL that is started for the run, or on DATABASE_URL: the tests needed to accept a change, or
 * every test with `--all`. Exits with 1 if a test failed, and with 130 after Ctrl C.
 */

/** Kills a process in which no test ends for this long. Fuzzers and long counts add FUZZ_MINUTES and FILE_MINUTES. */
const HANGS_MS = (20 + Number(process.env.FUZZ_MINUTES || 0) + Number(process.env.FILE_MINUTES || 0)) * 60_000;
/** A file mostly waits: for a database, a process or a timer. */
const FILES_AT_ONCE = 6;
/** Maximum number of files that share a process: they run in sequence, and their memory adds up. */
const FILES_OF_A_PROCESS = 10;
/** Prints each test in a run of at most this many files. */
const DETAILED_MAX = 3;

let isStopped = false;
let request: Request;
try {
  request = readRequest(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n${USAGE}`);
  process.exit(1);
}
// Contains all files of the run, including temporary files of tests.
const folder = await mkdtemp(join(placeOfRuns(), 'ibid-run-'));
await chmod(folder, 0o711);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void stop());
try {
  process.exitCode = (await runAll(request)) ? 0 : 1;
} finally {
  if (!isStopped) await removeFolder();
}

async function runAll(request: Request): Promise<boolean> {
  // Services and confined processes that tests start run the built files.
  if (!buildWhenNeeded()) return false;
  const candidates = filesOf(request);
  const bundles = await bundleTests(candidates);
  const { touchedSince } = request;
  const files = touchedSince === undefined ? candidates : touched(candidates, bundles, touchedSince);
  const postgres = process.env.DATABASE_URL ? undefined : await startPostgresForTests(folder);
  try {
    return await runEach(request, files, bundles, postgres && addressOf(postgres.connection));
  } finally {
    await postgres?.stop();
  }
}

async function runEach(
  { all, minutes, nodeOptions, touchedSince }: Request,
  files: readonly string[],
  bundles: Bundles,
  database: string | undefined,
): Promise<boolean> {
  const report = openReport(files.length <= DETAILED_MAX);
  const temporary = join(folder, 'tmp');
  await mkdir(temporary);
  await chmod(temporary, 0o1777);
  const env = {
    ...process.env,
    TMPDIR: temporary,
    NODE_COMPILE_CACHE: join(CACHE, 'compiled'),
    IBID_TEST_CACHE: CACHE,
    IBID_TEST_DATABASE_URL: database ?? process.env.DATABASE_URL,
    ...(database !== undefined && { IBID_TEST_TEMPLATE: TEMPLATE }),
    ...(all && { IBID_TESTS: 'everything' }),
  };
  const durations = openDurations();
  const groups = grouped(files, bundles);
  const secondsOf = (group: readonly string[]) => group.reduce((sum, file) => sum + durations.of(file), 0);
  // The slowest groups start first, so that no core idles at the end.
  if (touchedSince === undefined) groups.sort((one, other) => secondsOf(other) - secondsOf(one));
  const deadline = performance.now() + minutes * 60_000;
  const left: string[] = [];
  let next = 0;
  async function runGroups(): Promise<void> {
    for (let at = next++; at < groups.length && !isStopped; at = next++) {
      const group = groups[at] ?? [];
      if (performance.now() > deadline) left.push(...group);
      else {
        const events = join(folder, `${at}.events`);
        const result = await runFiles({ files: group, bundles, options: nodeOptions, env, events, hangsMs: HANGS_MS });
        if (isStopped) return;
        for (const [file, part] of byFile(group, result, bundles)) {
          report.ended(file, part);
          if (group.includes(file)) durations.set(file, part.seconds);
        }
      }
    }
  }
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, runGroups));
  // A run of selected tests does not show how long whole files take.
  if (nodeOptions.length === 0) durations.save();
  if (left.length > 0) console.log(`\nNot started within ${minutes} minutes: ${left.join(', ')}`);
  return !isStopped && (report.end() || left.length === files.length);
}

/**
 * Groups the files by process: pure files share a process, files that share a service do too, and every other file has
 * its own.
 */
function grouped(files: readonly string[], bundles: Bundles): string[][] {
  const groups: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const kind = sharingOf(file, bundles);
    const group = open.get(kind);
    if (kind !== 'none' && group && group.length < FILES_OF_A_PROCESS) group.push(file);
    else {
      const started = [file];
      open.set(kind, started);
      groups.push(started);
    }
  }
  return groups;
}

/** Divides the results of a process by file. */
function byFile(files: readonly string[], result: FileResult, bundles: Bundles): [string, FileResult][] {
  const [only = '', ...more] = files;
  if (more.length === 0) return [[only, result]];
  const fileOf = new Map(files.map((file) => [bundles.of(file), file]));
  const parts = files.map((file): [string, FileResult] => {
    const tests = result.tests.filter((test) => fileOf.get(test.file ?? '') === file);
    const ms = tests.reduce((sum, { nesting, ms }) => sum + (nesting === 0 ? ms : 0), 0);
    return [file, { seconds: ms / 1_000, tests, notes: [], output: '', problem: undefined }];
  });
  const rest = result.tests.filter((test) => !fileOf.has(test.file ?? ''));
  return [...parts, [`process of ${files.length} files`, { ...result, tests: rest }]];
}

/** Ends the run on a signal, with all processes that it started. */
async function stop(): Promise<void> {
  if (isStopped) return;
  isStopped = true;
  console.log('\nStopped. Ending everything that was started…');
  await endProcesses(process.pid, folder);
  await removeFolder();
  process.exit(130);
}

function removeFolder(): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
