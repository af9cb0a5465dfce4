import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { USER } from './cluster.ts';
import { isServer, readPidFile } from './processes.ts';
import { type Connection, PORT } from './server.ts';

/**
 * How to connect to the PostgreSQL that runs on this DATA_DIR now, for commands that work beside an Ibid.
 * undefined: there is none, because it was stopped or was killed.
 */
export function runningPostgres(dataDir: string): Connection | undefined {
  const cluster = realClusterOf(dataDir);
  const [pid, , , , host] = (cluster && readPidFile(cluster)) || [];
  if (!cluster || !host || !isServer(Number(pid), cluster)) return undefined;
  return { host, port: PORT, user: USER, database: USER };
}

function realClusterOf(dataDir: string): string | undefined {
  try {
    return realpathSync(join(dataDir, 'postgres'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
