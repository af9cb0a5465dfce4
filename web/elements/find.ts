import { ApiError, callApi } from './call-api.ts';

/** An entry of the palette. */
export interface Entry {
  kind: 'suggestion' | 'title' | 'text' | 'source' | 'all';
  /** The address; of a `suggestion` the query to search for instead. */
  href: string;
  title: string;
  where: string;
  /** Safe HTML: the API escapes the text; the only markup is <mark>. */
  snippet: string;
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
  snippet: string;
  heading: string;
  anchor: string;
}

interface SourceHit {
  source_id: string;
  filename: string;
  title: string;
  snippet: string;
}

const QUERY_MAX_LENGTH = 1_024;

const queryParameter = (words: string) => `query=${encodeURIComponent(words.slice(0, QUERY_MAX_LENGTH))}`;

export function searchUrl({ root }: SearchScope, words: string): string {
  return `${root}/-/search?${queryParameter(words)}`;
}

/** Pages whose titles match what is being typed, or else a corrected query. Errors: ApiError; an AbortError. */
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

/** Pages and sources that contain the words. Errors: ApiError; an AbortError. */
export async function searchTexts(scope: SearchScope, words: string, signal: AbortSignal): Promise<Entry[]> {
  const [pages, sources] = await Promise.all([
    callApi<PageHit[]>('GET', `${scope.api}/pages/search?${queryParameter(words)}&limit=8`, undefined, signal),
    searchSources(scope, words, signal),
  ]);
  return [...pages.map((hit) => pageEntry(scope, hit)), ...sources];
}

/** Not everyone who can read pages can read their sources: a 403 means none. */
async function searchSources({ api, root }: SearchScope, words: string, signal: AbortSignal): Promise<Entry[]> {
  try {
    const hits = await callApi<SourceHit[]>(
      'GET',
      `${api}/sources/search?${queryParameter(words)}&limit=3`,
      undefined,
      signal,
    );
    return hits.map(({ source_id, filename, title, snippet }) => ({
      kind: 'source',
      href: `${root}/-/sources/${source_id}`,
      title: filename || title,
      where: '',
      snippet,
    }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return [];
    throw error;
  }
}

function pageEntry({ root }: SearchScope, { path, title, snippet, heading = '', anchor = '' }: PageHit): Entry {
  const fragment = anchor === '' ? '' : `#${encodeURIComponent(anchor)}`;
  const where = heading === '' || heading === title ? path : `${path} › ${heading}`;
  return { kind: 'text', href: `${root}/${path}${fragment}`, title, where, snippet };
}
