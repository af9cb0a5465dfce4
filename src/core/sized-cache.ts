/** What a value takes beside its size: its key and its entry. */
const ENTRY_BYTES = 200;
const LOOKS_EVERY_MS = 60_000;
/** What was not used for so long is dropped, so that an idle process has its memory back. */
const UNUSED_MS = 5 * 60_000;
/**
 * What is left of the size when it was exceeded. Many are dropped at once, because to find the oldest entry of a Map means to
 * pass by all places in front of it whose entries were deleted.
 */
const LEFT = 0.9;

interface Entry<Value> {
  value: Value;
  bytes: number;
  used: number;
}

/** Values of a total size; the least recently used are dropped first. */
export interface SizedCache<Value> {
  get(key: string): Value | undefined;
  /** A value that is larger than the whole cache is not kept. */
  set(key: string, value: Value, bytes: number): void;
}

export function openSizedCache<Value>(maxBytes: number): SizedCache<Value> {
  // In the order of use.
  const entries = new Map<string, Entry<Value>>();
  let total = 0;
  let timer: NodeJS.Timeout | undefined;

  function drop(key: string): void {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  function dropOldest(): void {
    for (const oldest of entries.keys()) {
      if (total <= LEFT * maxBytes) return;
      drop(oldest);
    }
  }

  function dropUnused(): void {
    const since = performance.now() - UNUSED_MS;
    for (const [key, { used }] of entries) {
      if (used > since) return;
      drop(key);
    }
    clearInterval(timer);
    timer = undefined;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      entry.used = performance.now();
      return entry.value;
    },
    set(key, value, size) {
      drop(key);
      const bytes = size + ENTRY_BYTES;
      if (bytes > maxBytes) return;
      entries.set(key, { value, bytes, used: performance.now() });
      total += bytes;
      if (total > maxBytes) dropOldest();
      timer ??= setInterval(dropUnused, LOOKS_EVERY_MS).unref();
    },
  };
}
