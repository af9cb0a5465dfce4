import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('..', import.meta.url));

/** What the programs of confined processes are made of; bundled-programs.test.ts compares. */
export const PROGRAM_FOLDERS = ['core', 'analysis', 'markdown', 'documents', 'sandbox'];

let version: string | undefined;

/** A hash of the code that confined processes run, with its packages: the same file may become another page with another one. */
export function programVersion(): string {
  version ??= versionOfSources();
  return version;
}

function versionOfSources(): string {
  const hash = createHash('sha256').update(readFileSync(`${SOURCE}../package-lock.json`));
  for (const folder of PROGRAM_FOLDERS) {
    const files = readdirSync(SOURCE + folder, { encoding: 'utf8', recursive: true });
    const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts')).sort();
    for (const file of sources) hash.update(`${folder}/${file}\0`).update(readFileSync(`${SOURCE}${folder}/${file}`));
  }
  return hash.digest('hex');
}
