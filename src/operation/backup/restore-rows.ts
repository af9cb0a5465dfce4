import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Copy, Query, RunScript } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { COPY_SETTINGS, copyInto, copyOut, listTables, quote, type Table } from './copied-tables.ts';
import type { Content } from './measure.ts';
import { countRows } from './verify-backup.ts';

/** Thrown if the backup cannot be restored here; the message says what to do. */
export class RestoreRefused extends Error {}

export const refused = (reason: string) =>
  new RestoreRefused(`the database ${reason}: set a new DATA_DIR, or a DATABASE_URL with an empty database.`);

/** The rows of a table from another database or a backup. */
export interface TableRows {
  columns: string[];
  /** The output of `copy … to stdout` in text format. */
  content: Content;
  /** Returns the expected number of rows and the hash of `copyOut`. Called after all of `content` was read. */
  expected(): { rows: number; sha256: string };
}

export interface Session {
  query: Query;
  runScript: RunScript;
  copy: Copy;
}

export async function refuseIfUsed(query: Query): Promise<void> {
  const [row] = await query<{ is_used: boolean }>(sql`
    select exists (select from users) or exists (select from workspaces) as is_used`);
  if (row?.is_used) throw refused('has users or workspaces, which a restore would replace');
}

/**
 * Replaces the rows of all tables in one transaction, and compares them with the expected counts and hashes before it
 * commits. User triggers are disabled, because the rows include everything that triggers would count or write. Foreign
 * keys hold, because referenced tables come first. `adjust` makes intended changes before triggers are enabled again.
 * Throws RestoreRefused.
 */
export async function restoreRows(
  { query, runScript, copy }: Session,
  rowsOf: (table: Table) => TableRows,
  adjust: () => Promise<void>,
): Promise<void> {
  await runScript(COPY_SETTINGS);
  await runScript('begin');
  // Prevents new users between the check and the commit.
  await runScript('lock table users, workspaces in access exclusive mode');
  await refuseIfUsed(query);
  const tables = await listTables(query);
  // Cascade, to include unlogged tables.
  await runScript(`truncate ${tables.map(({ name }) => quote(name)).join(', ')} cascade`);
  for (const { name } of tables) await runScript(`alter table ${quote(name)} disable trigger user`);
  const expected = new Map<string, { rows: number; sha256: string }>();
  for (const table of tables) {
    const rows = rowsOf(table);
    const into: Writable = copy.into(copyInto({ name: table.name, columns: rows.columns }));
    await pipeline(rows.content, into);
    expected.set(table.name, rows.expected());
  }
  await runScript('set constraints all immediate');
  for (const table of tables) {
    const found = await countRows(copy.out(copyOut(table)));
    const stored = expected.get(table.name);
    if (found.rows !== stored?.rows || found.sha256 !== stored.sha256) {
      throw new Error(`the table ${table.name} differs from the backup: ${found.rows} of ${stored?.rows} rows.`);
    }
  }
  await adjust();
  for (const { name } of tables) await runScript(`alter table ${quote(name)} enable trigger user`);
  await runScript('commit; analyze');
}
