import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { openDb } from '../src/platform/db/db.ts';
import { sql } from '../src/platform/db/sql.ts';
import { until } from './until.ts';

/**
 * Finishes the current WAL segment of a service's own PostgreSQL, and waits until every finished segment is stored in
 * the folder `backups`.
 */
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
