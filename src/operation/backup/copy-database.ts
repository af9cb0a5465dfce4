import { currentNames } from '../../platform/core/schema/baseline.ts';
import type { Migration } from '../../platform/db/apply-migration.ts';
import type { OwnerDb } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { COPY_SETTINGS, copyOut, listTables, type Table } from './copied-tables.ts';
import { measure } from './measure.ts';
import { RestoreRefused, restoreRows, type TableRows } from './restore-rows.ts';

export interface CopiedDatabase {
  tables: number;
  rows: number;
}

/**
 * Copies all rows of a database into an empty one, table by table as a backup does, and compares counts and hashes
 * before it commits. `prepare` migrates the copy to the schema of the original. Throws RestoreRefused if the original
 * has data that would not be copied.
 */
export async function copyDatabase(
  from: Pick<OwnerDb, 'session'>,
  to: Pick<OwnerDb, 'session'>,
  migrations: readonly Migration[],
  prepare: (migrations: readonly Migration[]) => Promise<void>,
): Promise<CopiedDatabase> {
  return from.session(async (query, runScript, copy) => {
    await runScript(`${COPY_SETTINGS}; set ibid.service = 'on'`);
    await runScript('begin isolation level repeatable read read only');
    const foreign = await query<{ name: string }>(sql`
      select format('the table %I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'm') and n.oid <> current_schema()::regnamespace
        and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'`);
    const applied = await query<{ name: string }>(sql`select name from migrations order by name collate "C"`);
    const own = new Set(currentNames(applied.map(({ name }) => name)));
    const unknown = [...own].find((name) => !migrations.some((migration) => migration.name === name));
    if (unknown) throw new RestoreRefused(`the database was migrated by another version of Ibid (it has ${unknown}).`);
    await prepare(migrations.filter(({ name }) => own.has(name)));

    const known = new Map((await listTables(query)).map((table) => [table.name, table]));
    const copied = { tables: 0, rows: 0 };
    const rowsOf = ({ name }: Table): TableRows => {
      const table = known.get(name);
      if (!table)
        throw new RestoreRefused(
          `the database has no table ${name}: its schema differs from what its migrations create.`,
        );
      const rows = copy.out(copyOut(table));
      const measured = measure();
      const expected = () => {
        copied.tables += 1;
        copied.rows += rows.rowCount;
        return { rows: rows.rowCount, sha256: measured.result().sha256 };
      };
      return { columns: table.columns, content: measured.of(rows), expected };
    };
    await to.session(async (queryTo, runScriptTo, copyTo) => {
      const there = new Set((await listTables(queryTo)).map(({ name }) => name));
      const more = [...known.keys()].filter((name) => !there.has(name)).map((name) => `the table ${name}`);
      const [other] = [...foreign.map(({ name }) => name), ...more];
      if (other)
        throw new RestoreRefused(`${other} does not belong to Ibid and would not be copied: move it away first.`);
      await restoreRows({ query: queryTo, runScript: runScriptTo, copy: copyTo }, rowsOf, async () => undefined);
    });
    await runScript('commit');
    return copied;
  });
}
