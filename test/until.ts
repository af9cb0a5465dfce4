import assert from 'node:assert/strict';
import { inspect } from 'node:util';

const PAUSE_MS = 10;
const WITHOUT_CHANGE_MS = 60_000;

/**
 * Polls until `isDone` accepts what `look` saw, and answers it. Fails with what was waited for and what was seen last when
 * that has not changed for a minute: a slow machine may take longer as long as it gets on. What `look` answers must
 * therefore hold no clock and no request id.
 */
export async function until<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
  isDone: (seen: Seen) => boolean = Boolean,
): Promise<NonNullable<Seen>> {
  let last = '';
  let deadline = 0;
  for (;;) {
    const seen = await look();
    if (isDone(seen)) return seen as NonNullable<Seen>;
    const shown = inspect(seen, { depth: 6, breakLength: 120 });
    if (shown !== last) deadline = performance.now() + WITHOUT_CHANGE_MS;
    last = shown;
    assert.ok(
      performance.now() < deadline,
      `Waited for: ${what}. Nothing has changed for a minute; last seen: ${last}`,
    );
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
