import assert from 'node:assert/strict';
import { cpus } from 'node:os';
import { inspect } from 'node:util';

/** A look may be a request that costs a few milliseconds: what takes long is looked at less and less often. */
const PAUSES_MS = { first: 10, growth: 1.2, longest: 150 };
/**
 * How long the machine may idle while nothing new is seen. On a busy one the process that is waited for may not have had its
 * turn, so time counts only as far as cores were idle; and in any case once it is SILENCE_MAX_MS.
 */
const IDLE_MAX_MS = 120_000;
const SILENCE_MAX_MS = 900_000;
const LOOK_MS = 500;

/**
 * Polls until `isDone` accepts what `look` saw, and answers it. Fails with what was waited for and what was seen last when
 * nothing new was seen although the machine was idle: a slow machine may take longer as long as it gets on, and values that
 * were seen before are no news. What `look` answers must therefore hold no clock and no request id.
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
 * Returns a function that tells whether a wait that begins now has become too long: the cores were idle for `idle_ms` on
 * average, or a quarter of an hour has passed.
 */
export function patience(idle_ms = IDLE_MAX_MS): () => boolean {
  const [began, idle] = [performance.now(), idleMs()];
  return () => idleMs() - idle > idle_ms || performance.now() - began > SILENCE_MAX_MS;
}

/** Waits for `work`. Fails with `what` when that has become too long, as `patience` decides. */
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

/** The time for which the cores of this machine were idle since it started, in milliseconds of a core. */
function idleMs(): number {
  const cores = cpus();
  return cores.reduce((sum, { times }) => sum + times.idle, 0) / cores.length;
}
