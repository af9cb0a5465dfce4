import { type TProperties, type TStringOptions, Type } from 'typebox';

/**
 * Creates an object schema that drops undeclared fields from responses. `title` names the record in openapi.json and in
 * clients generated from it; every record returned by an endpoint needs one.
 */
export function Record<P extends TProperties>(properties: P, options: { title?: string; description?: string } = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** The response of a write that returns no data. */
export const Empty = Record({}, { title: 'Empty' });

/**
 * A text in a request: a name, an address, an id, a secret. The code that uses it validates the content (400); this
 * only bounds its length.
 */
export function InputText(options: TStringOptions = {}) {
  return Type.String({ maxLength: 65_536, ...options });
}

export const Id = Type.String({ description: 'Opaque: a prefix and 26 characters.' });

export const Timestamp = Type.String({ description: 'RFC 3339, UTC, milliseconds.' });

/** A text that defaults to `""`. */
export const Text = Type.String({ default: '' });

export const Flag = Type.Boolean({ default: false });

/** Removes null fields from a row: records omit fields without a value. */
export function withoutNulls<T extends object>(row: T): T {
  const record = {} as T;
  for (const name in row) if (row[name] !== null) record[name] = row[name];
  return record;
}

/**
 * Picks the fields of `record` that have a value in `row`, for endpoints that respond with one of several records.
 * Throws an Error if the row lacks a column for a field.
 */
export function pickFields<T extends object>(record: { properties: object }, row: T): T {
  const names = Object.keys(record.properties) as (keyof T)[];
  const missing = names.find((name) => row[name] === undefined);
  if (missing !== undefined) throw new Error(`the row has no column "${String(missing)}"`);
  return Object.fromEntries(names.filter((name) => row[name] !== null).map((name) => [name, row[name]])) as T;
}

export const WikiParams = Type.Object({ wiki_id: Id });
