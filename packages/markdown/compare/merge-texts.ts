import { changedLines } from './diff-lines.ts';

export interface Merge {
  text: string;
  /**
   * The number of conflicts: regions that both sides changed differently, each between conflict markers in the text.
   */
  conflicts: number;
}

/** Replaces the lines [start, end) of the base. */
interface Change {
  start: number;
  end: number;
  lines: string[];
}

/** Git's conflict markers. */
const MARKS = { mine: '<<<<<<< yours', between: '=======', theirs: '>>>>>>> theirs' } as const;

/** Lines that both sides agree on or only one side changed, or a conflict with the lines of each side. */
export type MergePart = { lines: string[] } | { mine: string[]; theirs: string[] };

/**
 * Merges two texts with their base by line (three-way, as diff3). Changes of one side are applied; different changes of
 * both sides to the same region conflict. Bounded as `changedLines`: texts that differ too much conflict, and no line
 * is lost.
 */
export function mergeParts(base: string, mine: string, theirs: string): MergePart[] {
  const lines = base.split('\n');
  const [ours, others] = [changesOf(lines, mine.split('\n')), changesOf(lines, theirs.split('\n'))];
  const parts: MergePart[] = [];
  let at = 0;
  for (const region of regionsOf(ours, others)) {
    parts.push({ lines: lines.slice(at, region.start) });
    const own = applied(lines, region, region.ours);
    const other = applied(lines, region, region.others);
    if (region.others.length === 0 || same(own, other)) parts.push({ lines: own });
    else if (region.ours.length === 0) parts.push({ lines: other });
    else parts.push({ mine: own, theirs: other });
    at = region.end;
  }
  parts.push({ lines: lines.slice(at) });
  return parts;
}

/**
 * Merges to one text, with each conflict between conflict markers. Differences in line endings alone are no changes:
 * the merge has the line endings of `mine`.
 */
export function mergeTexts(base: string, mine: string, theirs: string): Merge {
  const texts = [base, mine, theirs] as const;
  const isMixed = texts.some((text) => text.includes('\r\n')) && !texts.every((text) => text.includes('\r\n'));
  if (!isMixed) return mergeLines(...texts);
  const [plainBase, plainMine, plainTheirs] = texts.map((text) => text.replaceAll('\r\n', '\n')) as [
    string,
    string,
    string,
  ];
  const { text, conflicts } = mergeLines(plainBase, plainMine, plainTheirs);
  return { text: withLineEndsOf(text, mine), conflicts };
}

function mergeLines(base: string, mine: string, theirs: string): Merge {
  const parts = mergeParts(base, mine, theirs);
  const lines = parts.flatMap((part) =>
    'lines' in part ? part.lines : [MARKS.mine, ...part.mine, MARKS.between, ...part.theirs, MARKS.theirs],
  );
  return { text: lines.join('\n'), conflicts: parts.filter((part) => 'mine' in part).length };
}

/**
 * Returns the number of the first line that is a conflict marker of `mergeTexts`; undefined for a text without markers.
 */
export function conflictMarkLine(text: string): number | undefined {
  const at = text.split('\n').findIndex((line) => line === MARKS.mine || line === MARKS.theirs);
  return at < 0 ? undefined : at + 1;
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

/** Returns the changed regions, each with all touching changes of both sides. */
function* regionsOf(ours: readonly Change[], others: readonly Change[]): Generator<Region> {
  const next = { ours: 0, others: 0 };
  while (next.ours < ours.length || next.others < others.length) {
    const start = Math.min(ours[next.ours]?.start ?? Infinity, others[next.others]?.start ?? Infinity);
    const region: Region = { start, end: start, ours: [], others: [] };
    for (let grown = true; grown; ) {
      grown = false;
      for (const side of ['ours', 'others'] as const) {
        const changes = side === 'ours' ? ours : others;
        // Changes that touch belong to the same region, because either order could be wrong.
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

/**
 * Restores the line endings of the previous version in a text that only has LF. Unchanged lines keep their ending;
 * other lines get the most common one.
 */
export function withLineEndsOf(text: string, previous: string): string {
  if (!previous.includes('\r\n') || text.includes('\r\n')) return text;
  const ends = previous.match(/\r?\n/g) ?? [];
  const most = ends.filter((end) => end === '\r\n').length * 2 > ends.length ? '\r\n' : '\n';
  const [from, to] = [previous.split(/\r?\n/), text.split('\n')];
  const { changes } = changedLines(from, to);
  const endOf: (string | undefined)[] = [];
  let at = { from: 0, to: 0 };
  for (const {
    from: [start, end],
    to: [first, after],
  } of [...changes, END]) {
    for (; at.to < Math.min(first, to.length) && at.from < start; at = { from: at.from + 1, to: at.to + 1 }) {
      endOf[at.to] = ends[at.from];
    }
    at = { from: end, to: after };
  }
  return to.map((line, i) => (i === to.length - 1 ? line : line + (endOf[i] ?? most))).join('');
}

const END = { from: [Infinity, Infinity] as [number, number], to: [Infinity, Infinity] as [number, number] };
