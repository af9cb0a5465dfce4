import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { versionOfBundles } from './version-of-sources.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const LOCKFILE = `${ROOT}package-lock.json`;

/**
 * The path of a bundle of the service that an earlier start has made of these sources, without the compiler that strips types: it
 * takes 12 MiB of each process. Undefined too where npm has put the packages elsewhere: then src/programs finds it.
 * @param {'main' | 'cli'} name
 * @returns {string | undefined}
 */
export function madeBefore(name) {
  if (!existsSync(LOCKFILE)) return undefined;
  const version = versionOfBundles(ROOT, LOCKFILE, ['src', 'web']);
  const made = `${ROOT}node_modules/.cache/ibid/${version}/${name}.mjs`;
  return existsSync(made) ? made : undefined;
}
