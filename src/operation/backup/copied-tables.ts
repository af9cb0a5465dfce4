import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';

export interface Table {
  name: string;
  /** Without generated columns. */
  columns: string[];
  /** The sort key as SQL, which sorts alike on every server. */
  order: string;
}

/** Makes the output of values independent of server and role settings, and disables row-level security. */
export const COPY_SETTINGS = `
  set DateStyle = 'ISO, YMD'; set IntervalStyle = 'postgres'; set extra_float_digits = 1; set bytea_output = 'hex';
  set TimeZone = 'UTC'; set client_encoding = 'UTF8'; set row_security = off`;

/**
 * Tables that are not copied: migrations (in the manifest), workers (running processes), wal_archive (specific to the
 * cluster).
 */
const LEFT_OUT = ['migrations', 'workers', 'wal_archive'];

/** Lists all logged tables, with referenced tables before the tables that refer to them. */
export async function listTables(query: Query): Promise<Table[]> {
  const tables = await query<Table & { refers_to: string[] }>(sql`
    select c.relname as name,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum
      ) as columns,
      coalesce((
        select string_agg(quote_ident(a.attname) || case when a.attcollation = 0 then '' else ' collate "C"' end, ', ' order by k.position)
        from pg_index i cross join unnest(i.indkey::int2[]) with ordinality k (attnum, position)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
        where i.indrelid = c.oid and i.indisprimary
      ), quote_ident(c.relname) || '::text collate "C"') as "order",
      array(
        select distinct t.relname::text from pg_constraint f join pg_class t on t.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid
      ) as refers_to
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
      and c.relname <> all (${LEFT_OUT}::text[])
    order by c.relname`);
  const sorted: Table[] = [];
  const left = new Map(tables.map((table) => [table.name, table]));
  while (left.size > 0) {
    const free = [...left.values()].filter(({ refers_to }) => !refers_to.some((name) => left.has(name)));
    if (free.length === 0)
      throw new Error(`these tables reference each other in a cycle: ${[...left.keys()].join(', ')}`);
    for (const { name, columns, order } of free) {
      sorted.push({ name, columns, order });
      left.delete(name);
    }
  }
  return sorted;
}

export function copyOut({ name, columns, order }: Table): string {
  return `copy (select ${columns.map(quote).join(', ')} from ${quote(name)} order by ${order}) to stdout`;
}

export function copyInto({ name, columns }: Pick<Table, 'name' | 'columns'>): string {
  return `copy ${quote(name)} (${columns.map(quote).join(', ')}) from stdin`;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
