import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { StartError } from '../core/start-error.ts';
import { applyMigration, type MigrateOptions, type Migration } from './apply-migration.ts';
import type { OwnerDb, Query } from './db.ts';
import { sql } from './sql.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** The advisory lock of those that migrate. */
const LOCK_ID = 4711001;
const LOOK_AGAIN_MS = 100;

/** The migrations in their order: `NNN_what.sql`, forward only, never edited after a release. */
export function listMigrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }));
}

/**
 * Applies what is missing and answers the names of what it applied. The first line of a migration says of what kind it is:
 *
 * - no marker: one transaction, which may hold locks only briefly; test/lint-migration.ts refuses what takes longer.
 * - `-- migration: concurrently`: each statement by itself, for `create index concurrently if not exists`, `drop index
 *   concurrently if exists` and `alter table … validate constraint`. After an interruption all of them run again; an
 *   invalid index that was left behind is dropped before.
 * - `-- migration: batches`: one statement that changes a limited number of rows and runs again, in a transaction of its
 *   own each time, until it changes none. After an interruption it goes on with the rows that are left.
 *
 * No statement has a time limit. A lock is waited for only briefly: then the transaction is undone and tried again after a
 * pause, so that requests do not queue behind it. Several processes may start at once: one migrates while the others wait,
 * however long it takes. Errors: StartError where the database is newer than this program, or others do not release a lock.
 */
export async function migrate(
  db: OwnerDb,
  migrations = listMigrations(),
  options: MigrateOptions = {},
): Promise<string[]> {
  if ((await findMissing(db.query, migrations)).length === 0) return [];
  return db.session(async (query, runScript) => {
    await lockMigrations(query, options);
    await runScript(
      'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
    );
    const missing = await findMissing(query, migrations);
    for (const migration of missing) await applyMigration(query, runScript, migration, options);
    return missing.map(({ name }) => name);
  });
}

async function findMissing(query: Query, migrations: readonly Migration[]): Promise<Migration[]> {
  const [there] = await query<{ there: boolean }>(sql`select to_regclass('migrations') is not null as there`);
  const rows = there?.there ? await query<{ name: string }>(sql`select name from migrations`) : [];
  const applied = new Set(rows.map(({ name }) => name));
  const known = new Set(migrations.map(({ name }) => name));
  const newer = [...applied].find((name) => !known.has(name));
  if (newer) {
    throw new StartError(
      `The database was migrated by a newer Ibid (it has ${newer}): start that version, or restore an older backup.`,
    );
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

/**
 * Takes the lock of those that migrate until the session ends. It asks again and again rather than wait in a statement:
 * `create index concurrently` in the other process waits for the end of every transaction, and so of such a statement.
 */
async function lockMigrations(query: Query, { onWait }: MigrateOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const [lock] = await query<{ taken: boolean }>(sql`select pg_try_advisory_lock(${LOCK_ID}::bigint) as taken`);
    if (lock?.taken) return;
    if (attempt === 1) onWait?.('another process migrates the database');
    await pause(LOOK_AGAIN_MS);
  }
}
