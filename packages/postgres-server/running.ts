import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { USER } from './cluster.ts';
import { isServer, readPidFile } from './processes.ts';
import { type Connection, PORT } from './server.ts';
import { StartError } from './start-error.ts';
import { isSwitching } from './upgrade-folders.ts';
import { walFolderOf } from './wal-folder.ts';

/**
 * Connection parameters of the PostgreSQL that currently runs on this DATA_DIR, for commands that run beside an Ibid.
 * undefined: none is running.
 */
export function runningPostgres(dataDir: string): Connection | undefined {
  const cluster = realClusterOf(dataDir);
  const [pid, , , , host] = (cluster && readPidFile(cluster)) || [];
  if (!cluster || !host || !isServer(Number(pid), cluster)) return undefined;
  return { host, port: PORT, user: USER, database: USER };
}

/**
 * Whether a DATA_DIR has a database, even one that cannot be started: a link whose target is gone, or an upgrade that was killed.
 * Errors: StartError where this user may not look.
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
    throw new StartError(`DATA_DIR ${dataDir} may not be read by this user: run this as the user of the service.`, {
      cause,
    });
  }
}

/** Where finished segments of WAL of this DATA_DIR wait to be stored; undefined: it has no cluster. */
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
