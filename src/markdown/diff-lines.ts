import { diffArrays } from 'diff';

/** A run of lines that changed: [start, end) in the one text and in the other; one of them may be empty. */
export interface Change {
  from: [start: number, end: number];
  to: [start: number, end: number];
}

/** More lines than any page that is read by people has; making lists and sets of them costs as much as comparing. */
const LINES_MAX = 200_000;

/** The algorithm's cost grows with the square of the edits (Myers, 1986), and nothing else is answered meanwhile. */
const EDITS_MAX = 1_000;
const MILLISECONDS_MAX = 100;

/**
 * The runs of lines that differ, in their order. `coarse`: there is too much to compare, and all that lies between the
 * equal beginning and the equal end counts as one change.
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
 * The lines of either range that the other one has too, by their numbers. The others can match nothing, so leaving them
 * out changes no result; it makes a page that was written anew as cheap to compare as one that was not.
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
