import { readFile } from 'node:fs/promises';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import { PACKAGE } from '../../../platform/core/package/package-files.ts';
import { findPending, listMigrations } from '../../../platform/db/migrate.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type DatabaseSubject, type Finding, ok, problem, warning } from './finding.ts';

export async function checkSchema({ db }: DatabaseSubject): Promise<Finding[]> {
  const all = listMigrations();
  try {
    const pending = await findPending(db.query, all);
    const names = pending
      .map(({ name }) => name)
      .slice(0, 5)
      .join(', ');
    const [made] = await db.query<{ is_empty: boolean }>(sql`select to_regclass('workspaces') is null as is_empty`);
    if (made?.is_empty) return [ok('the database is empty; the first start creates its tables')];
    if (pending.length === 0) return [ok(`the schema matches this version (${all.at(-1)?.name})`)];
    const seen = `pending migrations: ${pending.length}, ${names}${pending.length > 5 ? ', …' : ''}`;
    return [warning(seen, 'the next start applies them; "ibid migrate --plan" shows their changes')];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return [problem(error.message, 'install that version here, or run only that version of the service')];
  }
}

/** The schema that all migrations produce, shipped with the sources. */
const SCHEMA = new URL('schema.sql', PACKAGE);

/**
 * Finds missing or invalid indexes. Without them queries scan whole tables, and unique constraints are not enforced.
 */
export async function checkIndexes({ db }: DatabaseSubject): Promise<Finding[]> {
  const there = await db.query<{ name: string; is_valid: boolean; is_being_built: boolean }>(sql`
    select c.relname as name, i.indisvalid and i.indisready as is_valid,
      exists (select from pg_stat_progress_create_index p where p.index_relid = i.indexrelid) as is_being_built
    from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace = 'public'::regnamespace`);
  const findings: Finding[] = [];
  const building = there.filter(({ is_being_built }) => is_being_built).map(({ name }) => name);
  const invalid = there.filter((index) => !index.is_valid && !index.is_being_built).map(({ name }) => name);
  if (building.length > 0) findings.push(warning(`being built: ${building.join(', ')}`, 'wait until it is finished'));
  if (invalid.length > 0) {
    const statements = invalid.map((name) => `reindex index concurrently "${name}"`).join('; ');
    findings.push(problem(`invalid: ${invalid.join(', ')}`, `as the owner of the database: ${statements}`));
  }
  const missing = await missingIndexes(db, new Set(there.map(({ name }) => name)));
  if (missing.length > 0) {
    findings.push(problem('missing indexes', `as the owner of the database: ${missing.join('; ')}`));
  }
  return findings.length > 0 ? findings : [ok(`all ${there.length} indexes exist and are valid`)];
}

/**
 * Returns the statements that create the missing indexes, or none if migrations are pending or the schema is newer than
 * this version.
 */
async function missingIndexes({ query }: DatabaseSubject['db'], there: ReadonlySet<string>): Promise<string[]> {
  const schema = await readFile(SCHEMA, 'utf8').catch(() => '');
  const pending = await findPending(query, listMigrations()).catch(() => undefined);
  if (pending?.length !== 0) return [];
  return [...schema.matchAll(/^(create (?:unique )?index )(\w+)( on .*);$/gm)]
    .filter(([, , name = '']) => !there.has(name))
    .map(([, create = '', name = '', on = '']) => `${create}concurrently ${name}${on}`);
}
