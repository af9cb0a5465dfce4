import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

// Plain JavaScript, so that a start which only looks for what is bundled loads no compiler.

/**
 * A hash of the sources in folders of a repository, and of its packages' lockfile.
 * @param {string} root With a slash at its end.
 * @param {string} lockfile
 * @param {readonly string[]} folders
 * @returns {string}
 */
export function versionOfSources(root, lockfile, folders) {
  const hash = createHash('sha256').update(readFileSync(lockfile));
  for (const folder of folders) {
    const files = readdirSync(root + folder, { encoding: 'utf8', recursive: true });
    const sources = files.filter((file) => /\.(?:ts|json)$/.test(file) && !file.endsWith('.test.ts')).sort();
    for (const file of sources) hash.update(`${folder}/${file}\0`).update(readFileSync(`${root}${folder}/${file}`));
  }
  return hash.digest('hex');
}

/**
 * The name of the folder of a set of bundles. Where the sources are is part of it, because bundles contain the places of
 * packages and of files beside sources.
 * @param {string} root With a slash at its end.
 * @param {string} lockfile
 * @param {readonly string[]} folders What the programs are made of.
 * @returns {string}
 */
export function versionOfBundles(root, lockfile, folders) {
  const sources = versionOfSources(root, lockfile, [...folders, 'src/programs']);
  return createHash('sha256').update(sources).update(root).update(process.version).digest('hex').slice(0, 32);
}
