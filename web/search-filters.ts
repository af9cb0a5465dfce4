import type { HitCounts } from '../src/pages/search/schema.ts';
import { type Content, html } from './html.ts';

/** What narrows the results, as parameters of the API; those that the address has and the API takes. */
export interface SearchFilters {
  author: string;
  in: string;
  tag: string;
  updated: string;
  status: string;
  sort: string;
  /** Whether the words have to be in the title. */
  isTitleOnly: boolean;
}

const ORDERS = { '': 'Best first', updated: 'Changed last', created: 'Newest', title: 'Title' } as const;
const STATUSES = { '': 'Any', published: 'Published', draft: 'Draft', archived: 'Archived' } as const;
const DAYS = { 1: 'Past day', 7: 'Past week', 31: 'Past month', 366: 'Past year' } as const;
const SINCE = /^>=\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

export function readFilters(query: URLSearchParams): SearchFilters {
  const given = (name: string, isValid: (value: string) => boolean) => {
    const value = query.get(name) ?? '';
    return isValid(value) ? value : '';
  };
  return {
    author: given('author', (value) => /^user_[0-9a-z]{26}$/.test(value)),
    in: given('in', (value) => value.length <= 1_024),
    tag: given('tag', (value) => value.length <= 1_024),
    updated: given('updated', (value) => SINCE.test(value)),
    status: given('status', (value) => Object.hasOwn(STATUSES, value)),
    sort: given('sort', (value) => Object.hasOwn(ORDERS, value)),
    isTitleOnly: query.get('titles') === 'only',
  };
}

/** The parameters of the API for a search; `title` are the words that are searched for. */
export function parametersOf(
  words: string,
  filters: SearchFilters,
  names: readonly (keyof SearchFilters)[],
): URLSearchParams {
  const query = new URLSearchParams({ query: words });
  for (const name of names) {
    const value = filters[name];
    if (typeof value === 'string' && value !== '') query.set(name, value);
  }
  if (filters.isTitleOnly) query.set('title', words);
  return query;
}

/** A search as it can be typed: the words, and what narrows it as operators. */
export function typedQuery(words: string, filters: SearchFilters): string {
  const quoted = (value: string) => `"${value.replaceAll('"', ' ').trim()}"`;
  const { author, in: folder, tag, updated, status, isTitleOnly } = filters;
  return [
    isTitleOnly ? `title:${quoted(words)}` : words,
    author !== '' && `author:${author}`,
    folder !== '' && `in:${quoted(folder)}`,
    tag !== '' && `tag:${quoted(tag)}`,
    updated !== '' && `updated:${updated}`,
    status !== '' && `status:${status}`,
  ]
    .filter(Boolean)
    .join(' ');
}

interface Narrowed {
  words: string;
  filters: SearchFilters;
  counts: HitCounts | undefined;
  /** Whether the user may see drafts. */
  mayWrite: boolean;
  action: string;
}

/** The form that narrows the results; it works without scripts. */
export function filterForm({ words, filters, counts, mayWrite, action }: Narrowed): Content {
  const authors = (counts?.authors ?? []).filter(({ display_name }) => display_name !== '');
  const since = Object.entries(DAYS).map(([days, name]): Option => [daysAgo(Number(days)), name]);
  const folders = (counts?.folders ?? []).map(({ path, title, count }): Option => [path, `${title} (${count})`]);
  const tags = (counts?.tags ?? []).map(({ tag, count }): Option => [tag, `${tag} (${count})`]);
  return html`<form class="narrow" action="${action}" aria-label="Narrow the results">
    <input type="hidden" name="query" value="${words}">
    ${select('author', 'By', filters.author, [
      ['', 'Anyone'],
      ...authors.map(({ user_id, display_name, count }): Option => [user_id, `${display_name} (${count})`]),
    ])}
    ${select('in', 'Below', filters.in, [['', 'Anywhere'], ...folders])}
    ${(tags.length > 0 || filters.tag !== '') && select('tag', 'Tagged', filters.tag, [['', 'Anything'], ...tags])}
    ${select('updated', 'Changed', filters.updated, [['', 'Any time'], ...since])}
    ${mayWrite && select('status', 'Status', filters.status, Object.entries(STATUSES))}
    ${select('sort', 'Order', filters.sort, Object.entries(ORDERS))}
    <label class="check"><input type="checkbox" name="titles" value="only" ${filters.isTitleOnly && 'checked'}> In titles only</label>
    <button class="button">Narrow</button>
  </form>`;
}

type Option = [value: string, name: string];

function select(name: string, label: string, chosen: string, options: readonly Option[]): Content {
  // What the address asks for stays, also where it finds nothing.
  const all = options.some(([value]) => value === chosen) ? options : [...options, [chosen, chosen] as Option];
  return html`<label>${label} <select name="${name}">${all.map(
    ([value, text]) => html`<option value="${value}" ${value === chosen && 'selected'}>${text}</option>`,
  )}</select></label>`;
}

function daysAgo(days: number): string {
  return `>=${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}`;
}

/** How many pages were found, in words. */
export function totalOf({ total, is_exact }: HitCounts): string {
  const number = total.toLocaleString('en-US');
  if (!is_exact) return `More than ${total < 1_000 ? number : '1,000'} pages`;
  return total === 1 ? '1 page' : `${number} pages`;
}
