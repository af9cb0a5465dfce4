import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import fc from 'fast-check';

/**
 * FUZZ_MINUTES: duration of each fuzzer; without it, a short run of a fixed seed. FUZZ_SEED repeats a seed, and
 * FUZZ_PATH a single case of it (`npm run fuzz` sets them; a failure prints both).
 */
export const MINUTES = Number(process.env.FUZZ_MINUTES || 0);
const SEED = process.env.FUZZ_SEED ? Number(process.env.FUZZ_SEED) : undefined;
/** Only this case of the seed; for faults, a pattern of endpoint names. */
export const PATH = process.env.FUZZ_PATH || undefined;

/** Seed of every short run, so that a change of the service is tested by the same cases as before. */
const FIXED_SEED = 20_261_122;
/** Time to search for a smaller failing case after the first failure of a seed. */
const SHRINK_MS = 20_000;
const SHOWN = 20;
const SHOWN_LENGTH = 6_000;

export interface Fuzzer<T> {
  cases: number;
  arbitrary: fc.Arbitrary<T>;
  /** Runs a case; throws if a guarantee does not hold. */
  check(value: T): Promise<void>;
  show?(value: T): string;
  afterSeed?(): Promise<void>;
}

/** Yields the seeds of this run: the given seed, or a fixed seed, or random seeds until the time is over. */
export function* seeds(): Generator<number> {
  if (SEED !== undefined) yield SEED;
  else if (MINUTES === 0) yield FIXED_SEED;
  else for (let seed = Date.now() % 1_000_000_000; !isOver(); seed += 1) yield seed;
}

const BEGAN = performance.now();

/** Returns whether the time of a long run, or this fraction of it, is over. */
export function isOver(part = 1): boolean {
  return MINUTES > 0 && performance.now() - BEGAN > MINUTES * part * 60_000;
}

/**
 * Runs the cases of all seeds. Throws an error that lists every different failure: its seed, the path of its case, and
 * the case.
 */
export async function runCases<T>(t: TestContext, fuzzer: Fuzzer<T>): Promise<void> {
  const failures = new Map<string, string>();
  let cases = 0;
  for (const seed of seeds()) {
    t.diagnostic(`seed ${seed}`);
    let failedAt = Number.POSITIVE_INFINITY;
    const property = fc.asyncProperty(fuzzer.arbitrary, async (value) => {
      // Skipped cases are no failures: the time of the run, or of the search for a smaller case, is over.
      if (isOver() || performance.now() - failedAt > SHRINK_MS) return;
      cases += 1;
      try {
        await fuzzer.check(value);
      } catch (error) {
        failedAt = Math.min(failedAt, performance.now());
        throw error;
      }
    });
    const outcome = await fc.check(property, {
      seed,
      numRuns: fuzzer.cases,
      ...(PATH !== undefined && { path: PATH }),
    });
    if (outcome.failed) {
      const error = outcome.errorInstance as Error;
      const [value] = outcome.counterexample as [T];
      const shown = (fuzzer.show?.(value) ?? fc.stringify(value)).slice(0, SHOWN_LENGTH);
      const text = `${error?.stack ?? outcome.errorInstance}\n--seed=${seed} --path=${outcome.counterexamplePath}\n${shown}`;
      const kind = kindOf(String(error?.message));
      if (!failures.has(kind)) process.stderr.write(`${text}\n\n`);
      failures.set(kind, failures.get(kind) ?? text);
    }
    await fuzzer.afterSeed?.();
  }
  t.diagnostic(`${cases} cases`);
  assert.equal(
    failures.size,
    0,
    `${failures.size} failures:\n\n${[...failures.values()].slice(0, SHOWN).join('\n\n')}`,
  );
}

/** Strips ids and numbers from a message, so that equal failures compare equal. */
function kindOf(message: string): string {
  return message
    .slice(0, 200)
    .replace(/[a-z]+_[0-9a-z]{26}/g, 'id')
    .replace(/\d+/g, '0')
    .slice(0, 120);
}
