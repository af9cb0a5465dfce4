import type { Line } from './lines.ts';

/** The minimum number of long lines in a column. */
const PROSE_LINES = 5;

/** How far the lines of a column are indented at most, as a share of its width. */
const INDENT = 0.15;

/**
 * The lines in reading order: columns of prose from left to right, between lines that span them. Short pieces beside
 * each other are cells of a table and stay in their rows.
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
  for (const row of rowsDown(lines)) {
    const spans = row.some((line) => line.x < gutter && line.right > gutter + 1);
    if (spans ? band.length > 0 : spanning.length > 0) end();
    (spans ? spanning : band).push(...row);
  }
  end();
  return columns.filter((column) => column.length > 0);
}

/** From top to bottom, and from left to right in a row. */
export function rowsDown(lines: readonly Line[]): Line[][] {
  const rows = rowsOf([...lines].sort((a, b) => b.y - a.y));
  for (const row of rows) row.sort((a, b) => a.x - b.x);
  return rows;
}

/** Consecutive lines at about the same height. */
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
 * The left edge of the second column of prose; undefined if there are no columns. Lines of lists and of references begin
 * at several edges of their column: the one counts that the fewest lines cross.
 */
function findGutter(lines: readonly Line[]): number | undefined {
  if (lines.length < 8) return undefined;
  const left = Math.min(...lines.map((line) => line.x));
  const right = Math.max(...lines.map((line) => line.right));
  const width = right - left;
  if (width <= 0) return undefined;
  let best: { at: number; score: number } | undefined;
  for (const edge of new Set(lines.map((line) => Math.round(line.x)))) {
    const at = edge - 3;
    if (at < left + 0.2 * width || at > left + 0.8 * width) continue;
    const before = lines.filter((line) => line.right <= at + 1);
    const behind = lines.filter((line) => line.x >= at && line.x < at + INDENT * (right - at));
    const prose = Math.min(proseOf(before, at - left), proseOf(behind, right - at));
    const crossing = lines.filter((line) => line.x < at && line.right > at + 1).length;
    if (prose < PROSE_LINES || crossing >= 4 * prose) continue;
    const score = prose - 2 * crossing;
    if (score > (best?.score ?? Number.NEGATIVE_INFINITY)) best = { at, score };
  }
  return best?.at;
}

/** The number of lines that are about as wide as the column. */
function proseOf(column: readonly Line[], width: number): number {
  return column.filter((line) => line.right - line.x > 0.6 * width && line.words.length > 15).length;
}
