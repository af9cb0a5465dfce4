/** Maximum number of names counted at once. */
const COUNTED_MAX = 200;

/** Interval at which all counts are halved, so that old usage fades. */
const HALVED_MS = 300_000;

/**
 * Finds the names that recently spent the most, in bounded memory (the Space-Saving algorithm): if all slots are taken,
 * a new name replaces the name with the lowest count and inherits that count. So a heavy spender is never missed, and a
 * count is too high by at most the lowest count.
 */
export interface TopSpenders {
  add(name: string, seconds: number): void;
  /** Returns the names that spent the most, each with its seconds. Usage has half its weight after five minutes. */
  top(count: number): [name: string, seconds: number][];
}

export function openTopSpenders(): TopSpenders {
  const spent = new Map<string, number>();
  let halvedAt = performance.now();

  function halve(): void {
    const times = Math.floor((performance.now() - halvedAt) / HALVED_MS);
    if (times === 0) return;
    halvedAt += times * HALVED_MS;
    for (const [name, seconds] of spent) spent.set(name, seconds / 2 ** times);
  }

  function takeLeast(): number {
    let least: [string, number] = ['', Number.POSITIVE_INFINITY];
    for (const entry of spent) if (entry[1] < least[1]) least = entry;
    spent.delete(least[0]);
    return least[1];
  }

  return {
    add(name, seconds) {
      const before = spent.get(name) ?? (spent.size < COUNTED_MAX ? 0 : takeLeast());
      spent.set(name, before + seconds);
    },
    top(count) {
      halve();
      return [...spent].sort((a, b) => b[1] - a[1]).slice(0, count);
    },
  };
}
