import assert from 'node:assert/strict';
import { cpus } from 'node:os';
import { inspect } from 'node:util';

/** A look may be a request that costs a few milliseconds, so the pauses between looks grow. */
const PAUSES_MS = { first: 10, growth: 1.2, longest: 150 };
/**
 * Maximum idle time of the machine without news. On a busy machine the awaited process may not have been scheduled, so
 * only idle time of the cores counts, up to SILENCE_MAX_MS of elapsed time.
 */
const IDLE_MAX_MS = 120_000;
const SILENCE_MAX_MS = 900_000;
const LOOK_MS = 500;

/**
 * Polls until `isDone` accepts the value of `look`, and returns the value. Throws an error with `what` and the last
 * value if `look` returned no new value although the machine was idle: a slow machine may take longer as long as it
 * makes progress. A value seen before is not new, so values must contain no clock and no request id.
 */
export async function until<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
  isDone: (seen: Seen) => boolean = Boolean,
): Promise<NonNullable<Seen>> {
  const before = new Set<string>();
  let isTooLong = patience();
  for (let pause = PAUSES_MS.first; ; pause = Math.min(pause * PAUSES_MS.growth, PAUSES_MS.longest)) {
    const seen = await look();
    if (isDone(seen)) return seen as NonNullable<Seen>;
    const shown = inspect(seen, { depth: 6, breakLength: 120 });
    if (!before.has(shown)) isTooLong = patience();
    before.add(shown);
    assert.ok(
      !isTooLong(),
      `Waited for: ${what}. Nothing new was seen although the machine was idle; last seen: ${shown}`,
    );
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/**
 * Returns a function that reports whether a wait that begins now has become too long: the cores were idle for `idle_ms`
 * on average, or a quarter of an hour has passed.
 */
export function patience(idle_ms = IDLE_MAX_MS): () => boolean {
  const [began, idle] = [performance.now(), idleMs()];
  return () => idleMs() - idle > idle_ms || performance.now() - began > SILENCE_MAX_MS;
}

/** Waits for `work`. Throws an Error with `what` if that takes too long, as `patience` decides. */
export async function inTime<T>(what: string, work: T | Promise<T>, idle_ms?: number): Promise<T> {
  const isTooLong = patience(idle_ms);
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setInterval(() => isTooLong() && reject(new Error(what)), LOOK_MS);
  });
  try {
    return await Promise.race([work, hangs]);
  } finally {
    clearInterval(timer);
  }
}

/** Returns the idle time of the cores since the machine started, in milliseconds, averaged over the cores. */
function idleMs(): number {
  const cores = cpus();
  return cores.reduce((sum, { times }) => sum + times.idle, 0) / cores.length;
}
