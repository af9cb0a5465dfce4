import assert from 'node:assert/strict';
import type { Answer, Client } from '../../world.ts';

/** A slower request is repeated while no other request runs. */
const SLOW_MS = 1_000;
const REPEATS = 5;

/** Sends requests, and keeps the slowest one. */
export interface Asker {
  /**
   * Sends a request. If it is slow or answered 503, repeats it while no other request runs. Throws an AssertionError if
   * it is slow even then.
   */
  ask(client: Client, path: string): Promise<Answer>;
  /** Number of 503 answers of an overloaded service or machine. */
  refused(): number;
  /**
   * The slowest request and its time in ms. For a request that took more than a second, this is its best time while no
   * other request ran.
   */
  slowest(): { ms: number; path: string };
}

export function openAsker(): Asker {
  let refused = 0;
  let slowest = { ms: 0, path: '' };
  /** Set during a repetition, which waits for running requests. New requests wait for it. */
  let alone: Promise<void> | undefined;
  const running = new Set<Promise<unknown>>();

  /** Repeats a request while no other request runs. Returns the last answer and the best time in ms. */
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
