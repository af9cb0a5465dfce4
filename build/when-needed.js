import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Plain JavaScript, so that a start that finds a build loads no compiler of types.
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A hash of everything that a build is made of. */
export function hashOfSources() {
  const hash = createHash('sha256');
  const found = ['src', 'web', 'build'].flatMap((folder) =>
    readdirSync(ROOT + folder, { encoding: 'utf8', recursive: true }).map((file) => `${folder}/${file}`),
  );
  const sources = found.filter((file) => /\.(?:ts|js|css|json|sql)$/.test(file) && !file.endsWith('.test.ts')).sort();
  for (const file of ['package-lock.json', ...sources]) hash.update(`${file}\0`).update(readFileSync(ROOT + file));
  return hash.digest('hex');
}

/** Builds dist unless it was built from the sources as they are. */
export function buildWhenNeeded() {
  if (builtFrom() === hashOfSources()) return;
  process.stderr.write('Building Ibid from its sources…\n');
  const { status } = spawnSync(process.execPath, ['--no-warnings', `${ROOT}build/build.ts`, '--fast'], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

/** @returns {string | undefined} */
function builtFrom() {
  try {
    return JSON.parse(readFileSync(`${ROOT}dist/build.json`, 'utf8')).sources;
  } catch {
    return undefined;
  }
}
