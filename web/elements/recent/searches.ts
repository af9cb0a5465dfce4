import { callApi } from '../call-api.ts';
import type { Entry } from '../palette/find.ts';
import { readKept, writeKept } from './kept.ts';

/** Maximum number of searches that are kept, the last one first. */
const KEPT = 10;

const listOf = (wiki: string) => `${wiki} searches`;

interface SavedSearch {
  name: string;
  query: string;
}

/** What this user searched for last in this wiki and browser; the address of an entry is the query. */
export function recentSearches({ user = '', wiki = '' }: DOMStringMap): Entry[] {
  return readKept(user, listOf(wiki), isText).map((query) => searchEntry('searched', query, query));
}

/** Keeps what was searched for, for this user alone, until they sign out here. */
export function rememberSearch({ user = '', wiki = '' }: DOMStringMap, words: string): void {
  const query = words.trim();
  if (query === '') return;
  const others = readKept(user, listOf(wiki), isText).filter((other) => other !== query);
  writeKept(user, listOf(wiki), [query, ...others].slice(0, KEPT));
}

/** The words of the page of results that is shown; "" elsewhere. */
export function shownSearch(root: string): string {
  return location.pathname === `${root}/-/search` ? (new URLSearchParams(location.search).get('query') ?? '') : '';
}

/** The searches to which the user gave a name. Errors: ApiError. */
export async function loadSavedSearches({ wiki = '' }: DOMStringMap): Promise<Entry[]> {
  const saved = await callApi<SavedSearch[]>('GET', `/v1/wikis/${wiki}/saved-searches?limit=100`);
  return saved.map(({ name, query }) => searchEntry('saved', name, query));
}

function searchEntry(kind: 'searched' | 'saved', title: string, query: string): Entry {
  return { kind, href: query, title, where: title === query ? '' : query, snippet: '' };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
