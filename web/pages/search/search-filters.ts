import type { HitCounts } from '../../../src/wiki/pages/search/schema.ts';
import { type Content, html } from '../../html.ts';

/** The filters of a search, as parameters of the API. Contains only values of the address that the API accepts. */
export interface SearchFilters {
  author: string;
  in: string;
  tag: string;
  updated: string;
  status: string;
  sort: string;
  /** Whether the words must be in the title. */
  isTitleOnly: boolean;
}

const ORDERS = { '': 'Best match', updated: 'Last changed', created: 'Newest', title: 'By title' } as const;
const STATUSES = { '': 'Any status', published: 'Published', draft: 'Draft', archived: 'Archived' } as const;
const DAYS = { 1: 'Past day', 7: 'Past week', 31: 'Past month', 366: 'Past year' } as const;
const SINCE = /^>=\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

/**
 * How many of the best hits are counted by author, folder and tag, because counting more hits takes longer than finding
 * them.
 */
export const COUNTED_HITS = 200;

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

/** Returns the API parameters of a search. With a title filter, `title` holds the search words. */
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

/** Returns a search as a typed query: the words, and the filters as operators. */
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

type Option = [value: string, name: string];

/** A filter with its options; the first option means no filter. */
interface Choice {
  name: keyof SearchFilters;
  label: string;
  options: readonly Option[];
}

/**
 * The form that filters the results: a row, or in a narrow window a button that opens it, followed by the active
 * filters. It works without scripts.
 */
export function filterForm(narrowed: Narrowed): Content {
  const { words, filters, action } = narrowed;
  const chosen = chosenFilters(narrowed);
  const title = chosen.find(({ name }) => name === 'isTitleOnly');
  return html`<form class="search-filters" action="${action}" aria-label="Filter results">
    <input type="hidden" name="query" value="${words}">
    <details class="menu start filters"><summary class="button">Filters${chosen.length > 0 && ` (${chosen.length})`}</summary>
    <div class="menu-box filter-row">
      ${choicesOf(narrowed).map((choice) => pill(choice, filters, chosen))}
      <span class="filter${title && ' chosen'}"><label><input type="checkbox" name="titles" value="only" ${filters.isTitleOnly && 'checked'}> Titles only</label></span>
      <button class="button">Apply</button>
    </div></details>
    ${chosen.length > 0 && html`<ul class="chips" aria-label="Active filters">${chosen.map(({ text, without }) => html`<li><a class="chip" href="${without}" aria-label="Remove the filter ${text}"><bdi>${text}</bdi> <span aria-hidden="true">×</span></a></li>`)}</ul>`}
  </form>`;
}

function choicesOf({ filters, counts, mayWrite }: Narrowed): Choice[] {
  const authors = (counts?.authors ?? []).filter(({ display_name }) => display_name !== '');
  // With more hits only the best are counted, so the options are complete enough but the counts are not.
  const named = (name: string, count: number) => ((counts?.total ?? 0) > COUNTED_HITS ? name : `${name} (${count})`);
  const folders = (counts?.folders ?? []).map(({ path, title, count }): Option => [path, named(title, count)]);
  const tags = (counts?.tags ?? []).map(({ tag, count }): Option => [tag, named(tag, count)]);
  const since = Object.entries(DAYS).map(([days, name]): Option => [daysAgo(Number(days)), name]);
  const people = authors.map(({ user_id, display_name, count }): Option => [user_id, named(display_name, count)]);
  const choices: Choice[] = [
    { name: 'author', label: 'Author', options: [['', 'Any author'], ...people] },
    { name: 'in', label: 'Within', options: [['', 'Whole wiki'], ...folders] },
    { name: 'tag', label: 'Tag', options: [['', 'Any tag'], ...tags] },
    { name: 'updated', label: 'Changed', options: [['', 'Any time'], ...since] },
    { name: 'status', label: 'Status', options: Object.entries(STATUSES) },
    { name: 'sort', label: 'Sort', options: Object.entries(ORDERS) },
  ];
  const hasTags = tags.length > 0 || filters.tag !== '';
  return choices.filter(({ name }) => (name === 'tag' ? hasTags : name === 'status' ? mayWrite : true));
}

/**
 * Returns the active filters as text, each with the address of the results without it. The sort order is not a filter.
 */
function chosenFilters(narrowed: Narrowed): { name: keyof SearchFilters; text: string; without: string }[] {
  const { words, filters, action } = narrowed;
  const without = (name: keyof SearchFilters) => {
    const query = new URLSearchParams({ query: words });
    for (const [key, value] of Object.entries(filters))
      if (key !== name && value !== '' && value !== false) query.set(...addressed(key, String(value)));
    return `${action}?${query.toString()}`;
  };
  const chosen = choicesOf(narrowed)
    .filter(({ name }) => name !== 'sort' && filters[name] !== '')
    .map(({ name, label, options }) => {
      const value = String(filters[name]);
      const shown = options.find(([option]) => option === value)?.[1].replace(/ \(\d+\)$/, '') ?? asWritten(value);
      return { name, text: `${label}: ${shown}`, without: without(name) };
    });
  if (filters.isTitleOnly) chosen.push({ name: 'isTitleOnly', text: 'Titles only', without: without('isTitleOnly') });
  return chosen;
}

/** Returns the parameter of a filter in the address. */
function addressed(name: string, value: string): [string, string] {
  return name === 'isTitleOnly' ? ['titles', 'only'] : [name, value];
}

/** Returns the text of a filter value that is not among the options: it stays selected even if it finds nothing. */
function asWritten(value: string): string {
  return value.replace(/^>=/, 'since ');
}

function pill(
  { name, label, options }: Choice,
  filters: SearchFilters,
  chosen: readonly { name: string; text: string; without: string }[],
): Content {
  const value = String(filters[name]);
  const off = chosen.find((it) => it.name === name);
  const all = options.some(([option]) => option === value)
    ? options
    : [...options, [value, asWritten(value)] as Option];
  return html`<span class="filter${off && ' chosen'}"><select name="${name}" aria-label="${label}">${all.map(
    ([option, text]) => html`<option value="${option}" ${option === value && 'selected'}>${text}</option>`,
  )}</select>${off && html`<a class="filter-off" href="${off.without}" aria-label="Remove the filter ${off.text}">×</a>`}</span>`;
}

function daysAgo(days: number): string {
  return `>=${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}`;
}

/** Returns the number of found pages as text. */
export function totalOf({ total, is_exact }: HitCounts): string {
  const number = total.toLocaleString('en-US');
  if (!is_exact) return `More than ${total < 1_000 ? number : '1,000'} pages`;
  return total === 1 ? '1 page' : `${number} pages`;
}
