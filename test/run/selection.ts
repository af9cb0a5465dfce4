import { execFileSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bundles } from './bundles.ts';
import { ROOT } from './cache.ts';

/** Parsed arguments of `node test/run.ts`. */
export interface Request {
  /** Runs every test with all its examples, instead of only the tests needed to accept a change. */
  all: boolean;
  /** Test files to run, or all if empty. */
  files: readonly string[];
  /** Of the tests that `--all` adds, runs only tests that reach a file changed since this revision. */
  touchedSince: string | undefined;
  /** No file starts after this many minutes. */
  minutes: number;
  nodeOptions: readonly string[];
}

export const USAGE = `Usage: npm test -- [FILE or FOLDER…] [--all] [--test-name-pattern=TEXT] [--touched-since=REVISION] [--minutes=N]
`;

const LONG = /\.long\.test\.ts$/;
const EXTENT = 'test/extent.ts';
const SHARED = 'test/shared-world.ts';
/** At a larger distance, a change reaches nearly every test. */
const FAR = 1_000;

/** Parses the command line. Throws an Error with a readable message if a path has no tests. */
export function readRequest(args: readonly string[]): Request {
  const own = /^--(?:all|touched-since|minutes)\b/;
  const isForNode = (text: string) => text.startsWith('--') && !own.test(text);
  const { values, positionals } = parseArgs({
    args: args.filter((text) => !isForNode(text)),
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      'touched-since': { type: 'string' },
      minutes: { type: 'string', default: 'Infinity' },
    },
  });
  return {
    all: values.all,
    files: [...new Set(positionals.flatMap(testsAt))],
    touchedSince: values['touched-since'],
    minutes: Number(values.minutes),
    nodeOptions: args.filter(isForNode),
  };
}

/** Returns the test file at this path, or all test files in the folder at this path. */
function testsAt(path: string): string[] {
  const place = relative(ROOT, resolve(path));
  if (!existsSync(path)) throw new Error(`There is no file or folder ${path}.`);
  const found = statSync(path).isDirectory() ? globSync(join(place, '**/*.test.ts'), { cwd: ROOT }).sort() : [place];
  if (found.length === 0) throw new Error(`There are no tests in ${path}: their names end in .test.ts.`);
  return found;
}

/** Returns the test files of a run, before they are filtered by their imports. */
export function filesOf({ files, all }: Request): readonly string[] {
  if (files.length > 0) return files;
  const every = globSync(['packages/**/*.test.ts', 'src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts'], {
    cwd: ROOT,
  }).sort();
  return all ? every : every.filter((file) => !LONG.test(file));
}

/**
 * Filters for test files that try more with `--all` and that reach a file changed since `revision` by their imports,
 * closest first. A test in the folder of a changed file counts as importing it.
 */
export function touched(files: readonly string[], bundles: Bundles, revision: string): string[] {
  const changed = execFileSync('git', ['diff', '--name-only', revision], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const distanceOf = (file: string): number => {
    const imports = bundles.importsOf(file);
    const isLonger = LONG.test(file) || imports.has(EXTENT);
    if (!isLonger) return FAR;
    const near = (path: string) => (dirname(path) === dirname(file) ? 1 : FAR);
    return Math.min(FAR, ...changed.map((path) => Math.min(imports.get(path) ?? FAR, near(path))));
  };
  return files
    .map((file) => ({ file, distance: distanceOf(file) }))
    .filter(({ distance }) => distance < FAR)
    .sort((one, other) => one.distance - other.distance)
    .map(({ file }) => file);
}

/** Modules that start processes or servers, or that change the globals of all files in a process. */
const IMPURE =
  /^(?:node:)?(?:child_process|worker_threads|cluster|net|http|https|http2|dgram|inspector)$|^playwright-core$|^pg$/;

/** Returns what a file can share with other files: a process, a process with a service, or neither. */
export function sharingOf(file: string, bundles: Bundles): 'process' | 'service' | 'none' {
  const imports = [...bundles.importsOf(file).keys()];
  if (imports.includes(SHARED)) return 'service';
  return imports.some((path) => IMPURE.test(path) || /node_modules\/pg\//.test(path)) ? 'none' : 'process';
}
