import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import type { BuildInfo } from '../src/platform/core/package/package-files.ts';
import { buildBrowserFiles } from './browser-files.ts';
import { CONFINED, DATA, FOR_NODE, SERVICE } from './programs.ts';
import { hashOfSources } from './when-needed.js';

/**
 * Builds dist: the service with the `ibid` command, the programs of confined processes, and the files for browsers
 * (dist/assets). With `--fast` the latter are compressed less.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const isFast = process.argv.includes('--fast');

const sources = hashOfSources();
// dist is replaced as a whole: a failed build leaves the last one.
const folder = `${DIST}-${process.pid}`;
await mkdir(folder);
try {
  const entryPoints = { ...SERVICE, ...CONFINED };
  const [assets, { metafile }] = await Promise.all([
    buildBrowserFiles(ROOT, join(folder, 'assets'), isFast),
    build({ ...FOR_NODE, absWorkingDir: ROOT, metafile: true, entryPoints, outdir: folder }),
    ...Object.entries(DATA).map(([name, from]) => cp(join(ROOT, from), join(folder, name), { recursive: true })),
  ]);
  const info: BuildInfo & { sources: string } = { sources, programs: await hashOf(loadedBy(metafile)), assets };
  await writeFile(join(folder, 'build.json'), JSON.stringify(info));
  await rm(DIST, { recursive: true, force: true });
  await rename(folder, DIST);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Returns the outputs that confined processes load, at once or on demand. */
function loadedBy({ outputs }: Metafile): string[] {
  const found = new Set(Object.keys(CONFINED).map((name) => relative(ROOT, join(folder, `${name}.mjs`))));
  for (const path of found) for (const next of outputs[path]?.imports ?? []) if (!next.external) found.add(next.path);
  return [...found].sort();
}

async function hashOf(names: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const name of names) hash.update(await readFile(join(ROOT, name)));
  return hash.digest('hex');
}
