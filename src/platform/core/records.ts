import { type TProperties, type TStringOptions, Type } from 'typebox';

/**
 * An object schema that drops undeclared fields from responses. `title`: the name of the record in openapi.json and in
 * clients generated from it; every record that an endpoint answers has one.
 */
export function Record<P extends TProperties>(properties: P, options: { title?: string; description?: string } = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** The answer of a write that has nothing to tell. */
export const Empty = Record({}, { title: 'Empty' });

/**
 * A text of a request: a name, an address, an id, a secret. Its meaning is checked where it is read (400); this bounds
 * what may be given to that check.
 */
export function InputText(options: TStringOptions = {}) {
  return Type.String({ maxLength: 65_536, ...options });
}

export const Id = Type.String({ description: 'Opaque: a prefix and 26 characters.' });

export const Timestamp = Type.String({ description: 'RFC 3339, UTC, milliseconds.' });

/** A text, `""` if there is none. */
export const Text = Type.String({ default: '' });

export const Flag = Type.Boolean({ default: false });

/** Removes the nulls of a row: fields without a value are omitted from the record. */
export function withoutNulls<T extends object>(row: T): T {
  const record = {} as T;
  for (const name in row) if (row[name] !== null) record[name] = row[name];
  return record;
}

/**
 * The fields of `record` that have a value in `row`, for responses that may be one of several records. Errors: a field that
 * the row has no column for.
 */
export function pickFields<T extends object>(record: { properties: object }, row: T): T {
  const names = Object.keys(record.properties) as (keyof T)[];
  const missing = names.find((name) => row[name] === undefined);
  if (missing !== undefined) throw new Error(`the row has no column "${String(missing)}"`);
  return Object.fromEntries(names.filter((name) => row[name] !== null).map((name) => [name, row[name]])) as T;
}

/** The path parameters of resources in a wiki. */
export const WikiParams = Type.Object({ wiki_id: Id });
