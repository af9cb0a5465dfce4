import pg from 'pg';

const TIMESTAMPTZ = 1184;
const INT8 = 20;
const NUMERIC = 1700;

/**
 * Converts PostgreSQL's text of a UTC timestamp (`2026-11-21 05:29:32.1+00`) to RFC 3339 with milliseconds
 * (`2026-11-21T05:29:32.100Z`) without creating a Date.
 */
function timestampFromText(text: string): string {
  const fraction = text.charCodeAt(19) === 46 ? text.slice(20, text.indexOf('+', 20)) : '';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

const parsers = new Map<number, (text: string) => unknown>([
  [TIMESTAMPTZ, timestampFromText],
  [INT8, Number],
  [NUMERIC, Number],
]);

/** Parsers for column values: timestamps in the format of the API, numbers as numbers. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    parsers.get(oid) ?? pg.types.getTypeParser(oid, format ?? 'text')) as pg.CustomTypesConfig['getTypeParser'],
};
