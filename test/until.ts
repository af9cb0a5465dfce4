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
  let since = { at: 0, idle: 0 };
  for (let pause = PAUSES_MS.first; ; pause = Math.min(pause * PAUSES_MS.growth, PAUSES_MS.longest)) {
    const seen = await look();
    if (isDone(seen)) return seen as NonNullable<Seen>;
    const shown = inspect(seen, { depth: 6, breakLength: 120 });
    const now = { at: performance.now(), idle: idleMs() };
    if (!before.has(shown)) since = now;
    before.add(shown);
    const [silence, idle] = [now.at - since.at, now.idle - since.idle];
    assert.ok(
      idle < IDLE_MAX_MS && silence < SILENCE_MAX_MS,
      `Waited for: ${what}. Nothing new was seen for ${Math.round(silence / 1_000)} s, of which the machine was idle for ${Math.round(idle / 1_000)} s; last seen: ${shown}`,
    );
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** The time for which the cores of this machine were idle since it started, in milliseconds of a core. */
function idleMs(): number {
  const cores = cpus();
  return cores.reduce((sum, { times }) => sum + times.idle, 0) / cores.length;
}
