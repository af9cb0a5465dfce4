import { changedLines } from './diff-lines.ts';

export interface Merge {
  text: string;
  /** Places that both changed in different ways; each stands in the text between marks. */
  conflicts: number;
}

/** Lines of the base, [start, end), that are replaced. */
interface Change {
  start: number;
  end: number;
  lines: string[];
}

/** Marks at the beginning of a line, as Git has them. */
const MARKS = { mine: '<<<<<<< yours', between: '=======', theirs: '>>>>>>> theirs' } as const;

/**
 * What two made of one text, in one: by line, each change where it stands; what both changed is marked. Bounded in time as
 * `changedLines` is: texts that differ too much to be compared conflict sooner, and lose nothing.
 */
export function mergeTexts(base: string, mine: string, theirs: string): Merge {
  const lines = base.split('\n');
  const [ours, others] = [changesOf(lines, mine.split('\n')), changesOf(lines, theirs.split('\n'))];
  const merged: string[][] = [];
  let conflicts = 0;
  let at = 0;
  for (const region of regionsOf(ours, others)) {
    merged.push(lines.slice(at, region.start));
    const own = applied(lines, region, region.ours);
    const other = applied(lines, region, region.others);
    if (region.others.length === 0 || same(own, other)) merged.push(own);
    else if (region.ours.length === 0) merged.push(other);
    else {
      conflicts += 1;
      merged.push([MARKS.mine], own, [MARKS.between], other, [MARKS.theirs]);
    }
    at = region.end;
  }
  merged.push(lines.slice(at));
  return { text: merged.flat().join('\n'), conflicts };
}

function changesOf(base: string[], text: string[]): Change[] {
  return changedLines(base, text).changes.map(({ from: [start, end], to }) => ({
    start,
    end,
    lines: text.slice(...to),
  }));
}

interface Region {
  start: number;
  end: number;
  ours: Change[];
  others: Change[];
}

/** The places that were changed, each with all changes of both sides that touch each other there. */
function* regionsOf(ours: readonly Change[], others: readonly Change[]): Generator<Region> {
  const next = { ours: 0, others: 0 };
  while (next.ours < ours.length || next.others < others.length) {
    const start = Math.min(ours[next.ours]?.start ?? Infinity, others[next.others]?.start ?? Infinity);
    const region: Region = { start, end: start, ours: [], others: [] };
    for (let grown = true; grown; ) {
      grown = false;
      for (const side of ['ours', 'others'] as const) {
        const changes = side === 'ours' ? ours : others;
        // A change that begins where the other ends is about the same place: neither order of the two would be meant.
        for (let change = changes[next[side]]; change && change.start <= region.end; change = changes[next[side]]) {
          region.end = Math.max(region.end, change.end);
          region[side].push(change);
          next[side] += 1;
          grown = true;
        }
      }
    }
    yield region;
  }
}

function applied(base: string[], { start, end }: Region, changes: readonly Change[]): string[] {
  const lines: string[][] = [];
  let at = start;
  for (const change of changes) {
    lines.push(base.slice(at, change.start), change.lines);
    at = change.end;
  }
  return [...lines, base.slice(at, end)].flat();
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, i) => line === other[i]);
}
