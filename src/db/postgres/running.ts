import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { USER } from './cluster.ts';
import { isServer, readPidFile } from './processes.ts';
import { type Connection, PORT } from './server.ts';
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
