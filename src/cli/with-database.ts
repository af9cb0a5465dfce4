import type { Config } from '../config.ts';
import { setClockSkewMs } from '../core/clock.ts';
import type { Migration } from '../db/apply-migration.ts';
import { measureSkewMs } from '../db/clock-skew.ts';
import { type OwnerDb, openDb } from '../db/db.ts';
import { startPostgres } from '../db/postgres/postgres.ts';
import { runningPostgres } from '../db/postgres/running.ts';
import type { Connection } from '../db/postgres/server.ts';
import { prepareDatabase } from '../db/prepare-database.ts';

/** The arguments of the command are wrong; the message says what to write instead. */
export class UsageError extends Error {}

export const onWait = (reason: string) => void process.stderr.write(`Waiting: ${reason}.\n`);

/**
 * Runs `work` on the database of the service, migrated; if the service is not running, its PostgreSQL is started for it.
 */
export async function withDatabase(
  config: Config,
  work: (db: OwnerDb, own: Connection | undefined) => Promise<void>,
): Promise<void> {
  await withConnection(config, async (db, prepare, own) => {
    await prepare();
    setClockSkewMs(await measureSkewMs(db.query));
    await work(db, own);
  });
}

/**
 * The same on the database as it is. `prepare` migrates it: as far as it says, else to the end. `own`: how to connect to the
 * service's own PostgreSQL, where it is that.
 */
export async function withConnection(
  config: Config,
  work: (
    db: OwnerDb,
    prepare: (migrations?: readonly Migration[]) => Promise<void>,
    own: Connection | undefined,
  ) => Promise<void>,
): Promise<void> {
  if (!config.DATABASE_URL && config.SERVICE_DATABASE_URL) {
    throw new UsageError('this works as the owner of the database: set DATABASE_URL to its address with that login.');
  }
  const running = config.DATABASE_URL ? undefined : runningPostgres(config.DATA_DIR);
  const started =
    config.DATABASE_URL || running
      ? undefined
      : await startPostgres({
          dataDir: config.DATA_DIR,
          archivesWal: config.BACKUP_WAL !== undefined,
          log: (level, message) => level === 'error' && process.stderr.write(`${message}\n`),
        });
  const own = running ?? started?.connection;
  const db = openDb({ connection: own ?? { connectionString: config.DATABASE_URL }, connections: 1 });
  try {
    const place = { url: config.DATABASE_URL, dataDir: config.DATA_DIR };
    await work(db, async (migrations) => void (await prepareDatabase(db, place, onWait, migrations)), own);
  } finally {
    await db.close();
    await started?.stop();
  }
}
