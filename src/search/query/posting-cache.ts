import type { Index } from '../index/pending.ts';

/** The limit for all wikis together. */
const BYTES_KEPT = 16 * 2 ** 20;
/** Shorter postings are read as fast as they are looked up here. */
const BYTES_WORTH = 4_096;

interface Kept {
  version: string;
  postings: Buffer;
}

/** The most recently used postings of frequent terms; the least recently used come first. */
const kept = new Map<string, Kept>();
let bytes = 0;

/**
 * The cached postings of frequent terms, with their versions. A search compares the versions with the database in the
 * statement that reads the index, under the caller's permissions, so outdated postings are never used.
 */
export function cachedPostings(index: Index, terms: readonly string[]): Map<string, Kept> {
  const found = new Map<string, Kept>();
  for (const term of terms) {
    const one = kept.get(keyOf(index, term));
    if (one) found.set(term, one);
  }
  return found;
}

/** Adds postings to the cache, or marks them as used; evicts the least recently used. */
export function cachePostings(index: Index, term: string, one: Kept): void {
  if (one.postings.length < BYTES_WORTH) return;
  const key = keyOf(index, term);
  bytes += one.postings.length - (kept.get(key)?.postings.length ?? 0);
  kept.delete(key);
  kept.set(key, one);
  for (const [oldest, { postings }] of kept) {
    if (bytes <= BYTES_KEPT) return;
    kept.delete(oldest);
    bytes -= postings.length;
  }
}

function keyOf({ wiki_id, kind }: Index, term: string): string {
  return `${wiki_id} ${kind} ${term}`;
}
