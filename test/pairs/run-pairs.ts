import type { Answer } from '../world.ts';
import { openCommitGate } from './commit-gate.ts';
import { difference, keepDatabase } from './database-states.ts';
import type { Stage } from './stage.ts';
import { findWrong } from './wiki-invariants.ts';

/** A write of the service: a request, or an attempt of a job. Returns its answer or outcome. */
export type Act = (stage: Stage) => Promise<Answer | string>;

/** Work to finish before states are compared. */
export type Settle = (stage: Stage) => Promise<void>;

interface Outcome {
  told: string;
  lines: string[];
}

export interface PairResult {
  pair: string;
  wasHeld: boolean;
  hasWaited: boolean;
  /** Difference from the results of both orders; '' if the result equals either. */
  fault: string;
  /** Whether the result breaks an invariant, or either write failed with an error. */
  isWrong: boolean;
}

/** Maximum number of characters to print of a differing row. */
const LINE = 700;

/** Runs pairs of concurrent writes, and compares the results with the results of the same writes in sequence. */
export async function openPairs(stage: Stage) {
  const gate = await openCommitGate(stage.world, stage.database);
  const states = await keepDatabase(stage.world, stage.database);
  const serial = new Map<Act, Map<Act, Outcome>>();

  async function inOrder(first: Act, second: Act, settle?: Settle): Promise<Outcome> {
    const after = serial.get(first) ?? new Map<Act, Outcome>();
    serial.set(first, after);
    const known = after.get(second);
    if (known && !settle) return known;
    await states.reset();
    const told = [await toldBy(first(stage)), await toldBy(second(stage))].join(', ');
    await settle?.(stage);
    const outcome = { told, lines: await states.read() };
    if (!settle) after.set(second, outcome);
    return outcome;
  }

  return {
    reset: states.reset,
    async run(
      [one, first]: [string, Act],
      [other, second]: [string, Act],
      { at, settle }: { at?: string | undefined; settle?: Settle | undefined } = {},
    ): Promise<PairResult> {
      const pair = `${one}${at ? ` (at ${at})` : ''} | ${other}`;
      await states.reset();
      const { answers, wasHeld, hasWaited } = await gate.run(
        () => toldBy(first(stage)),
        () => toldBy(second(stage)),
        at,
      );
      const result = (fault: string, isWrong = false) => ({ pair, wasHeld, hasWaited, fault, isWrong });
      const told = answers.join(', ');
      await settle?.(stage);
      const lines = await states.read();
      const wrong = await findWrong(stage.world);
      if (wrong.length > 0) return result(`${told}: ${JSON.stringify(wrong)}`, true);
      if (answers.some((answer) => /^(5|error|failed)/.test(answer))) return result(`failed: ${told}`, true);
      const inThis = await inOrder(first, second, settle);
      const here = difference(lines, inThis.lines);
      if (here.length === 0 && isAsTold(told, inThis.told)) return result('');
      const inOther = await inOrder(second, first, settle);
      const otherTold = inOther.told.split(', ').reverse().join(', ');
      const there = difference(lines, inOther.lines);
      if (there.length === 0 && isAsTold(told, otherTold)) return result('');
      const nearer = there.length < here.length ? there : here;
      const orders = `${told}; in this order ${inThis.told}, in the other ${otherTold}`;
      return result([orders, ...nearer.map((line) => line.slice(0, LINE))].join('\n    '));
    },
  };
}

/** Returns whether the same writes succeeded and the same were refused. Refusals may differ in their reason. */
function isAsTold(told: string, other: string): boolean {
  const short = (text: string) => text.replace(/4\d\d \w+/g, 'refused');
  return short(told) === short(other);
}

async function toldBy(work: Promise<Answer | string>): Promise<string> {
  const answer = await work.catch((error: unknown) => `error ${String(error)}`);
  if (typeof answer === 'string') return answer;
  return answer.status < 300 ? String(answer.status) : `${answer.status} ${answer.body.error}`;
}
