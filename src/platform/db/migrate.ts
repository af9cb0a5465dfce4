import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import { BUILT } from '../core/package/package-files.ts';
import { BASELINE, CHANGES_TO_BASELINE, currentNames, isBeforeBaseline } from '../core/schema/baseline.ts';
import { applyMigration, type MigrateOptions, type Migration } from './apply-migration.ts';
import type { OwnerDb, Query, RunScript } from './db.ts';
import { columnComments } from './split-statements.ts';
import { sql } from './sql.ts';

const FOLDER = new URL('migrations/', BUILT);

/** Advisory lock held while migrating. */
const LOCK_ID = 4711001;
const POLL_MS = 100;

const MIGRATIONS_TABLE = `
  create table if not exists migrations (
    name text collate "C" primary key, applied_at timestamptz not null default now(), works_with text collate "C");
  comment on column migrations.name is 'File in src/platform/db/migrations.';
  comment on column migrations.applied_at is 'Time when the migration was recorded as applied.';
  comment on column migrations.works_with is 'Earliest migration whose release still works with the schema, or "any"; null for none.'`;

/**
 * Lists the migrations in order: files `NNN_what.sql`, forward only, never edited after a release. Appends the comments
 * of their columns.
 */
export function listMigrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }))
    .map(({ name, text }) => ({ name, text: text + columnComments(text) }));
}

/**
 * Applies pending migrations and returns their names. The first line of a migration gives its kind:
 *
 * - no marker: one transaction, which may hold locks only briefly; test/lint-migration.ts refuses statements that take
 *   longer.
 * - `-- migration: concurrently`: each statement by itself, for `create index concurrently if not exists`, `drop index
 *   concurrently if exists` and `alter table … validate constraint`. After an interruption all of them run again;
 *   invalid indexes are dropped first.
 * - `-- migration: batches`: one statement that changes a limited number of rows and is repeated, each time in its own
 *   transaction, until it changes none. After an interruption it continues with the remaining rows.
 *
 * Statements have no time limit, but wait only briefly for a lock: then the transaction is rolled back and retried
 * after a pause, so that requests do not queue for the lock. Several processes may start at once: one migrates, and the
 * others wait as long as it takes. Throws StartError if a newer release has migrated the database and this one does not
 * work with the schema (`worksWith`), or if another session does not release a lock.
 */
export async function migrate(
  db: OwnerDb,
  migrations: readonly Migration[] = listMigrations(),
  options: MigrateOptions = {},
): Promise<string[]> {
  const applied = await readApplied(db.query);
  if (pendingAfter(applied, migrations).length === 0 && !isBeforeBaseline(namesOf(applied))) return [];
  return db.session(async (query, runScript) => {
    await lockMigrations(query, options);
    await runScript(MIGRATIONS_TABLE);
    await toBaseline(query, runScript);
    const pending = await findPending(query, migrations);
    for (const migration of pending) await applyMigration(query, runScript, migration, options);
    return pending.map(({ name }) => name);
  });
}

interface Applied {
  name: string;
  works_with: string | null;
}

const namesOf = (applied: readonly Applied[]) => applied.map(({ name }) => name);

/** Returns the migrations that are not applied yet. Throws StartError, see `migrate`. */
export async function findPending(query: Query, migrations: readonly Migration[]): Promise<Migration[]> {
  return pendingAfter(await readApplied(query), migrations);
}

/** Returns the rows of `migrations` in order; an empty array if the table does not exist. */
async function readApplied(query: Query): Promise<Applied[]> {
  const [there] = await query<{ there: boolean }>(sql`select to_regclass('migrations') is not null as there`);
  if (!there?.there) return [];
  return query<Applied>(sql`select name, works_with from migrations order by name collate "C"`);
}

function pendingAfter(rows: readonly Applied[], migrations: readonly Migration[]): Migration[] {
  const applied = new Set(currentNames(namesOf(rows)));
  const known = new Set(migrations.map(({ name }) => name));
  if (isBeforeBaseline([...applied])) {
    throw new StartError(
      'The database was made by an early Ibid, whose schema is no longer known: export its wikis with that version, and import them here.',
    );
  }
  const isUnderstood = (works_with: string | null) =>
    works_with === 'any' || (works_with !== null && known.has(works_with));
  const newer = rows.find(({ name, works_with }) => applied.has(name) && !known.has(name) && !isUnderstood(works_with));
  if (newer) {
    throw new StartError(
      `The database was migrated by a newer Ibid (it has ${newer.name}): start that version, or restore an older backup.`,
    );
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

/** Moves a database from before the baseline to the baseline. Can be repeated after an interruption. */
async function toBaseline(query: Query, runScript: RunScript): Promise<void> {
  if (!isBeforeBaseline(namesOf(await readApplied(query)))) return;
  await runScript(CHANGES_TO_BASELINE);
  await runScript(columnComments(readFileSync(new URL(BASELINE, FOLDER), 'utf8')));
  await query(sql`
    with replaced as (delete from migrations returning 1)
    insert into migrations (name) select ${BASELINE} from replaced limit 1`);
}

/**
 * Takes the migration lock until the session ends. Polls instead of waiting in a statement, because `create index
 * concurrently` in the other process waits for the end of every transaction, including a waiting statement's.
 */
async function lockMigrations(query: Query, { onWait }: MigrateOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const [lock] = await query<{ taken: boolean }>(sql`select pg_try_advisory_lock(${LOCK_ID}::bigint) as taken`);
    if (lock?.taken) return;
    if (attempt === 1) onWait?.('another process is migrating the database');
    await pause(POLL_MS);
  }
}
