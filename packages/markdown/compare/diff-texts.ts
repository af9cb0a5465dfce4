import { type Change, changedLines } from './diff-lines.ts';
import { changedWords, type Segment } from './diff-words.ts';

/** The changed regions of a text, with lines of context. */
export interface TextDiff {
  /** The number of lines that only the new text has. */
  added: number;
  /** The number of lines that only the old text has. */
  removed: number;
  /**
   * The texts differ too much to be compared by line: everything between their common beginning and end counts as
   * replaced.
   */
  coarse: boolean;
  /** The hunks do not show all changed lines; `added` and `removed` count all of them. */
  truncated: boolean;
  hunks: Hunk[];
}

/** Lines count from 1, as in `diff -u`: a side without lines has count 0 and the number of the line before. */
interface Hunk {
  from_line: number;
  from_count: number;
  to_line: number;
  to_count: number;
  lines: Line[];
}

interface Line {
  kind: 'context' | 'added' | 'removed';
  /** Without its line feed. */
  text: string;
  /** The whole line in segments if only some of its words changed; otherwise []. */
  segments: Segment[];
}

/** Lines of context around a change. */
const CONTEXT = 3;

/** More lines do not help a reader, and a text of only line feeds would give a response a hundred times its size. */
const LINES_MAX = 10_000;

/** The time limit for comparing changed lines by word. */
const WORDS_MILLISECONDS = 50;

/**
 * Compares two texts by line, and partly changed lines by word. CRLF and LF are equal: a text that a program saves
 * again with other line endings has not changed. Time and size are limited for any input.
 */
export function diffTexts(from: string, to: string): TextDiff {
  const [before, after] = [linesOf(from.replaceAll('\r\n', '\n')), linesOf(to.replaceAll('\r\n', '\n'))];
  const { changes, coarse } = changedLines(before, after);
  const until = performance.now() + WORDS_MILLISECONDS;
  const hunks: Hunk[] = [];
  let shown = 0;
  let truncated = false;
  for (const group of groupsOf(changes)) {
    const hunk = emptyHunk(group, before, after);
    for (const line of linesOfHunk(hunk, group, before, after, until)) {
      truncated = shown === LINES_MAX;
      if (truncated) break;
      hunk.lines.push(line);
      shown += 1;
    }
    if (hunk.lines.length > 0) hunks.push(hunk);
    if (truncated) break;
  }
  return { added: sizeOf(changes, 'to'), removed: sizeOf(changes, 'from'), coarse, truncated, hunks };
}

/** The lines with their line feeds, so that a last line without one differs from the same line with one. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at) + 1 || text.length;
    lines.push(text.slice(at, end));
    at = end;
  }
  return lines;
}

function sizeOf(changes: readonly Change[], side: 'from' | 'to'): number {
  return changes.reduce((lines, { [side]: [start, end] }) => lines + end - start, 0);
}

/** Groups changes with few lines between them into hunks. */
function groupsOf(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const change of changes) {
    if (change.from[0] - end > 2 * CONTEXT) groups.push([]);
    groups.at(-1)?.push(change);
    end = change.from[1];
  }
  return groups;
}

function emptyHunk(group: readonly Change[], before: readonly string[], after: readonly string[]): Hunk {
  const [first, last] = [group[0], group.at(-1)];
  if (!first || !last) throw new Error('a group of changes is never empty');
  const lead = Math.min(CONTEXT, first.from[0], first.to[0]);
  const trail = Math.min(CONTEXT, before.length - last.from[1], after.length - last.to[1]);
  const from_count = last.from[1] + trail - (first.from[0] - lead);
  const to_count = last.to[1] + trail - (first.to[0] - lead);
  return {
    from_line: first.from[0] - lead + (from_count > 0 ? 1 : 0),
    from_count,
    to_line: first.to[0] - lead + (to_count > 0 ? 1 : 0),
    to_count,
    lines: [],
  };
}

function* linesOfHunk(
  { from_line, from_count }: Hunk,
  group: readonly Change[],
  before: readonly string[],
  after: readonly string[],
  until: number,
): Generator<Line> {
  let at = from_count > 0 ? from_line - 1 : from_line;
  const end = at + from_count;
  for (const { from, to } of group) {
    for (; at < from[0]; at += 1) yield lineOf('context', before[at], []);
    const [removed, added] = [before.slice(...from), after.slice(...to)];
    const words = changedWords(removed, added, until);
    for (const [i, text] of removed.entries()) yield lineOf('removed', text, words.removed[i]);
    for (const [i, text] of added.entries()) yield lineOf('added', text, words.added[i]);
    at = from[1];
  }
  for (; at < end; at += 1) yield lineOf('context', before[at], []);
}

function lineOf(kind: Line['kind'], text = '', segments: Segment[] = []): Line {
  return { kind, text: text.endsWith('\n') ? text.slice(0, -1) : text, segments };
}
