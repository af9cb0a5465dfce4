import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { runningPostgres } from '../../src/db/postgres/running.ts';
import { cpuOf } from '../processes.ts';

const run = promisify(execFile);
const DATABASE = 'pgbench';
const SECONDS = 1;

/** What a select of pgbench costs the server, in ms of CPU: the unit in which requests can be compared that were measured at other hours. */
export interface SelectCost {
  measure(): Promise<number>;
}

/**
 * Makes the tables of `pgbench -i` (100,000 rows) in a database of their own on the service's PostgreSQL. Errors: where there is no
 * pgbench.
 */
export async function openSelects(dataDir: string, servicePid: number): Promise<SelectCost> {
  const connection = runningPostgres(dataDir);
  if (!connection) throw new Error('the service runs no PostgreSQL of its own: unset DATABASE_URL');
  const { host, port, user } = connection;
  const client = new Client(connection);
  await client.connect();
  await client.query(`create database ${DATABASE}`);
  await client.end();
  const at = ['-h', String(host), '-p', String(port), '-U', String(user)];
  await run('pgbench', ['-i', '-q', ...at, DATABASE]);
  return {
    async measure() {
      const before = cpuOf(servicePid).children_ms;
      const { stdout } = await run('pgbench', ['-S', '-n', '-M', 'prepared', '-T', String(SECONDS), ...at, DATABASE]);
      const count = Number(/transactions actually processed: (\d+)/.exec(stdout)?.[1]);
      if (!(count > 0)) throw new Error(`pgbench says no number of transactions: ${stdout}`);
      return (cpuOf(servicePid).children_ms - before) / count;
    },
  };
}
