import type { Api } from './api.ts';
import { type Content, html } from './html.ts';
import type { Visit } from './visit.ts';

/** A part of a list, with links to the others. */
export interface ListPart<T> {
  records: T[];
  isFirst: boolean;
  /** The address of the first part. */
  first: string;
  /** The address of the next part; "" on the last one. */
  next: string;
}

/**
 * Reads the part of an API list that the visit's address names; without a parameter the first one, at `path`. The parameter
 * `name` contains the query of the API's own link to that part; a page with several lists gives each its own `name`.
 */
export async function readPart<T>(
  { api, query, path: visited }: Pick<Visit, 'api' | 'query' | 'path'>,
  path: string,
  { name = 'part', address = visited } = {},
): Promise<ListPart<T>> {
  const asked = query.get(name) ?? '';
  const { records, link } = await api.list<T>(asked === '' ? path : withQuery(path, asked));
  const next = nextQuery(link);
  const to = (part: string) => {
    const search = new URLSearchParams(query);
    // A flash message is shown only once.
    for (const other of ['flash', name]) search.delete(other);
    if (part !== '') search.set(name, part);
    return search.size === 0 ? address : `${address}?${search}`;
  };
  return { records, isFirst: asked === '', first: to(''), next: next === '' ? '' : to(next) };
}

/** The first records of a list, `most` at most. */
export async function readUpTo<T>(api: Api, path: string, most: number): Promise<T[]> {
  const all: T[] = [];
  for (let at = path; ; ) {
    const { records, link } = await api.list<T>(at);
    all.push(...records);
    const next = nextQuery(link);
    if (next === '' || all.length >= most) return all.slice(0, most);
    at = withQuery(path, next);
  }
}

/** Links to the next part and back to the first; they work without scripts. */
export function partLinks(
  { isFirst, first, next }: ListPart<unknown>,
  words: { first: string; next: string } = { first: 'Back to the beginning', next: 'More' },
): Content {
  if (isFirst && next === '') return false;
  return html`<p class="row-of-buttons">${!isFirst && html`<a class="button" href="${first}">${words.first}</a>`}
    ${next !== '' && html`<a class="button" rel="next" href="${next}">${words.next}</a>`}</p>`;
}

/** The query of the link `rel="next"` in a `Link` header (RFC 8288); "" if there is none. */
function nextQuery(link: string): string {
  return /<[^<>?]*\?([^<>]*)>\s*;\s*rel="next"/.exec(link)?.[1] ?? '';
}

/** The path of a list with another query. The query comes from the address, so it may be anything. */
function withQuery(path: string, query: string): string {
  const at = path.indexOf('?');
  return `${at < 0 ? path : path.slice(0, at)}?${new URLSearchParams(query)}`;
}
