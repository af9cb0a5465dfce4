import type { Api } from './api.ts';
import { type Content, html } from './html.ts';
import type { Visit } from './visit.ts';

interface OtherParts {
  isFirst: boolean;
  first: string;
  /** The address of the next part; "" on the last part. */
  next: string;
}

/** A part of a list, with links to the others. */
export interface ListPart<T> extends OtherParts {
  records: T[];
}

interface PartOptions {
  name?: string;
  address?: string;
  /** API parameters sent with every part, which the page's address does not contain. */
  always?: Readonly<Record<string, string>>;
}

/**
 * Reads the part of an API list that the visit's address names; without a parameter the first part, at `path`. The
 * parameter `name` contains the query of the API's own link to that part; a page with several lists gives each its own
 * `name`.
 */
export async function readPart<T>(
  visit: Pick<Visit, 'api' | 'query' | 'path'>,
  path: string,
  options: PartOptions = {},
): Promise<ListPart<T>> {
  const { body: records, ...others } = await readBodyOfPart<T[]>(visit, path, options);
  return { records, ...others };
}

/** The same for a response that contains more than the list. */
export async function readBodyOfPart<Body>(
  { api, query, path: visited }: Pick<Visit, 'api' | 'query' | 'path'>,
  path: string,
  { name = 'part', address = visited, always = {} }: PartOptions = {},
): Promise<OtherParts & { body: Body }> {
  const asked = query.get(name) ?? '';
  const { body, link } = await api.part<Body>(withParameters(asked === '' ? path : withQuery(path, asked), always));
  const next = without(nextQuery(link), Object.keys(always));
  const to = (part: string) => {
    const search = new URLSearchParams(query);
    // A flash message is shown only once.
    for (const other of ['flash', name]) search.delete(other);
    if (part !== '') search.set(name, part);
    return search.size === 0 ? address : `${address}?${search}`;
  };
  return { body, isFirst: asked === '', first: to(''), next: next === '' ? '' : to(next) };
}

/** Returns the first records of a list, at most `most`. */
export async function readUpTo<T>(api: Api, path: string, most: number): Promise<T[]> {
  const all: T[] = [];
  for (let at = path; ; ) {
    const { body, link } = await api.part<T[]>(at);
    all.push(...body);
    const next = nextQuery(link);
    if (next === '' || all.length >= most) return all.slice(0, most);
    at = withQuery(path, next);
  }
}

/** Renders links to the next part and back to the first; they work without scripts. */
export function partLinks(
  { isFirst, first, next }: OtherParts,
  words: { first: string; next: string } = { first: 'Back to the start', next: 'More' },
): Content {
  if (isFirst && next === '') return false;
  return html`<p class="row-of-buttons">${!isFirst && html`<a class="button" href="${first}">${words.first}</a>`}
    ${next !== '' && html`<a class="button" rel="next" href="${next}">${words.next}</a>`}</p>`;
}

/** Returns the query of the link `rel="next"` in a `Link` header (RFC 8288); "" without one. */
function nextQuery(link: string): string {
  return /<[^<>?]*\?([^<>]*)>\s*;\s*rel="next"/.exec(link)?.[1] ?? '';
}

/** Returns the path of a list with another query. The query comes from the address and is untrusted. */
function withQuery(path: string, query: string): string {
  const at = path.indexOf('?');
  return `${at < 0 ? path : path.slice(0, at)}?${new URLSearchParams(query)}`;
}

function withParameters(path: string, parameters: Readonly<Record<string, string>>): string {
  const [at = '', query] = path.split('?');
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(parameters)) all.set(name, value);
  return all.size === 0 ? at : `${at}?${all}`;
}

function without(query: string, names: readonly string[]): string {
  if (names.length === 0) return query;
  const others = new URLSearchParams(query);
  for (const name of names) others.delete(name);
  return others.toString();
}
