import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, cpSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { giveTree } from '@ibid/postgres-server/account.ts';
import { findBinaries } from '@ibid/postgres-server/binaries.ts';
import { clusterMajor, SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { cleanEnvironment } from '@ibid/postgres-server/environment.ts';
import { choosePlace } from '@ibid/postgres-server/place.ts';
import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { freePort, makeFolder } from './process.ts';
import { signal } from './processes.ts';
import { until } from './until.ts';
import { openOwner } from './world.ts';

/** A PostgreSQL that listens on a port of 127.0.0.1. */
export interface PostgresServer {
  port: number;
  /** Its database as the superuser. */
  admin: ReturnType<typeof openOwner>;
  signal(name: NodeJS.Signals): Promise<void>;
  /** Ends it like a power failure. */
  kill(): Promise<void>;
  /** Starts it after a kill. `settings`: name=value, for this run. */
  startAgain(...settings: string[]): Promise<void>;
}

/**
 * Starts a primary and a synchronous standby, which has each commit before it is acknowledged. The database has no
 * tables. Both servers end with the tests of the file. `user`: the owner of the database.
 */
export async function startPostgresPair(): Promise<{
  primary: PostgresServer;
  standby: PostgresServer;
  user: string;
  database: string;
}> {
  const [folder, port, standbyPort] = await Promise.all([makeFolder(), freePort(), freePort()]);
  const log = () => undefined;
  const first = await startPostgres({ dataDir: folder, log });
  await first.stop();
  const place = choosePlace(folder, log);
  const program = join(findBinaries(place, clusterMajor(place), log).folder, 'postgres');
  const open = 'local all all trust\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n';
  writeFileSync(join(place.cluster, 'pg_hba.conf'), open);
  const copy = `${place.cluster}-standby`;
  cpSync(place.cluster, copy, { recursive: true });
  chmodSync(copy, 0o700);
  writeFileSync(join(copy, 'standby.signal'), '');
  appendFileSync(
    join(copy, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${SUPERUSER} application_name=standby'\n`,
  );
  if (place.account) giveTree(copy, place.account);
  const { database, user } = first.connection;
  const start = async (cluster: string, at: number): Promise<PostgresServer> => {
    const admin = openOwner(`postgres://${SUPERUSER}@127.0.0.1:${at}/${database}`);
    const run = async (...settings: string[]) => {
      const options = ['listen_addresses=127.0.0.1', `port=${at}`, 'unix_socket_directories=', ...settings];
      const child = spawn(program, ['-D', cluster, ...options.flatMap((option) => ['-c', option])], {
        ...place.account,
        cwd: '/',
        env: cleanEnvironment(),
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(child, 'exit');
      let log = '';
      child.stderr.on('data', (text) => (log += text));
      cleanUp(async () => {
        await signalAll(child, 'SIGCONT');
        child.kill('SIGQUIT');
        await ended;
      });
      await until(
        `PostgreSQL answers at port ${at}`,
        async () => child.exitCode !== null || admin.query(sql`select 1`).then(() => true, String),
        (seen) => seen === true,
      );
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended: ${log}`);
      return { child, ended };
    };
    let running = await run();
    return {
      port: at,
      admin,
      signal: (name) => signalAll(running.child, name),
      async kill() {
        await signalAll(running.child, 'SIGKILL');
        await running.ended;
      },
      async startAgain(...settings) {
        running = await run(...settings);
      },
    };
  };
  const primary = await start(place.cluster, port);
  const standby = await start(copy, standbyPort);
  await primary.admin.session(async (_query, run) => {
    await run(`alter system set synchronous_standby_names = 'standby'`);
    await run('select pg_reload_conf()');
  });
  await until('the standby is synchronous', async () => {
    const rows = await primary.admin.query<{ sync_state: string }>(sql`select sync_state from pg_stat_replication`);
    return rows[0]?.sync_state === 'sync';
  });
  return { primary, standby, user, database };
}

/** Signals the children too: they would survive a stopped postmaster. */
async function signalAll(child: ChildProcess, name: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
  for (const pid of [child.pid, ...children.trim().split(/\s+/).map(Number)]) {
    if (pid) signal(pid, name);
  }
}
