import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { versionOfBundles } from '../../bin/version-of-sources.js';
import { LOCKFILE, PACKAGES } from './packages.ts';
import { ROOT } from './program-version.ts';
import { PROGRAMS, type ProgramName, type ProgramSet } from './programs.ts';

const BUILD = fileURLToPath(new URL('./bundle-programs.ts', import.meta.url));
const STRIP_TYPES = new URL('../../bin/strip-types.js', import.meta.url).href;
/** Bundles of other versions are deleted when nothing has used them for this time. */
const KEPT_MS = 7 * 86_400_000;
const CACHE = join(PACKAGES, '.cache', 'ibid');

/**
 * The path of the bundle of a program that runs in a confined process: plain JavaScript with the packages that it uses,
 * made once for each version of the sources. A process starts in a quarter of the CPU time and takes half the memory, as it
 * loads some files instead of 700 and strips no types. Bundles are kept among the packages, or in a temporary folder where
 * these are read-only. Throws if neither can be written.
 */
export const bundledProgram = bundlesIn('confined', CACHE);

/**
 * The path of the bundle of the service or of the `ibid` command, made like those of `bundledProgram`. Throws where nothing
 * can be written among the packages: it finds them from there.
 */
const bundledService = bundlesIn('service', CACHE);

/** The module of a program of the service: its bundle; `source` where none can be kept, which is said on stderr. */
export async function serviceModule(name: ProgramName<'service'>, source: string): Promise<string> {
  try {
    return await bundledService(name);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`Ibid runs from its sources, which takes more time and memory: ${reason}\n`);
    return source;
  }
}

/** `bundledProgram` of a set, with another folder for all versions. */
export function bundlesIn<Set extends ProgramSet>(
  set: Set,
  cache: string,
): (name: ProgramName<Set>) => Promise<string> {
  let folder: Promise<string> | undefined;
  return async (name) => {
    const fileIn = (path: string) => join(path, `${name}.mjs`);
    folder ??= makeBundles(set, cache);
    const made = await folder.catch(() => undefined);
    if (made !== undefined && (await isThere(fileIn(made)))) return fileIn(made);
    // It was deleted meanwhile, or could not be made.
    folder = makeBundles(set, cache);
    return fileIn(await folder);
  };
}

async function makeBundles(set: ProgramSet, cache: string): Promise<string> {
  const version = versionOfBundles(ROOT, LOCKFILE, PROGRAMS[set].folders);
  const made = join(cache, version);
  if (await isThere(made)) {
    const now = new Date();
    // Only its owner may say that it is in use.
    await utimes(made, now, now).catch(() => undefined);
    return made;
  }
  const building = await newFolder(set, cache, version);
  const options = ['--no-warnings', '--import', STRIP_TYPES];
  await promisify(execFile)(process.execPath, [...options, BUILD, set, building]).catch(async (error: unknown) => {
    await rm(building, { recursive: true });
    throw error;
  });
  // The service may run as another user than the one who started it first.
  await chmod(building, 0o755);
  if (!building.startsWith(cache)) return building;
  await deleteUnused(cache);
  await rename(building, made).catch(async (error: unknown) => {
    // Another process has made the same.
    await rm(building, { recursive: true });
    if (!(await isThere(made))) throw error;
  });
  return made;
}

async function newFolder(set: ProgramSet, cache: string, version: string): Promise<string> {
  try {
    await mkdir(cache, { recursive: true });
    return await mkdtemp(join(cache, `${version}-`));
  } catch (error) {
    if (set === 'service') throw error;
    const made = await mkdtemp(join(tmpdir(), 'ibid-programs-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    return made;
  }
}

async function deleteUnused(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const used = await stat(path).catch(() => undefined);
    if (used && Date.now() - used.mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
