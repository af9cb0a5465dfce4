/** Bytes of overhead per entry: key and Map slot. */
const ENTRY_BYTES = 200;
const LOOKS_EVERY_MS = 60_000;
/** Entries unused for this many sweeps are evicted, so that an idle process frees its memory. */
const UNUSED_LOOKS = 5;
/**
 * Fraction of the maximum size to keep after the cache overflows. Evicts in bulk, because finding the oldest entry of a
 * Map scans the tombstones of deleted ones.
 */
const LEFT = 0.9;

interface Entry<Value> {
  value: Value;
  bytes: number;
  /** Number of the last sweep before the latest use. */
  used: number;
  /** Whether the entry was used since it was inserted or moved to the end. */
  wasUsed: boolean;
}

/** A cache with a maximum total size. Evicts the oldest entries first, except entries used since (CLOCK). */
export interface SizedCache<Value> {
  get(key: string): Value | undefined;
  /** Does not store values larger than the whole cache. */
  set(key: string, value: Value, bytes: number): void;
}

export function openSizedCache<Value>(maxBytes: number): SizedCache<Value> {
  const entries = new Map<string, Entry<Value>>();
  let total = 0;
  let looks = 0;
  let timer: NodeJS.Timeout | undefined;

  function drop(key: string): void {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  /**
   * Gives used entries a second chance by moving them to the end. Moving an entry at each use would cost more than the
   * use itself.
   */
  function dropOldest(): void {
    for (const [key, entry] of entries) {
      if (total <= LEFT * maxBytes) return;
      if (!entry.wasUsed) drop(key);
      else {
        entry.wasUsed = false;
        entries.delete(key);
        entries.set(key, entry);
      }
    }
  }

  function dropUnused(): void {
    looks += 1;
    for (const [key, { used }] of entries) if (looks - used > UNUSED_LOOKS) drop(key);
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entry.wasUsed = true;
      entry.used = looks;
      return entry.value;
    },
    set(key, value, size) {
      drop(key);
      const bytes = size + ENTRY_BYTES;
      if (bytes > maxBytes) return;
      entries.set(key, { value, bytes, used: looks, wasUsed: false });
      total += bytes;
      if (total > maxBytes) dropOldest();
      timer ??= setInterval(dropUnused, LOOKS_EVERY_MS).unref();
    },
  };
}
