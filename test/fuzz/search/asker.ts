import assert from 'node:assert/strict';
import type { Answer, Client } from '../../world.ts';

/** A request that took longer is sent again while there are no others. */
const SLOW_MS = 1_000;
const REPEATS = 5;

/** Sends requests, and knows which was the slowest. */
export interface Asker {
  /** Sends a request; again without others where it took long, or the service had too much to do. */
  ask(client: Client, path: string): Promise<Answer>;
  /** Answers of 503, of a service or a machine with too much to do; each was answered when it was asked again alone. */
  refused(): number;
  /** The slowest request, and its time; where that was more than a second, the least time of some repetitions alone. */
  slowest(): { ms: number; path: string };
}

export function openAsker(): Asker {
  let refused = 0;
  let slowest = { ms: 0, path: '' };
  /** Requests that are sent again wait for the others, and those for them. */
  let alone: Promise<void> | undefined;
  const running = new Set<Promise<unknown>>();

  /** The answer to the last of some repetitions while there are no other requests, and the least time. */
  async function askAlone(client: Client, path: string): Promise<{ answer: Answer; ms: number }> {
    while (alone) await alone;
    let go = () => {};
    alone = new Promise((resolve) => {
      go = resolve;
    });
    try {
      await Promise.allSettled(running);
      let ms = Number.POSITIVE_INFINITY;
      for (let left = REPEATS; ; left -= 1) {
        const began = performance.now();
        const answer = await client.get(path);
        ms = Math.min(ms, performance.now() - began);
        if (left === 1 || ms < SLOW_MS / 2) return { answer, ms };
      }
    } finally {
      alone = undefined;
      go();
    }
  }

  return {
    refused: () => refused,
    slowest: () => slowest,
    async ask(client, path) {
      await alone;
      const began = performance.now();
      const asked = client.get(path);
      running.add(asked);
      const answer = await asked.finally(() => running.delete(asked));
      const ms = performance.now() - began;
      if (ms <= SLOW_MS && answer.status !== 503) {
        if (ms > slowest.ms) slowest = { ms, path };
        return answer;
      }
      if (answer.status === 503) {
        assert.ok(Number(answer.headers.get('retry-after')) > 0, `${path} answers 503 without Retry-After`);
        refused += 1;
      }
      const again = await askAlone(client, path);
      if (again.ms > slowest.ms) slowest = { ms: again.ms, path };
      assert.ok(again.ms <= SLOW_MS, `${path} takes ${Math.round(again.ms)} ms at least, of ${REPEATS} times alone`);
      return again.answer;
    },
  };
}
