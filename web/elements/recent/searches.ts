import { callApi } from '../call-api.ts';
import type { Entry } from '../palette/find.ts';
import { readKept, writeKept } from './kept.ts';

/** Maximum number of searches that are stored, latest first. */
const KEPT = 10;

const listOf = (wiki: string) => `${wiki} searches`;

interface SavedSearch {
  name: string;
  query: string;
}

/** Returns the last searches of this user in this wiki and browser. The address of an entry is the query. */
export function recentSearches({ user = '', wiki = '' }: DOMStringMap): Entry[] {
  return readKept(user, listOf(wiki), isText).map((query) => searchEntry('searched', query, query));
}

/** Stores a search, for this user only, until they sign out here. */
export function rememberSearch({ user = '', wiki = '' }: DOMStringMap, words: string): void {
  const query = words.trim();
  if (query === '') return;
  const others = readKept(user, listOf(wiki), isText).filter((other) => other !== query);
  writeKept(user, listOf(wiki), [query, ...others].slice(0, KEPT));
}

/** Returns the query of the current page of results; "" on other pages. */
export function shownSearch(root: string): string {
  return location.pathname === `${root}/-/search` ? (new URLSearchParams(location.search).get('query') ?? '') : '';
}

/** Loads the searches that the user has named. Throws ApiError. */
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
