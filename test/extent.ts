import { test } from 'node:test';

/**
 * Whether the run tries everything (`npm test -- --all`) or only the examples needed to accept a change (`npm test`). A
 * test that depends on this guarantees the same in both runs, with fewer examples in the short one.
 */
export const EVERYTHING = process.env.IBID_TESTS === 'everything';

/** Returns the first value in a run that tries everything, else the second. */
export function extent<T>(everything: T, few: T): T {
  return EVERYTHING ? everything : few;
}

/**
 * Returns a function that picks items of a list: all of them in a run that tries everything, else the next `few` at
 * each call, starting over at the end. Endpoints that share a validator thus try all items between them, for lists of
 * equal length.
 */
export function turnsOf(few: number): <T>(items: readonly T[]) => readonly T[] {
  let next = 0;
  return (items) => {
    if (EVERYTHING || few >= items.length) return items;
    const start = next % items.length;
    next += few;
    return [...items, ...items].slice(start, start + few);
  };
}

/** Same as `turnsOf`, for one list. */
export function inTurns<T>(items: readonly T[], few: number): () => readonly T[] {
  const turn = turnsOf(few);
  return () => turn(items);
}

/**
 * Returns a function that returns true at its first call and at every `n`th call after it; always in a run that tries
 * everything.
 */
export function everyNth(n: number): () => boolean {
  let calls = 0;
  return () => EVERYTHING || calls++ % n === 0;
}

/**
 * A test that runs only in a run that tries everything: a longer proof of a guarantee that a shorter test also checks.
 */
export const longTest: typeof test = EVERYTHING ? test : Object.assign(async () => undefined, test);
