import { ask, Refused } from './ask.ts';

/** Something to choose in the palette. */
export interface Entry {
  kind: 'meant' | 'title' | 'text' | 'source' | 'all';
  /** Where it leads; of `meant` what to search for instead. */
  href: string;
  title: string;
  where: string;
  /** Safe: the API escapes it, and marks the words. */
  snippet: string;
}

/** Where a palette looks: the path of a wiki in the API, and its address here. */
export interface Place {
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

const MOST_CHARACTERS = 1_024;

const queryOf = (words: string) => `query=${encodeURIComponent(words.slice(0, MOST_CHARACTERS))}`;

export function searchAddress({ root }: Place, words: string): string {
  return `${root}/-/search?${queryOf(words)}`;
}

/** Pages whose titles hold what is being typed, or else what was probably meant. Errors: Refused; an AbortError. */
export async function findTitles({ api, root }: Place, words: string, signal: AbortSignal): Promise<Entry[]> {
  const found = await ask<Suggestion[]>('GET', `${api}/suggest?${queryOf(words)}&limit=8`, undefined, signal);
  return found.map(({ kind, text, path }) =>
    kind === 'query'
      ? { kind: 'meant', href: text, title: text, where: '', snippet: '' }
      : { kind: 'title', href: `${root}/${path}`, title: text, where: path, snippet: '' },
  );
}

/** Pages and sources that hold the words. Errors: Refused; an AbortError. */
export async function findTexts(place: Place, words: string, signal: AbortSignal): Promise<Entry[]> {
  const [pages, sources] = await Promise.all([
    ask<PageHit[]>('GET', `${place.api}/pages/search?${queryOf(words)}&limit=8`, undefined, signal),
    findSources(place, words, signal),
  ]);
  return [...pages.map((hit) => entryOf(place, hit)), ...sources];
}

/** Who may read pages may not always read what they were made from. */
async function findSources({ api, root }: Place, words: string, signal: AbortSignal): Promise<Entry[]> {
  try {
    const hits = await ask<SourceHit[]>('GET', `${api}/sources/search?${queryOf(words)}&limit=3`, undefined, signal);
    return hits.map(({ source_id, filename, title, snippet }) => ({
      kind: 'source',
      href: `${root}/-/sources/${source_id}`,
      title: filename || title,
      where: '',
      snippet,
    }));
  } catch (error) {
    if (error instanceof Refused && error.status === 403) return [];
    throw error;
  }
}

function entryOf({ root }: Place, { path, title, snippet, heading = '', anchor = '' }: PageHit): Entry {
  const fragment = anchor === '' ? '' : `#${encodeURIComponent(anchor)}`;
  const where = heading === '' || heading === title ? path : `${path} › ${heading}`;
  return { kind: 'text', href: `${root}/${path}${fragment}`, title, where, snippet };
}
