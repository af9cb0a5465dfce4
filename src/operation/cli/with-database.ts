import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import { hasDatabase, runningPostgres } from '@ibid/postgres-server/running.ts';
import type { Connection } from '@ibid/postgres-server/server.ts';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import { setClockSkewMs } from '../../platform/core/clock.ts';
import type { Migration } from '../../platform/db/apply-migration.ts';
import { measureSkewMs } from '../../platform/db/clock-skew.ts';
import { type OwnerDb, openDb } from '../../platform/db/db.ts';
import { explainUnreachable, prepareDatabase } from '../../platform/db/prepare-database.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Config } from '../config.ts';

/** Thrown if the arguments of a command are wrong; the message contains a correction. */
export class UsageError extends Error {}

export const onWait = (reason: string) => void process.stderr.write(`Waiting: ${reason}.\n`);

type Work = (
  db: OwnerDb,
  prepare: (migrations?: readonly Migration[]) => Promise<void>,
  own: Connection | undefined,
) => Promise<void>;

/** Runs `work` on the migrated database of the service. Starts the service's PostgreSQL if it is not running. */
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
 * Runs `work` on the database without migrating it. `prepare` migrates it, up to the given migrations or to the end.
 * `own` connects to the service's own PostgreSQL, if that is used. Throws UsageError if no service has created the
 * database.
 */
export async function withConnection(config: Config, work: Work): Promise<void> {
  refuseMissingDatabase(config);
  return withNewConnection(config, async (db, prepare, own) => {
    await refuseEmptyDatabase(db, config.DATABASE_URL);
    await work(db, prepare, own);
  });
}

/** Throws UsageError if DATA_DIR has no database, so that a command in the wrong folder does not create one. */
export function refuseMissingDatabase({ DATABASE_URL, SERVICE_DATABASE_URL, DATA_DIR }: Config): void {
  if (DATABASE_URL !== undefined || SERVICE_DATABASE_URL !== undefined || hasDatabase(DATA_DIR)) return;
  throw new UsageError(
    `no database in ${DATA_DIR}: set DATA_DIR or DATABASE_URL to the service's, or start the service, which creates one.`,
  );
}

/** Throws UsageError if the database has no tables, and StartError if it does not answer. */
async function refuseEmptyDatabase(db: OwnerDb, url: string | undefined): Promise<void> {
  const [row] = await db
    .query<{ is_made: boolean }>(sql`select to_regclass('migrations') is not null as is_made`)
    .catch((cause: NodeJS.ErrnoException) => {
      throw url ? new StartError(explainUnreachable('DATABASE_URL', url, cause), { cause }) : cause;
    });
  if (row?.is_made) return;
  throw new UsageError(
    'the database has no tables: set DATABASE_URL to the service\'s database, or create the tables with "ibid migrate" or by starting the service.',
  );
}

/** Like `withConnection`, but creates a missing database. */
export async function withNewConnection(config: Config, work: Work): Promise<void> {
  if (!config.DATABASE_URL && config.SERVICE_DATABASE_URL) {
    throw new UsageError(
      "this command needs the owner of the database: set DATABASE_URL to its address with the owner's login.",
    );
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
