import { rm } from 'node:fs/promises';
import { type Postgres, startPostgres } from '@ibid/postgres-server/postgres.ts';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { PoolConfig } from 'pg';
import type { Logger } from 'pino';
import type { Migration } from '../../platform/db/apply-migration.ts';
import { followDatabaseClock } from '../../platform/db/clock-skew.ts';
import { type OwnerDb, openDb, openServiceDb, type Query, type ServiceDb } from '../../platform/db/db.ts';
import { findPending, listMigrations } from '../../platform/db/migrate.ts';
import { explainUnreachable } from '../../platform/db/prepare-database.ts';
import { readFromReplicas } from '../../platform/db/replicas/read-from-replicas.ts';
import { openTimelines } from '../../platform/db/replicas/timelines.ts';
import { SERVICE } from '../../platform/db/request-context.ts';
import { type ServiceDbOptions, UnsafeSession } from '../../platform/db/service-session.ts';
import { sql } from '../../platform/db/sql.ts';
import { endAllLeases } from '../../platform/jobs/workers.ts';
import type { Plan } from '../../platform/providers/payments/payments.ts';
import { beginWalArchive, endWalArchive } from '../backup/wal/wal-archive.ts';
import type { Config } from '../config.ts';
import { makeDataDir } from './data-dir.ts';
import type { OnStop, ServiceHooks } from './hooks.ts';
import { prepareAsOwner } from './prepare-as-owner.ts';

/**
 * Opens the configured database, or starts the service's own PostgreSQL. Migrates it if the options contain the owner's
 * login, and opens it with the service's rights. Throws StartError.
 */
export async function openDatabase(
  config: Config,
  plans: readonly Plan[],
  log: Logger,
  hooks: ServiceHooks,
  onStop: OnStop,
): Promise<{ db: ServiceDb; postgres: Postgres | undefined }> {
  const { DATABASE_URL: url, SERVICE_DATABASE_URL, DATA_DIR: dataDir, DATABASE_CONNECTIONS: connections } = config;
  const isExternal = (url ?? SERVICE_DATABASE_URL) !== undefined;
  if (isExternal) await makeDataDir(dataDir);
  const postgres = isExternal
    ? undefined
    : await startPostgres({
        dataDir,
        archivesWal: config.BACKUP_WAL !== undefined,
        log: (level, message, details) => log[level](details ?? {}, message),
      });
  if (postgres) onStop(() => postgres.stop());
  const ofOwner = postgres?.connection ?? (url === undefined ? undefined : { connectionString: url });
  if (ofOwner) {
    await asOwner(ofOwner, async (owner) => {
      const applied = await prepareAsOwner(owner, config, plans, (reason) =>
        log.info({ reason }, 'the database cannot be migrated yet'),
      );
      if (applied.length > 0) log.info({ applied }, 'the database was migrated');
      if (config.BACKUP_WAL !== undefined) await beginWalArchive(owner.query);
      else {
        await endWalArchive(owner.query);
        if (postgres) await rm(postgres.walFolder, { recursive: true, force: true });
      }
    });
  }
  const options = {
    ...serviceConnection(config, postgres?.connection),
    connections,
    onConnectionLost: (err: Error) => log.warn({ err }, 'a connection to the database was lost'),
    ...hooks,
  };
  const primary = openServiceDb(options);
  // Jobs must read their own writes, so they use the primary.
  const replicas = config.ROLE === 'worker' ? [] : config.DATABASE_REPLICA_URLS;
  const db =
    replicas.length > 0
      ? readFromReplicas(primary, options, replicas, (server, err) =>
          err === undefined
            ? log.info({ server }, 'a replica answers reads')
            : log.warn({ err, server }, 'a replica cannot be used, so the primary answers its reads'),
        )
      : primary;
  onStop(() => db.close());
  await db
    .in(SERVICE)
    .query(sql`select 1`)
    .catch((cause: Error & { code?: string }) => {
      // A database without tables lacks the function that sets the request context.
      if (!ofOwner && cause.code === UNDEFINED_FUNCTION) throw notMigrated(listMigrations());
      if (cause instanceof UnsafeSession) throw new StartError(cause.message, { cause });
      const own = SERVICE_DATABASE_URL;
      throw own ? new StartError(explainUnreachable('SERVICE_DATABASE_URL', own, cause), { cause }) : cause;
    });
  if (!ofOwner) await refuseOlderSchema(db.in(SERVICE).query);
  onStop(await followClock(db.in(SERVICE).query, log));
  // No other process can use this DATA_DIR, so all previous workers are gone.
  if (postgres) await endAllLeases(db.in(SERVICE).query);
  return { db, postgres };
}

/** Throws StartError if migrations are pending, which this process may not apply. */
async function refuseOlderSchema(query: Query): Promise<void> {
  const pending = await findPending(query, listMigrations());
  if (pending.length > 0) throw notMigrated(pending);
}

const UNDEFINED_FUNCTION = '42883';

function notMigrated([first, ...others]: readonly Migration[]): StartError {
  return new StartError(
    `The database lacks ${1 + others.length} migrations, starting with ${first?.name}: run "ibid migrate" of this version with DATABASE_URL as the owner of the database, then start the service again.`,
  );
}

/**
 * Follows the database's clock for everything this process orders and compares. Returns a function that stops it.
 * Throws StartError.
 */
export async function followClock(query: Query, log: Logger): Promise<() => Promise<void>> {
  const stop = await followDatabaseClock(query, (err) =>
    log.error({ err }, "the clock of this process could not be compared with the database's or differs too much"),
  );
  return async () => stop();
}

/** Returns the connection of the service: to the PostgreSQL that it started, or according to the options. */
export function serviceConnection(
  { DATABASE_URL, SERVICE_DATABASE_URL }: Config,
  own: PoolConfig | undefined,
): Pick<ServiceDbOptions, 'connection' | 'isOwnLogin' | 'timelines'> {
  if (own) return { connection: own, isOwnLogin: false };
  return {
    timelines: openTimelines(),
    connection: { connectionString: SERVICE_DATABASE_URL ?? DATABASE_URL },
    isOwnLogin: SERVICE_DATABASE_URL !== undefined,
  };
}

/** Connects as the owner of the tables, for migrations; the service itself has fewer rights. */
async function asOwner(connection: PoolConfig, work: (db: OwnerDb) => Promise<void>): Promise<void> {
  const owner = openDb({ connection, connections: 1 });
  try {
    await work(owner);
  } finally {
    await owner.close();
  }
}
