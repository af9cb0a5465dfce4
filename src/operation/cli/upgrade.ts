import { upgradePostgres } from '@ibid/postgres-server/upgrade.ts';
import { openDb, type Query } from '../../platform/db/db.ts';
import { listMigrations } from '../../platform/db/migrate.ts';
import { prepareDatabase } from '../../platform/db/prepare-database.ts';
import { sql } from '../../platform/db/sql.ts';
import { copyDatabase } from '../backup/copy-database.ts';
import { RestoreRefused } from '../backup/restore-rows.ts';
import type { Config } from '../config.ts';
import { readArguments } from './arguments.ts';
import { refuseMissingDatabase, UsageError } from './with-database.ts';

type Print = (line: string) => void;

export const UPGRADE_USAGE = `  ibid upgrade                                                  upgrades the service's own PostgreSQL to the installed major version`;

/**
 * Upgrades the own PostgreSQL to the installed major version. Copies and compares all rows, then replaces the old
 * cluster, which is kept. The service must be stopped. Throws StartError, UsageError or RestoreRefused.
 */
export async function runUpgrade(config: Config, args: readonly string[], print: Print): Promise<void> {
  readArguments(args, { options: {}, most: 0, usage: UPGRADE_USAGE });
  if (config.DATABASE_URL ?? config.SERVICE_DATABASE_URL) {
    throw new UsageError('The options name a PostgreSQL that Ibid does not run: upgrade it as its manual describes.');
  }
  refuseMissingDatabase(config);
  const { DATA_DIR: dataDir } = config;
  const done = await upgradePostgres({ dataDir, log: (_level, message) => print(message) }, async (from, to) => {
    const previous = openDb({ connection: from, connections: 1 });
    const next = openDb({ connection: to, connections: 1 });
    try {
      await refuseOtherDatabases(previous.query);
      return await copyDatabase(previous, next, listMigrations(), async (migrations) => {
        await prepareDatabase(next, { url: undefined, dataDir }, print, migrations);
      });
    } finally {
      await Promise.all([previous.close(), next.close()]);
    }
  });
  if (!done) return print('the database already has the installed PostgreSQL version');
  const { from, to, kept, copied } = done;
  print(`PostgreSQL ${from} to ${to}: ${copied.rows} rows of ${copied.tables} tables, verified by their hashes`);
  print(`The old database is kept in ${kept}. Check the service, then remove that folder.`);
}

async function refuseOtherDatabases(query: Query): Promise<void> {
  const [other] = await query<{ name: string }>(sql`
    select datname as name from pg_database
    where not datistemplate and datname not in (current_database(), 'postgres') limit 1`);
  if (other)
    throw new RestoreRefused(
      `the database ${other.name} does not belong to Ibid and would not be copied: move it away first.`,
    );
}
