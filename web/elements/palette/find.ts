import { ApiError, callApi } from '../call-api.ts';

export interface Entry {
  kind: 'recent' | 'searched' | 'saved' | 'suggestion' | 'title' | 'text' | 'source' | 'command' | 'all';
  /**
   * The address. For a `suggestion`, `searched` or `saved` entry it is the query; for a `command` with a button it is
   * "".
   */
  href: string;
  title: string;
  where: string;
  /** Safe HTML: the API escapes the text; the only markup is <mark>. */
  snippet: string;
  /** The button of the page that a `command` presses; "" for a command with an address. */
  press?: string;
}

/** The wiki to search: its API path and its address. */
export interface SearchScope {
  api: string;
  root: string;
}

interface Suggestion {
  kind: 'page' | 'query';
  text: string;
  path: string;
}

interface PageHit {
  path: string;
  title: string;
  source_count: number;
  snippet: string;
  heading: string;
  anchor: string;
}

interface SourceHit {
  source_id: string;
  filename: string;
  title: string;
  page_count: number;
  snippet: string;
}

const QUERY_MAX_LENGTH = 1_024;

const queryParameter = (words: string) => `query=${encodeURIComponent(words.slice(0, QUERY_MAX_LENGTH))}`;

export function searchUrl({ root }: SearchScope, words: string): string {
  return `${root}/-/search?${queryParameter(words)}`;
}

/** Finds pages whose titles match the typed text, or else a corrected query. Throws ApiError, or an AbortError. */
export async function suggestTitles({ api, root }: SearchScope, words: string, signal: AbortSignal): Promise<Entry[]> {
  const found = await callApi<Suggestion[]>(
    'GET',
    `${api}/suggest?${queryParameter(words)}&limit=8`,
    undefined,
    signal,
  );
  return found.map(({ kind, text, path }) =>
    kind === 'query'
      ? { kind: 'suggestion', href: text, title: text, where: '', snippet: '' }
      : { kind: 'title', href: `${root}/${path}`, title: text, where: path, snippet: '' },
  );
}

/**
 * Searches the text of pages and sources. Omits sources whose page is among the results: a page made from a single
 * source has the same title. Throws ApiError, or an AbortError.
 */
export async function searchTexts(scope: SearchScope, words: string, signal: AbortSignal): Promise<Entry[]> {
  const [pages, sources] = await Promise.all([
    callApi<PageHit[]>('GET', `${scope.api}/pages/search?${queryParameter(words)}&limit=8`, undefined, signal),
    searchSources(scope, words, signal),
  ]);
  const made = new Set(pages.filter(({ source_count }) => source_count > 0).map(({ title }) => title));
  const others = sources.filter(({ page_count, title }) => page_count === 0 || !made.has(title));
  return [...pages.map((hit) => pageEntry(scope, hit)), ...others.map((hit) => sourceEntry(scope, hit))];
}

/** Searches sources. A user who can read pages may lack permission to read sources, so a 403 means no results. */
async function searchSources({ api }: SearchScope, words: string, signal: AbortSignal): Promise<SourceHit[]> {
  try {
    return await callApi('GET', `${api}/sources/search?${queryParameter(words)}&limit=3`, undefined, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return [];
    throw error;
  }
}

function sourceEntry({ root }: SearchScope, { source_id, filename, title, snippet }: SourceHit): Entry {
  return { kind: 'source', href: `${root}/-/sources/${source_id}`, title: filename || title, where: '', snippet };
}

function pageEntry({ root }: SearchScope, { path, title, snippet, heading = '', anchor = '' }: PageHit): Entry {
  const fragment = anchor === '' ? '' : `#${encodeURIComponent(anchor)}`;
  const where = heading === '' || heading === title ? path : `${path} › ${heading}`;
  return { kind: 'text', href: `${root}/${path}${fragment}`, title, where, snippet };
}
