import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { USER } from './postgres-cluster.ts';
import { type Connection, PORT } from './postgres-server.ts';

/**
 * How to connect to the PostgreSQL that an Ibid runs on this DATA_DIR now, for commands that work beside it.
 * undefined: none was started, or it was stopped. After a kill -9 the answer may be out of date; connecting shows it.
 */
export function runningPostgres(data_dir: string): Connection | undefined {
  try {
    const [, , , , host] = readFileSync(join(data_dir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
    return host ? { host, port: PORT, user: USER, database: USER } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
