import assert from 'node:assert/strict';
import { inspect } from 'node:util';

/** A look may be a request that costs a few milliseconds: what takes long is looked at less and less often. */
const PAUSES_MS = { first: 10, growth: 1.2, longest: 150 };
/** What is rendered has a lower priority than the tests, and has to wait for them on a busy machine. */
const WITHOUT_NEWS_MS = 150_000;

/**
 * Polls until `isDone` accepts what `look` saw, and answers it. Fails with what was waited for and what was seen last when
 * nothing new was seen for long: a slow machine may take longer as long as it gets on, and what goes to and fro does not.
 * What `look` answers must therefore hold no clock and no request id.
 */
export async function until<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
  isDone: (seen: Seen) => boolean = Boolean,
): Promise<NonNullable<Seen>> {
  const before = new Set<string>();
  let deadline = 0;
  for (let pause = PAUSES_MS.first; ; pause = Math.min(pause * PAUSES_MS.growth, PAUSES_MS.longest)) {
    const seen = await look();
    if (isDone(seen)) return seen as NonNullable<Seen>;
    const shown = inspect(seen, { depth: 6, breakLength: 120 });
    if (!before.has(shown)) deadline = performance.now() + WITHOUT_NEWS_MS;
    before.add(shown);
    assert.ok(
      performance.now() < deadline,
      `Waited for: ${what}. Nothing new was seen for ${WITHOUT_NEWS_MS / 1_000} s; last seen: ${shown}`,
    );
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
