import { raw, type Sql, sql } from './sql.ts';

/**
 * Builds a record as a JSON object in SQL, for records that are aggregated. `columns` are the columns of the record in
 * terms of the surrounding tables (`wikiColumns` from a wiki `w`). Times are formatted as in the API; optional fields
 * without a value are omitted. Throws 42703 (undefined_column) if the columns lack a field of the record.
 */
export function jsonObject(record: { properties: object; required: readonly string[] }, columns: Sql): Sql {
  const names = Object.keys(record.properties);
  // In the API, fields with this suffix are times, and no others are.
  const fields = names.map((name) => `'${name}', ${name.endsWith('_at') ? `rfc3339(x.${name})` : `x.${name}`}`);
  const object = `json_build_object(${fields.join(', ')})`;
  const isWhole = record.required.length === names.length;
  return sql`(select ${raw(isWhole ? object : `json_strip_nulls(${object})`)} from (select ${columns}) x)`;
}
