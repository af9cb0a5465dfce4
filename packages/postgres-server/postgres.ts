import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { findBinaries } from './binaries.ts';
import { clusterMajor, makeCluster, removeUnfinished, USER, writeSettings } from './cluster.ts';
import { lockPlace } from './lock-place.ts';
import { type Log, pointTo } from './place.ts';
import { stopOrphan } from './processes.ts';
import { chooseSocketFolder, PORT } from './server.ts';
import { StartError, toStartError } from './start-error.ts';
import { Supervisor } from './supervisor.ts';
import { removeUnfinishedUpgrade } from './upgrade-folders.ts';
import { makeWalFolder, walFolderOf } from './wal-folder.ts';

export interface Postgres {
  /** The connection parameters for `pg`. */
  connection: { host: string; port: number; user: string; database: string; password?: string };
  /** Stops the server (fast shutdown) and waits for its end. */
  stop(): Promise<void>;
  /** The pid of the current postmaster, which changes when it restarts. */
  readonly pid: number | undefined;
  /** Tells whether the file system is nearly full: writes should be refused before PostgreSQL itself stops. */
  diskIsFull(): boolean;
  /** The folder in which finished WAL segments wait, if they are archived. */
  walFolder: string;
}

interface Options {
  dataDir: string;
  log: Log;
  /** Whether to copy finished WAL segments to `walFolder`, from which the caller must remove them. */
  archivesWal?: boolean;
  /** The disk counts as full below this, which leaves room for PostgreSQL's own writes. */
  minFreeBytes?: number;
}

/** Below this, writes are answered with 503. */
export const MIN_FREE_BYTES = 256 * 2 ** 20;
const NEW_CLUSTER_BYTES = 100 * 2 ** 20;

/**
 * Starts the PostgreSQL of a DATA_DIR as a child of this process, and restarts it when it ends unexpectedly. Creates
 * the cluster the first time. One process per DATA_DIR: any other gets a StartError while this one lives.
 *
 * Access: the socket is in a folder of mode 0700, and PostgreSQL asks the kernel for the user at the other end (peer
 * authentication): only root, its own user and Ibid's can connect. So there is no password that could be read, copied
 * or lost.
 */
export async function startPostgres({
  dataDir,
  log,
  archivesWal = false,
  minFreeBytes = MIN_FREE_BYTES,
}: Options): Promise<Postgres> {
  if (process.platform === 'win32') {
    throw new StartError('Ibid cannot run its own PostgreSQL on Windows: set DATABASE_URL, or run Ibid in WSL.');
  }
  const unlocks: (() => void)[] = [];
  const unlock = () => {
    for (const release of unlocks.splice(0)) release();
  };
  try {
    const { folder, place } = lockPlace(dataDir, unlocks, log);

    const major = clusterMajor(place);
    if (major) await stopOrphan(place, log);
    const binaries = findBinaries(place, major, log);
    await removeUnfinished(place, log);
    await removeUnfinishedUpgrade(place, log);
    if (!major) {
      if (freeBytes(place.folder) < NEW_CLUSTER_BYTES) {
        throw new StartError(
          `A new database needs 100 MB in ${place.folder}: free some space, or set DATA_DIR to another disk.`,
        );
      }
      log('info', 'creating a database, which takes a few seconds', { folder: place.cluster });
      await makeCluster(place, binaries);
    }
    if (place.folder !== folder) pointTo(place.cluster, folder);
    writeSettings(place, binaries, archivesWal);
    if (archivesWal) makeWalFolder(place);
    const host = chooseSocketFolder(place);
    const connection = { host, port: PORT, user: USER, database: USER };
    const server = new Supervisor({ place, binaries, connection, logFile: join(folder, 'postgres.log'), log });
    await server.start();
    log('info', 'PostgreSQL is ready', { pid: server.pid, version: binaries.major, made: !major });
    return {
      connection,
      get pid() {
        return server.pid;
      },
      stop: () => server.stop().finally(unlock),
      walFolder: walFolderOf(place.cluster),
      diskIsFull: diskGauge(place.cluster, minFreeBytes),
    };
  } catch (error) {
    unlock();
    throw toStartError(error, dataDir);
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Returns a function that tells whether the disk is full. It reads the file system at most every two seconds. */
function diskGauge(folder: string, minFreeBytes: number): () => boolean {
  let full = false;
  let nextCheckAt = 0;
  return () => {
    const now = performance.now();
    if (now < nextCheckAt) return full;
    nextCheckAt = now + 2000;
    full = freeBytes(folder) < minFreeBytes;
    return full;
  };
}
