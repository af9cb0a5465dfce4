import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LOCKFILE } from './packages.ts';
import { PROGRAMS } from './programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let version: string | undefined;

/** A hash of the code that confined processes run, with its packages: the same file may become another page with another one. */
export function programVersion(): string {
  version ??= versionOfSources(PROGRAMS.confined.folders);
  return version;
}

/** A hash of all sources in these folders of the repository, and of the packages' lockfile. */
export function versionOfSources(folders: readonly string[]): string {
  const hash = createHash('sha256').update(readFileSync(LOCKFILE));
  for (const folder of folders) {
    const files = readdirSync(ROOT + folder, { encoding: 'utf8', recursive: true });
    const sources = files.filter((file) => /\.(?:ts|json)$/.test(file) && !file.endsWith('.test.ts')).sort();
    for (const file of sources) hash.update(`${folder}/${file}\0`).update(readFileSync(`${ROOT}${folder}/${file}`));
  }
  return hash.digest('hex');
}
