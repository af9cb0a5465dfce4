import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Plain JavaScript, so that a start that finds a build does not load a TypeScript compiler.
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Returns a hash of all sources of a build. */
export function hashOfSources() {
  const hash = createHash('sha256');
  const found = ['packages', 'src', 'web', 'build'].flatMap((folder) =>
    readdirSync(ROOT + folder, { encoding: 'utf8', recursive: true }).map((file) => `${folder}/${file}`),
  );
  const sources = found.filter((file) => /\.(?:ts|js|css|json|sql)$/.test(file) && !file.endsWith('.test.ts')).sort();
  for (const file of ['package-lock.json', ...sources]) hash.update(`${file}\0`).update(readFileSync(ROOT + file));
  return hash.digest('hex');
}

/** Returns whether dist was built from the current sources. */
export function isBuilt() {
  let built;
  try {
    built = JSON.parse(readFileSync(`${ROOT}dist/build.json`, 'utf8')).sources;
  } catch {
    return false;
  }
  return built === hashOfSources();
}

/** Builds dist unless it is current. Returns whether dist is usable. Errors of the build are printed. */
export function buildWhenNeeded() {
  if (isBuilt()) return true;
  process.stderr.write('Building Ibid from its sources…\n');
  const build = ['--no-warnings', `${ROOT}build/build.ts`, '--fast'];
  return spawnSync(process.execPath, build, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}
