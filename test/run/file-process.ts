import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Bundles } from './bundles.ts';
import type { EndedTest, Note } from './event-lines.ts';
import { withSourcePlaces } from './source-places.ts';

/** Result of the process of a test file, or of several files. */
export interface FileResult {
  seconds: number;
  tests: EndedTest[];
  notes: string[];
  /** stdout and stderr of the process. */
  output: string;
  /** How the process ended, unless it exited with 0 or with a failed test. */
  problem: string | undefined;
}

export interface FileProcess {
  files: readonly string[];
  bundles: Bundles;
  /** Options of node, such as `--test-name-pattern`. */
  options: readonly string[];
  env: NodeJS.ProcessEnv;
  events: string;
  /** A process in which no test has ended for this long is killed. */
  hangsMs: number;
}

/** Characters of output kept. A test file that writes more has a bug, and the beginning is enough to find it. */
const OUTPUT_MAX = 200_000;
const LOOK_MS = 5_000;

/** Runs test files in one process. Several files must be pure or share a service: they share their globals. */
export async function runFiles({ files, bundles, options, env, events, hangsMs }: FileProcess): Promise<FileResult> {
  const started = performance.now();
  const isolation = files.length > 1 ? ['--test', '--test-isolation=none'] : [];
  const reporter = [`--test-reporter=${bundles.reporter}`, `--test-reporter-destination=${events}`];
  const child = spawn(
    process.execPath,
    ['--import', bundles.hooks, ...isolation, ...reporter, ...options, ...files.map(bundles.of)],
    // A session of its own: Ctrl C in a terminal reaches only the runner, which ends everything in order.
    { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < OUTPUT_MAX) output += text;
    });
  const hung = watch(child.pid, events, hangsMs);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...end) => resolve(end));
  });
  // Drop the text after the last line break: it is empty, or a partial line of a killed process.
  const lines = existsSync(events) ? readFileSync(events, 'utf8').split('\n').slice(0, -1) : [];
  const entries = lines.map((text): EndedTest | Note => JSON.parse(text));
  const tests = entries.filter((entry) => 'outcome' in entry);
  const problem = hung()
    ? `No test of it ended for ${Math.round(hangsMs / 60_000)} minutes, so it was killed.`
    : signal !== null
      ? `Its process was ended by ${signal}.`
      : code !== 0 && !tests.some(({ outcome }) => outcome === 'failed')
        ? `Its process exited with code ${code}.`
        : undefined;
  return {
    seconds: (performance.now() - started) / 1_000,
    tests: tests.map((test) => ({ ...test, error: withSourcePlaces(test.error) })),
    notes: entries.flatMap((entry) => ('note' in entry ? [entry.note] : [])),
    output: withSourcePlaces(output),
    problem,
  };
}

/**
 * Kills a process without progress. Returns a function that stops watching and returns whether the process was killed.
 */
function watch(pid: number | undefined, events: string, hangsMs: number): () => boolean {
  let [size, since, isKilled] = [0, performance.now(), false];
  const timer = setInterval(
    () => {
      const now = existsSync(events) ? readFileSync(events).length : 0;
      if (now > size) [size, since] = [now, performance.now()];
      if (performance.now() - since <= hangsMs || pid === undefined) return;
      isKilled = true;
      // Kill the process group, including its children.
      process.kill(-pid, 'SIGKILL');
    },
    Math.min(LOOK_MS, hangsMs),
  );
  return () => {
    clearInterval(timer);
    return isKilled;
  };
}
