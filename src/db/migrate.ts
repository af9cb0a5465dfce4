import { readdirSync, readFileSync } from 'node:fs';
import { StartError } from '../core/start-error.ts';
import type { OwnerDb, Query } from './db.ts';
import { sql } from './sql.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

interface Migration {
  name: string;
  text: string;
}

/** The migrations in their order: `NNN_what.sql`, forward only, one transaction each, never edited after a release. */
function listMigrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }));
}

/**
 * Applies what is missing and answers the names of what it applied. Several processes may start at once: an advisory
 * lock lets one migrate while the others wait. A database that is newer than this program is refused.
 */
export async function migrate(db: OwnerDb, migrations = listMigrations()): Promise<string[]> {
  const known = new Set(migrations.map((migration) => migration.name));
  const before = await appliedBefore(db.query);
  const newer = before.find((name) => !known.has(name));
  if (newer) {
    throw new StartError(
      `The database was migrated by a newer Ibid (it has ${newer}): start that version, or restore an older backup.`,
    );
  }
  const done: string[] = [];
  for (const migration of migrations) {
    if (before.includes(migration.name)) continue;
    const ran = await db.transaction(async (query, runScript) => {
      await query(sql`select pg_advisory_xact_lock(4711001)`);
      await query(
        sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`,
      );
      const rows = await query(
        sql`insert into migrations (name) values (${migration.name}) on conflict do nothing returning name`,
      );
      if (rows.length === 0) return false;
      await runScript(migration.text);
      return true;
    });
    if (ran) done.push(migration.name);
  }
  return done;
}

async function appliedBefore(query: Query): Promise<string[]> {
  const [there] = await query<{ there: boolean }>(sql`select to_regclass('migrations') is not null as there`);
  if (!there?.there) return [];
  return (await query<{ name: string }>(sql`select name from migrations`)).map((row) => row.name);
}
