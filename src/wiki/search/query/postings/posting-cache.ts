import { openSizedCache } from '../../../../platform/core/sized-cache.ts';
import type { Index } from '../../index/pending.ts';

/** 16 MiB, shared by all wikis. */
const cache = openSizedCache<unknown>(16 * 2 ** 20);

/**
 * Returns a cached value of an index. Cached values cannot be outdated: segments are immutable, and a search reads the
 * list of segments from the database, under the caller's permissions.
 */
export function cached<T>(index: Index, name: string): T | undefined {
  return cache.get(keyOf(index, name)) as T | undefined;
}

/** Caches a value of about `size` bytes. */
export function addToCache(index: Index, name: string, value: unknown, size: number): void {
  cache.set(keyOf(index, name), value, size);
}

function keyOf({ wiki_id, kind }: Index, name: string): string {
  return `${wiki_id} ${kind} ${name}`;
}
