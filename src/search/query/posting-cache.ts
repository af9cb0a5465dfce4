import type { Index } from '../index/pending.ts';

/** The limit for all wikis together. */
const MAX_CACHED_BYTES = 16 * 2 ** 20;
/** Shorter postings are read as fast as they are looked up here. */
const MIN_CACHED_BYTES = 4_096;

interface CachedPostings {
  version: string;
  postings: Buffer;
}

/** The most recently used postings of frequent terms; the least recently used come first. */
const cache = new Map<string, CachedPostings>();
let bytes = 0;

/**
 * The cached postings of frequent terms, with their versions. A search compares the versions with the database in the
 * statement that reads the index, under the caller's permissions, so outdated postings are never used.
 */
export function cachedPostings(index: Index, terms: readonly string[]): Map<string, CachedPostings> {
  const found = new Map<string, CachedPostings>();
  for (const term of terms) {
    const one = cache.get(keyOf(index, term));
    if (one) found.set(term, one);
  }
  return found;
}

/** Adds postings to the cache, or marks them as used; evicts the least recently used. */
export function cachePostings(index: Index, term: string, one: CachedPostings): void {
  if (one.postings.length < MIN_CACHED_BYTES) return;
  const key = keyOf(index, term);
  bytes += one.postings.length - (cache.get(key)?.postings.length ?? 0);
  cache.delete(key);
  cache.set(key, one);
  for (const [oldest, { postings }] of cache) {
    if (bytes <= MAX_CACHED_BYTES) return;
    cache.delete(oldest);
    bytes -= postings.length;
  }
}

function keyOf({ wiki_id, kind }: Index, term: string): string {
  return `${wiki_id} ${kind} ${term}`;
}
