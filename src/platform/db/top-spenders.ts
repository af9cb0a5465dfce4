/** Maximum number of names that are counted at once. */
const COUNTED_MAX = 200;

/** How often all counts are halved, so that what was spent long ago is forgotten. */
const HALVED_MS = 300_000;

/**
 * Who spent most lately, in bounded memory: when all places are taken, a new name takes the place of the one that spent
 * least, together with its count (the algorithm Space-Saving), so that a name that spends much is never missed and a count
 * is too high by at most the smallest one.
 */
export interface TopSpenders {
  add(name: string, seconds: number): void;
  /** The names that spent most, each with its seconds; what was spent counts half after five minutes. */
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
