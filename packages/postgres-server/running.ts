import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { USER } from './cluster.ts';
import { isServer, readPidFile } from './processes.ts';
import { type Connection, PORT } from './server.ts';
import { StartError } from './start-error.ts';
import { isSwitching } from './upgrade-folders.ts';
import { walFolderOf } from './wal-folder.ts';

/**
 * Returns connection parameters for the PostgreSQL that runs on this DATA_DIR, for commands that run alongside an Ibid;
 * undefined if none is running.
 */
export function runningPostgres(dataDir: string): Connection | undefined {
  const cluster = realClusterOf(dataDir);
  const [pid, , , , host] = (cluster && readPidFile(cluster)) || [];
  if (!cluster || !host || !isServer(Number(pid), cluster)) return undefined;
  return { host, port: PORT, user: USER, database: USER };
}

/**
 * Tells whether a DATA_DIR has a database, even if it cannot be started because its link is broken or its upgrade was
 * killed. Throws StartError if this user may not access DATA_DIR.
 */
export function hasDatabase(dataDir: string): boolean {
  try {
    if (lstatSync(join(dataDir, 'postgres'), { throwIfNoEntry: false })?.isSymbolicLink()) return true;
    return (
      lstatSync(join(dataDir, 'postgres', 'PG_VERSION'), { throwIfNoEntry: false }) !== undefined ||
      isSwitching(dataDir)
    );
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return false;
    if (code !== 'EACCES' && code !== 'EPERM') throw cause;
    throw new StartError(
      `DATA_DIR ${dataDir} is not readable for this user: run this command as the user of the service.`,
      { cause },
    );
  }
}

/**
 * Returns the folder in which finished WAL segments of this DATA_DIR wait to be stored; undefined without a cluster.
 */
export function waitingWalFolder(dataDir: string): string | undefined {
  const cluster = realClusterOf(dataDir);
  return cluster && walFolderOf(cluster);
}

function realClusterOf(dataDir: string): string | undefined {
  try {
    return realpathSync(join(dataDir, 'postgres'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
