import { type TProperties, Type } from 'typebox';

/**
 * `limit` and `offset`, for lists without a cursor: results ordered by rank. Values out of bounds are a 422, never
 * clamped.
 */
export const OFFSET_PAGING = {
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'The maximum number of records.' }),
  offset: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'The number of records to skip. To read a whole list, follow the `Link` header instead.',
  }),
} satisfies TProperties;

/** The cursor of a list. The pattern matches the base64url of a JSON array whose first element is a string. */
export const Cursor = Type.Optional(
  Type.String({
    pattern: '^WyJ[A-Za-z0-9_-]{1,500}$',
    description:
      'An opaque cursor from the `Link` header of the previous response. The list continues after its record, even if ' +
      'records were added or deleted. Cannot be combined with `offset`.',
  }),
);

/** Query parameters of every paged list. */
export const PAGING = { ...OFFSET_PAGING, after: Cursor } satisfies TProperties;

/** The query of a paged list without further parameters. */
export const Paging = Type.Object(PAGING);

/** Encodes `[list, …keys]` as a cursor: base64url of its JSON. */
export function encodeCursor(list: string, keys: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([list, ...keys])).toString('base64url');
}

/** Returns the keys in a cursor of this list; undefined for a malformed cursor or a cursor of another list. */
export function decodeCursor(list: string, cursor: string): unknown[] | undefined {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(decoded) || decoded[0] !== list) return undefined;
  const keys = decoded.slice(1);
  return encodeCursor(list, keys) === cursor ? keys : undefined;
}

/** Returns the value of a `Link` header to `url` with changed parameters. Parameters set to undefined are removed. */
export function nextLink(url: string, parameters: Record<string, string | number | undefined>): string {
  const at = url.indexOf('?');
  const search = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) search.delete(name);
    else search.set(name, String(value));
  }
  return `<${at < 0 ? url : url.slice(0, at)}?${search}>; rel="next"`;
}
