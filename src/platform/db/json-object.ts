import { raw, type Sql, sql } from './sql.ts';

/**
 * A record as a JSON object in SQL, for records that are aggregated: `columns` are those of the record from the tables
 * around (`wikiColumns` from a wiki `w`). Times are written as the API writes them; an optional field without a value is
 * left out. Errors: 42703 (undefined_column) where the columns lack a field of the record.
 */
export function jsonObject(record: { properties: object; required: readonly string[] }, columns: Sql): Sql {
  const names = Object.keys(record.properties);
  // Each field of the API that ends so is a time, and no other.
  const fields = names.map((name) => `'${name}', ${name.endsWith('_at') ? `rfc3339(x.${name})` : `x.${name}`}`);
  const object = `json_build_object(${fields.join(', ')})`;
  const isWhole = record.required.length === names.length;
  return sql`(select ${raw(isWhole ? object : `json_strip_nulls(${object})`)} from (select ${columns}) x)`;
}
