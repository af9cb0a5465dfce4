import { type TProperties, Type } from 'typebox';

/** `limit` and `offset` of every paged list: out of bounds is 422, never clamped. */
export const PAGING = {
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'How many records at most.' }),
  offset: Type.Integer({ minimum: 0, default: 0, description: 'How many records to pass over.' }),
} satisfies TProperties;

/** The query of a paged list without further parameters. */
export const Paging = Type.Object(PAGING);

/** The value of a `Link` header to the next page, or undefined on the last one (fewer records than the limit). */
export function nextLink(
  url: string,
  query: { limit?: unknown; offset?: unknown },
  records: number,
): string | undefined {
  const { limit, offset } = query;
  if (typeof limit !== 'number' || typeof offset !== 'number' || records < limit) return undefined;
  const at = url.indexOf('?');
  const search = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  search.set('limit', String(limit));
  search.set('offset', String(offset + records));
  return `<${at < 0 ? url : url.slice(0, at)}?${search}>; rel="next"`;
}
