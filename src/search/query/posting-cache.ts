import type { Index } from '../index/pending.ts';

/** The limit for all wikis together. */
const MAX_CACHED_BYTES = 16 * 2 ** 20;
/** What an entry takes beside its value. */
const ENTRY_BYTES = 200;

interface Entry {
  value: unknown;
  bytes: number;
}

/** What was used most recently of indexes; the least recently used comes first. */
const cache = new Map<string, Entry>();
let bytes = 0;

/**
 * What this process has of an index under a name. A segment never changes, and a search asks the database which segments there
 * are, under the caller's permissions, so nothing outdated is used.
 */
export function cached<T>(index: Index, name: string): T | undefined {
  const key = keyOf(index, name);
  const entry = cache.get(key);
  if (!entry) return undefined;
  cache.delete(key);
  cache.set(key, entry);
  return entry.value as T;
}

/** Adds a value, and evicts the least recently used. */
export function addToCache(index: Index, name: string, value: unknown, size: number): void {
  const key = keyOf(index, name);
  bytes += size + ENTRY_BYTES - (cache.get(key)?.bytes ?? 0);
  cache.delete(key);
  cache.set(key, { value, bytes: size + ENTRY_BYTES });
  for (const [oldest, entry] of cache) {
    if (bytes <= MAX_CACHED_BYTES) return;
    cache.delete(oldest);
    bytes -= entry.bytes;
  }
}

function keyOf({ wiki_id, kind }: Index, name: string): string {
  return `${wiki_id} ${kind} ${name}`;
}
