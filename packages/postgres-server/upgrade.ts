import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Binaries, findBinaries, installedBinaries } from './binaries.ts';
import { clusterMajor, makeCluster, removeUnfinished, takeSettings, USER, writeSettings } from './cluster.ts';
import { lockPlace } from './lock-place.ts';
import { fetchPrograms } from './older-programs.ts';
import type { Log, Place } from './place.ts';
import { stopOrphan } from './processes.ts';
import { type Connection, chooseSocketFolder, PORT } from './server.ts';
import { StartError, toStartError } from './start-error.ts';
import { Supervisor } from './supervisor.ts';
import { keptPlace, PROGRAMS, removeUnfinishedUpgrade, switchClusters, upgradePlace } from './upgrade-folders.ts';

export interface Upgraded<T> {
  from: number;
  to: number;
  /** The folder of the old cluster. */
  kept: string;
  /** The result of `copy`. */
  copied: T;
}

/**
 * Moves the PostgreSQL of a DATA_DIR to the major version that new clusters get. `copy` copies all rows from the old
 * server to the new one and verifies them. The old cluster is not changed until that is done and the new server has
 * written everything to disk; then renames switch the clusters. If this is killed at any moment, the next start finds
 * the old or the new cluster. Returns undefined if the version is current. Throws StartError, and errors of `copy`.
 */
export async function upgradePostgres<T>(
  { dataDir, log }: { dataDir: string; log: Log },
  copy: (from: Connection, to: Connection) => Promise<T>,
): Promise<Upgraded<T> | undefined> {
  const unlocks: (() => void)[] = [];
  try {
    const { folder, place } = lockPlace(dataDir, unlocks, log);
    const major = clusterMajor(place);
    if (!major) throw new StartError(`${dataDir} has no database to upgrade yet.`);
    await stopOrphan(place, log);
    await removeUnfinished(place, log);
    await removeUnfinishedUpgrade(place, log);
    const next = findBinaries(place, undefined, log);
    if (next.major === major) return undefined;
    if (next.major < major) {
      throw new StartError(
        `${place.cluster} was created by PostgreSQL ${major}, but the installed version is older: ${next.major}.`,
      );
    }
    const kept = keptPlace(place, major);
    const previous = installedBinaries(place, major, log) ?? (await fetchPrograms(major, place, log));
    const copied = await copyTo(place, previous, next, { logFile: join(folder, 'postgres.log'), log }, copy);
    switchClusters(place, kept);
    rmSync(join(place.folder, `${PROGRAMS}${major}`), { recursive: true, force: true });
    return { from: major, to: next.major, kept, copied };
  } catch (error) {
    throw toStartError(error, dataDir);
  } finally {
    for (const release of unlocks) release();
  }
}

async function copyTo<T>(
  place: Place,
  previous: Binaries,
  next: Binaries,
  output: { logFile: string; log: Log },
  copy: (from: Connection, to: Connection) => Promise<T>,
): Promise<T> {
  const target = upgradePlace(place);
  await makeCluster(target, next);
  takeSettings(place, target);
  return withServer(place, previous, output, (from) => withServer(target, next, output, (to) => copy(from, to)));
}

/** Runs `work` with a server, and stops it cleanly, which writes everything to disk. */
async function withServer<T>(
  place: Place,
  binaries: Binaries,
  { logFile, log }: { logFile: string; log: Log },
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  writeSettings(place, binaries, false);
  const connection = { host: chooseSocketFolder(place), port: PORT, user: USER, database: USER };
  const server = new Supervisor({ place, binaries, connection, logFile, log });
  await server.start();
  try {
    return await work(connection);
  } finally {
    await server.stop();
  }
}
