import type { Line } from './page/lines.ts';
import { readDown } from './page/prose-columns.ts';

/** The minimum number of long lines in a column. */
const PROSE_LINES = 5;

/** The largest indent of lines in a column, as a share of its width. */
const INDENT = 0.15;

/** The number of upward moves from left to right, with cells of several lines, that identify a table. */
const ROWS_OF_CELLS = 3;

/** The minimum number of lines in a column of short lines, such as an index or a reference card. */
const SHORT_LINES = 10;
/**
 * Lines of a table alternate between sides in writing order, and are at the same heights. Limits of changes per line,
 * and of the share of lines at a height of their own.
 */
const CHANGES = 0.1;
const APART = 0.15;
/** An index entry ends with page numbers after a comma or dots; most lines of its columns are entries. */
const INDEX_ENTRY = /(?:^|,|\.\s?\.)\s*\d{1,4}(?:\s?[-–,]\s*\d{1,4})*,?$/;
const ENTRIES = 0.6;
/** The limit of lines, such as titles, that may cross the space between columns, as a share. */
const CROSSING = 0.1;

/** A title is larger than the next line by this factor. */
const TITLE = 1.2;

/**
 * Sorts lines into reading order: columns of prose from left to right, between lines that span them. Short pieces at
 * one height are cells of a table and stay in their rows.
 */
export function inReadingOrder(lines: readonly Line[]): Line[][] {
  const gutter = findGutter(lines);
  if (gutter === undefined) return [rowsDown(lines).flat()];
  const columns: Line[][] = [];
  let band: Line[] = [];
  let spanning: Line[] = [];
  const end = () => {
    const left = band.filter((line) => line.right <= gutter + 1);
    const right = band.filter((line) => line.right > gutter + 1);
    if (band.length > 0) columns.push(...inReadingOrder(left), ...inReadingOrder(right));
    if (spanning.length > 0) columns.push(spanning);
    band = [];
    spanning = [];
  };
  const rows = rowsDown(lines);
  for (const [i, row] of rows.entries()) {
    const spans = row.some((line) => line.x < gutter && line.right > gutter + 1) || (i === 0 && isTitle(rows));
    if (spans ? band.length > 0 : spanning.length > 0) end();
    (spans ? spanning : band).push(...row);
  }
  end();
  return columns.filter((column) => column.length > 0);
}

/** Whether the first row spans all columns, as a title centered over three columns does. */
function isTitle([first = [], second = []]: readonly Line[][]): boolean {
  const [title] = first;
  const [line] = second;
  if (!title || !line || first.length > 1) return false;
  return title.size > TITLE * line.size && title.y - line.y > 1.5 * title.size;
}

/** Groups lines into rows from top to bottom, each sorted from left to right. */
export function rowsDown(lines: readonly Line[]): Line[][] {
  const rows = rowsOf([...lines].sort((a, b) => b.y - a.y));
  for (const row of rows) row.sort((a, b) => a.x - b.x);
  return rows;
}

/** Groups consecutive lines at about the same height. */
export function rowsOf(lines: readonly Line[]): Line[][] {
  const rows: Line[][] = [];
  for (const line of lines) {
    const first = rows.at(-1)?.[0];
    if (first && Math.abs(first.y - line.y) <= 0.4 * Math.max(first.size, line.size)) rows.at(-1)?.push(line);
    else rows.push([line]);
  }
  return rows;
}

/**
 * Finds the left edge of the second column of prose; undefined without columns. Lines of lists and references start at
 * several edges of their column, so the edge that the fewest lines cross wins.
 */
function findGutter(lines: readonly Line[]): number | undefined {
  if (lines.length < 8) return undefined;
  const left = Math.min(...lines.map((line) => line.x));
  const right = Math.max(...lines.map((line) => line.right));
  const width = right - left;
  if (width <= 0) return undefined;
  const rows = rowsDown(lines);
  let best: { at: number; score: number } | undefined;
  for (const edge of new Set(lines.map((line) => Math.round(line.x)))) {
    const at = edge - 3;
    if (at < left + 0.2 * width || at > left + 0.8 * width) continue;
    const prose = proseBeside(rows, at, { left, right });
    const crossing = lines.filter((line) => line.x < at && line.right > at + 1).length;
    const isProse = prose >= PROSE_LINES && crossing < 4 * prose && !isWrittenByRows(lines, at);
    const columns = isProse ? prose : independentLines(lines, at);
    if (columns === 0) continue;
    const score = columns - 2 * crossing;
    if (score > (best?.score ?? Number.NEGATIVE_INFINITY)) best = { at, score };
  }
  return best?.at;
}

/**
 * Whether the PDF writes both sides row by row, as a table with multi-line cells: between two lines that cross the
 * edge, it moves up to the right side repeatedly. For two columns of prose it moves up once.
 */
function isWrittenByRows(lines: readonly Line[], at: number): boolean {
  let [ups, before] = [0, undefined as Line | undefined];
  for (const line of [...lines].sort((a, b) => a.order - b.order)) {
    const crosses = line.x < at && line.right > at + 1;
    if (crosses) ups = 0;
    else if (before && before.x < at && line.x >= at && line.y > before.y + 0.3 * line.size) ups += 1;
    if (ups >= ROWS_OF_CELLS) return true;
    before = crosses ? undefined : line;
  }
  return false;
}

/**
 * Counts lines of prose on the shorter side of an edge, separately between lines that cross it. Other content on one
 * side only, such as headings, is not evidence for columns.
 */
function proseBeside(rows: readonly Line[][], at: number, { left, right }: { left: number; right: number }): number {
  let [sum, before, behind] = [0, 0, 0];
  for (const row of rows) {
    if (row.some((line) => line.x < at && line.right > at + 1)) {
      sum += Math.min(before, behind);
      [before, behind] = [0, 0];
      continue;
    }
    for (const line of row) {
      if (line.right <= at + 1) before += isAsWideAs(line, at - left);
      else if (line.x < at + INDENT * (right - at)) behind += isAsWideAs(line, right - at);
    }
  }
  return sum + Math.min(before, behind);
}

/** Returns 1 for a line of prose that is about as wide as its column, otherwise 0. */
function isAsWideAs(line: Line, width: number): number {
  return line.right - line.x > 0.6 * width && line.words.length > 15 ? 1 : 0;
}

/**
 * Returns the number of lines on the shorter side of an edge if both sides are columns of short lines: the PDF writes
 * one side after the other, and their lines are not aligned as cells. Returns 0 otherwise.
 */
function independentLines(lines: readonly Line[], at: number): number {
  const sides = lines.filter((line) => line.right <= at + 1 || line.x >= at);
  const behind = sides.filter((line) => line.x >= at);
  const before = sides.filter((line) => line.x < at);
  const count = Math.min(before.length, behind.length);
  if (count < SHORT_LINES || lines.length - sides.length > CROSSING * count) return 0;
  const inOrder = sides.sort((a, b) => a.order - b.order);
  const changes = inOrder.filter((line, i) => i > 0 && line.x >= at !== (inOrder[i - 1] as Line).x >= at).length;
  const isWrittenAcross = changes > Math.max(1, CHANGES * count);
  if (!isWrittenByRows(lines, at) && readDown(before, behind, isWrittenAcross)) return count;
  if (isWrittenAcross) return 0;
  // Entries of an index are at the same heights, although each side has its own words and numbers.
  if (isIndex(before) && isIndex(behind)) return count;
  return Math.min(shareApart(before, behind), shareApart(behind, before)) >= APART ? count : 0;
}

/** Whether lines are a column of an index. */
export function isIndex(lines: readonly Line[]): boolean {
  if (lines.length < SHORT_LINES) return false;
  return lines.filter(({ words }) => INDEX_ENTRY.test(words)).length >= ENTRIES * lines.length;
}

/**
 * Of the lines within the vertical extent of `others`, returns the share with no line of `others` at the same height.
 */
function shareApart(lines: readonly Line[], others: readonly Line[]): number {
  const heights = others.map(({ y }) => y).sort((a, b) => a - b);
  const near = lines.filter(({ y, size }) => y > (heights[0] ?? 0) - size && y < (heights.at(-1) ?? 0) + size);
  const apart = near.filter(({ y, size }) => !heights.some((height) => Math.abs(height - y) <= 0.25 * size));
  return near.length === 0 ? 0 : apart.length / near.length;
}
