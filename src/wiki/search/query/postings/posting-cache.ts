import { openSizedCache } from '../../../../platform/core/sized-cache.ts';
import type { Index } from '../../index/pending.ts';

/** Of all wikis together: 16 MiB. */
const cache = openSizedCache<unknown>(16 * 2 ** 20);

/**
 * What this process has of an index under a name. A segment never changes, and a search asks the database which segments there
 * are, under the caller's permissions, so nothing outdated is used.
 */
export function cached<T>(index: Index, name: string): T | undefined {
  return cache.get(keyOf(index, name)) as T | undefined;
}

/** Adds a value of about `size` bytes. */
export function addToCache(index: Index, name: string, value: unknown, size: number): void {
  cache.set(keyOf(index, name), value, size);
}

function keyOf({ wiki_id, kind }: Index, name: string): string {
  return `${wiki_id} ${kind} ${name}`;
}
