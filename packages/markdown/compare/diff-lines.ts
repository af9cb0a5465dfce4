import { diffArrays } from 'diff';

/** A run of changed lines: [start, end) in both texts. Either range may be empty. */
export interface Change {
  from: [start: number, end: number];
  to: [start: number, end: number];
}

/** More lines than any page for human readers has: building arrays and sets of them costs as much as comparing. */
const LINES_MAX = 200_000;

/** The cost of the algorithm grows with the square of the edits (Myers, 1986), and it blocks the event loop. */
const EDITS_MAX = 1_000;
const MILLISECONDS_MAX = 100;

/**
 * Returns the runs of lines that differ, in order. `coarse`: the texts differ too much to compare, and everything
 * between their common beginning and end is one change.
 */
export function changedLines(from: readonly string[], to: readonly string[]): { changes: Change[]; coarse: boolean } {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  const most = Math.min(from.length, to.length) - start;
  while (end < most && from[from.length - 1 - end] === to[to.length - 1 - end]) end += 1;

  const changes: Change[] = [];
  let next = { from: start, to: start };
  const match = (x: number, y: number) => {
    if (x > next.from || y > next.to) changes.push({ from: [next.from, x], to: [next.to, y] });
    next = { from: x + 1, to: y + 1 };
  };

  const isTooLong = from.length + to.length - 2 * (start + end) > LINES_MAX;
  const [ofFrom, ofTo] = isTooLong
    ? [[], []]
    : comparable(from, [start, from.length - end], to, [start, to.length - end]);
  const compared = isTooLong
    ? undefined
    : diffArrays(
        ofFrom.map((line) => from[line]),
        ofTo.map((line) => to[line]),
        { maxEditLength: EDITS_MAX, timeout: MILLISECONDS_MAX },
      );
  let at = { from: 0, to: 0 };
  for (const { added, removed, count } of compared ?? []) {
    for (let i = 0; !added && !removed && i < count; i += 1) {
      match(ofFrom[at.from + i] as number, ofTo[at.to + i] as number);
    }
    at = { from: at.from + (added ? 0 : count), to: at.to + (removed ? 0 : count) };
  }
  match(from.length - end, to.length - end);
  return { changes, coarse: compared === undefined };
}

/**
 * Returns the numbers of the lines in either range that also occur in the other range. Other lines cannot match, so
 * omitting them does not change the result, and a rewritten page costs little to compare.
 */
function comparable(
  from: readonly string[],
  [fromStart, fromEnd]: [number, number],
  to: readonly string[],
  [toStart, toEnd]: [number, number],
): [number[], number[]] {
  const inFrom = new Set(from.slice(fromStart, fromEnd));
  const inTo = new Set(to.slice(toStart, toEnd));
  return [numbersOf(from, fromStart, fromEnd, inTo), numbersOf(to, toStart, toEnd, inFrom)];
}

function numbersOf(lines: readonly string[], start: number, end: number, known: ReadonlySet<string>): number[] {
  const numbers: number[] = [];
  for (let i = start; i < end; i += 1) if (known.has(lines[i] as string)) numbers.push(i);
  return numbers;
}
