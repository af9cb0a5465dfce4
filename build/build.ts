import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BuildInfo } from '../src/core/package/package-files.ts';
import { buildBrowserFiles } from './browser-files.ts';
import { CONFINED, DATA, FOR_NODE, SERVICE } from './programs.ts';
import { hashOfSources } from './when-needed.js';

/**
 * Builds dist: the service and the `ibid` command, the programs of confined processes (dist/confined), and the files for
 * browsers (dist/assets). With `--fast` the latter are compressed less.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const isFast = process.argv.includes('--fast');

const sources = hashOfSources();
// dist is replaced as a whole: a build that fails leaves the last one.
const folder = `${DIST}-${process.pid}`;
await mkdir(folder);
try {
  const [assets] = await Promise.all([
    buildBrowserFiles(ROOT, join(folder, 'assets'), isFast),
    build({ ...FOR_NODE, absWorkingDir: ROOT, entryPoints: SERVICE, outdir: folder }),
    build({ ...FOR_NODE, absWorkingDir: ROOT, entryPoints: CONFINED, outdir: join(folder, 'confined') }),
    ...Object.entries(DATA).map(([name, from]) => cp(join(ROOT, from), join(folder, name), { recursive: true })),
  ]);
  const info: BuildInfo & { sources: string } = { sources, programs: await hashOf(join(folder, 'confined')), assets };
  await writeFile(join(folder, 'build.json'), JSON.stringify(info));
  await rm(DIST, { recursive: true, force: true });
  await rename(folder, DIST);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function hashOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(folder)).sort())
    hash.update(`${name}\0`).update(await readFile(join(folder, name)));
  return hash.digest('hex');
}
