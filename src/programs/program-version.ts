import { fileURLToPath } from 'node:url';
import { versionOfSources } from '../../bin/version-of-sources.js';
import { LOCKFILE } from './packages.ts';
import { PROGRAMS } from './programs.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let version: string | undefined;

/** A hash of the code that confined processes run, with its packages: the same file may become another page with another one. */
export function programVersion(): string {
  version ??= versionOfSources(ROOT, LOCKFILE, PROGRAMS.confined.folders);
  return version;
}
