import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openDb } from '../src/db/db.ts';
import { SUPERUSER } from '../src/db/postgres/cluster.ts';
import { runningPostgres } from '../src/db/postgres/running.ts';
import { sql } from '../src/db/sql.ts';
import { until } from './until.ts';

/** Finishes the segment of WAL that a service's own PostgreSQL writes, and waits until none waits to be stored in the folder `backups`. */
export async function untilWalIsStored(dataDir: string, backups: string): Promise<void> {
  const db = openDb({ connection: { ...runningPostgres(dataDir), user: SUPERUSER }, connections: 1 });
  const finish = () => db.query<{ name: string }>(sql`select pg_walfile_name(pg_switch_wal()) as name`);
  const [row] = await until(
    'PostgreSQL has recovered and finishes a segment',
    () =>
      finish().catch((error: { code?: string }) => {
        if (error.code === '57P03') return [];
        throw error;
      }),
    (rows) => rows.length > 0,
  );
  await db.close();
  await until(
    'all WAL is stored',
    async () => [
      await readdir(join(dataDir, 'postgres-wal')),
      (await readdir(backups, { recursive: true })).some((name) => name.endsWith(row?.name ?? '')),
    ],
    ([left, isStored]) => Array.isArray(left) && left.length === 0 && isStored === true,
  );
}
