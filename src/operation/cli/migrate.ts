import { loadPlans } from '../../organization/billing/plans.ts';
import { kindOf, type Migration, worksWith } from '../../platform/db/apply-migration.ts';
import { findPending, listMigrations } from '../../platform/db/migrate.ts';
import type { Config } from '../config.ts';
import { prepareAsOwner } from '../service/prepare-as-owner.ts';
import { readArguments } from './arguments.ts';
import { onWait, withConnection, withNewConnection } from './with-database.ts';

type Print = (line: string) => void;

export const MIGRATE_USAGE = `  ibid migrate --plan                                           shows what the next start changes in the database, and which releases must stop
  ibid migrate                                                  migrates now, without starting the service`;

const UP_TO_DATE = 'the database is up to date';

const KINDS = {
  transaction: 'one transaction',
  concurrently: 'indexes, without blocking reads and writes',
  batches: 'rows, in batches',
};

/**
 * Prints the pending migrations in order, or does everything that a start does as the owner of the database. Throws
 * StartError if the database is newer.
 */
export async function runMigrateCommand(config: Config, args: string[], print: Print): Promise<void> {
  const { values } = readArguments(args, { options: { plan: { type: 'boolean' } }, most: 0, usage: MIGRATE_USAGE });
  const plans = loadPlans(config.PLANS_FILE);
  const opened = values.plan ? withConnection : withNewConnection;
  await opened(config, async (db) => {
    if (!values.plan) {
      const applied = await prepareAsOwner(db, config, plans, onWait);
      return print(applied.length === 0 ? UP_TO_DATE : `applied: ${applied.join(', ')}`);
    }
    const pending = await findPending(db.query, listMigrations());
    for (const migration of pending) print(describe(migration));
    print(pending.length === 0 ? UP_TO_DATE : adviceFor(pending));
  });
}

function describe(migration: Migration): string {
  const works = worksWith(migration);
  const who =
    works === null
      ? 'no earlier release can keep running'
      : works === 'any'
        ? 'earlier releases can keep running'
        : `releases with ${works} can keep running`;
  return `${migration.name}: ${KINDS[kindOf(migration)]}; ${who}`;
}

function adviceFor(pending: readonly Migration[]): string {
  return pending.every((migration) => worksWith(migration) !== null)
    ? 'Processes of the previous release can keep running and be restarted.'
    : 'Running processes of the previous release can keep running, but cannot be restarted afterwards: make a backup first (ibid backup).';
}
