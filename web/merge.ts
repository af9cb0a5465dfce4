import { diffArrays } from 'diff';

export interface Merge {
  text: string;
  /** Places that both changed in different ways; each stands in the text between marks. */
  conflicts: number;
}

interface Change {
  /** Lines of the base that are replaced: from `start` up to, not including, `end`. */
  start: number;
  end: number;
  lines: string[];
}

/** Marks at the beginning of a line, as Git has them. */
const MARKS = { mine: '<<<<<<< yours', between: '=======', theirs: '>>>>>>> theirs' } as const;

/** What two people made of one text, in one: by line, each change where it stands; what both changed is marked. */
export function merge(base: string, mine: string, theirs: string): Merge {
  const lines = base.split('\n');
  const [ours, others] = [changesOf(lines, mine.split('\n')), changesOf(lines, theirs.split('\n'))];
  const merged: string[] = [];
  let conflicts = 0;
  let at = 0;
  while (ours.length > 0 || others.length > 0) {
    const region = nextRegion(ours, others);
    merged.push(...lines.slice(at, region.start));
    const own = applied(lines, region.start, region.end, region.ours);
    const other = applied(lines, region.start, region.end, region.others);
    if (region.others.length === 0 || same(own, other)) merged.push(...own);
    else if (region.ours.length === 0) merged.push(...other);
    else {
      conflicts += 1;
      merged.push(MARKS.mine, ...own, MARKS.between, ...other, MARKS.theirs);
    }
    at = region.end;
  }
  merged.push(...lines.slice(at));
  return { text: merged.join('\n'), conflicts };
}

function changesOf(base: string[], text: string[]): Change[] {
  const changes: Change[] = [];
  let at = 0;
  let open: Change | undefined;
  for (const { added, removed, value } of diffArrays(base, text)) {
    if (!added && !removed) {
      at += value.length;
      open = undefined;
      continue;
    }
    if (!open) changes.push((open = { start: at, end: at, lines: [] }));
    if (added) open.lines.push(...value);
    else at = open.end += value.length;
  }
  return changes;
}

interface Region {
  start: number;
  end: number;
  ours: Change[];
  others: Change[];
}

/** Takes the first changes and all that touch them, of both sides. */
function nextRegion(ours: Change[], others: Change[]): Region {
  const start = Math.min(ours[0]?.start ?? Infinity, others[0]?.start ?? Infinity);
  const region: Region = { start, end: start, ours: [], others: [] };
  for (let grown = true; grown; ) {
    grown = false;
    for (const side of ['ours', 'others'] as const) {
      const changes = side === 'ours' ? ours : others;
      // A change that begins where the other ends is about the same place: neither order of the two would be meant.
      while (changes[0] && changes[0].start <= region.end) {
        const change = changes.shift() as Change;
        region.end = Math.max(region.end, change.end);
        region[side].push(change);
        grown = true;
      }
    }
  }
  return region;
}

function applied(base: string[], start: number, end: number, changes: readonly Change[]): string[] {
  const lines: string[] = [];
  let at = start;
  for (const change of changes) {
    lines.push(...base.slice(at, change.start), ...change.lines);
    at = change.end;
  }
  return [...lines, ...base.slice(at, end)];
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, i) => line === other[i]);
}
