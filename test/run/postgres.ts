import { execFile } from 'node:child_process';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { type Postgres, startPostgres } from '@ibid/postgres-server/postgres.ts';
import type { PoolConfig } from 'pg';
import { type OwnerDb, openDb } from '../../src/platform/db/db.ts';
import { prepareDatabase } from '../../src/platform/db/prepare-database.ts';
import { raw } from '../../src/platform/db/sql.ts';
import { hashOf, kept } from './cache.ts';

/** A migrated database that each test file copies: migrations would cost each file 2 s of CPU time. */
export const TEMPLATE = 'ibid_test_template';

/**
 * Settings of the run's server: its data need not survive a crash of the machine, and a file may run several services.
 */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '200' };

const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);

/**
 * Starts the PostgreSQL of a run in `folder`, with the template. The stopped cluster is cached by a hash of the sources
 * that create it.
 */
export async function startPostgresForTests(folder: string): Promise<Postgres> {
  const dataDir = join(folder, 'data');
  const hash = hashOf(
    [JSON.stringify(SETTINGS)],
    ['src/platform/{db,core}/**/*.*', 'packages/postgres-server/**/*.*', 'test/run/postgres.ts', 'package-lock.json'],
  );
  const cluster = await kept('clusters', hash, async (made) => {
    // A folder that PostgreSQL's own user can enter, unlike the cache.
    const first = join(folder, 'first');
    await makeDataDir(first);
    await makeCluster(first);
    await copy(`${first}/.`, made);
  });
  await makeDataDir(dataDir);
  await copy(`${cluster}/.`, dataDir);
  return startPostgres({ dataDir, log: () => undefined });
}

async function makeDataDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o711);
}

async function makeCluster(dataDir: string): Promise<void> {
  const server = await startPostgres({ dataDir, log: () => undefined });
  try {
    await ask({ ...server.connection, user: SUPERUSER, database: 'postgres' }, async ({ query }) => {
      for (const [name, value] of Object.entries(SETTINGS)) await query(raw(`alter system set ${name} = ${value}`));
    });
    await ask(server.connection, ({ query }) =>
      query(raw(`create database ${TEMPLATE} encoding 'UTF8' template template0`)),
    );
    await ask({ ...server.connection, database: TEMPLATE }, (db) =>
      prepareDatabase(db, { url: undefined, dataDir }, () => undefined),
    );
  } finally {
    await server.stop();
  }
}

async function ask(connection: PoolConfig, work: (db: OwnerDb) => Promise<unknown>): Promise<void> {
  const db = openDb({ connection, connections: 1 });
  try {
    await work(db);
  } finally {
    await db.close();
  }
}
