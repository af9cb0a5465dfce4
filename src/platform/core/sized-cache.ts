/** What a value takes beside its size: its key and its entry. */
const ENTRY_BYTES = 200;
const LOOKS_EVERY_MS = 60_000;
/** What was not used between as many looks is dropped, so that an idle process has its memory back. */
const UNUSED_LOOKS = 5;
/**
 * What is left of the size when it was exceeded. Many are dropped at once, because to find the oldest entry of a Map means to
 * pass by all places in front of it whose entries were deleted.
 */
const LEFT = 0.9;

interface Entry<Value> {
  value: Value;
  bytes: number;
  /** The number of the look before which it was used last. */
  used: number;
  /** Since it took its place in the order. */
  wasUsed: boolean;
}

/** Values of a total size; of those that were not used again, the oldest are dropped first. */
export interface SizedCache<Value> {
  get(key: string): Value | undefined;
  /** A value that is larger than the whole cache is not kept. */
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

  /** An entry that was used has a second turn, behind the others: to move it at each use would cost more than the use. */
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
