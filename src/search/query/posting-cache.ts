import type { Index } from '../index/pending.ts';

/** So much is kept in memory, of all wikis together. */
const BYTES_KEPT = 16 * 2 ** 20;
/** Shorter ones are read as fast as they are looked up. */
const BYTES_WORTH = 4_096;

interface Kept {
  version: string;
  postings: Buffer;
}

/** What was read last of the terms that many documents hold; the first is the one that nobody asked for for longest. */
const kept = new Map<string, Kept>();
let bytes = 0;

/**
 * The postings of frequent terms that are in memory, with the version that they are of: a statement answers them again only
 * where that is no longer the present one, so nobody finds what is not, or no longer, in the index that they may read.
 */
export function cachedPostings(index: Index, terms: readonly string[]): Map<string, Kept> {
  const found = new Map<string, Kept>();
  for (const term of terms) {
    const one = kept.get(keyOf(index, term));
    if (one) found.set(term, one);
  }
  return found;
}

/** Keeps postings that were read, or used again, in the place of those that were not for longest. */
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
