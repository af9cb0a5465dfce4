import { test } from 'node:test';

/**
 * Whether a run tries everything (`npm test -- --all`) or what decides about a change (`npm test`). A test that depends on it
 * has the same guarantee in both, with fewer examples in the second.
 */
export const EVERYTHING = process.env.IBID_TESTS === 'everything';

/** The first of two values in a run that tries everything, else the second. */
export function extent<T>(everything: T, few: T): T {
  return EVERYTHING ? everything : few;
}

/**
 * Returns a function that picks some items of a list: all of them in a run that tries everything, else the next `few` at each
 * call, starting over at the end. So endpoints that share a validator try all items of lists of one length between them.
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

/** The same for one list. */
export function inTurns<T>(items: readonly T[], few: number): () => readonly T[] {
  const turn = turnsOf(few);
  return () => turn(items);
}

/** Returns a function that is true at its first call and at every `n`th after it; in a run that tries everything always. */
export function everyNth(n: number): () => boolean {
  let calls = 0;
  return () => EVERYTHING || calls++ % n === 0;
}

/** A test that runs only where everything is tried: a longer proof of what shorter tests beside it already decide. */
export const longTest: typeof test = EVERYTHING ? test : Object.assign(async () => undefined, test);
