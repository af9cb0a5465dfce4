import type { Line } from './lines.ts';

/** The minimum number of lines in a column, and of words per line on average. */
const LINES_MIN = 8;
const WORDS_MIN = 2.5;
/**
 * The share of lines in a column whose sentence continues in the next line; larger if the PDF writes all columns row by
 * row.
 */
const GO_ON = 0.5;
const GO_ON_ACROSS = 0.6;
/** The largest distance of lines in one text, and of their starts, in font sizes. */
const LEADING = 1.9;
const SAME_PLACE = 2.5;
/** The number of aligned cell starts below a gap from which both sides are a table. */
const ROWS_MIN = 2;
/** The factor from the usual line distance to a gap. */
const GAP = 1.3;

/**
 * Whether lines on both sides of an edge are columns of prose rather than cells: sentences continue in the line below,
 * and paragraphs of both sides do not start at the same heights.
 */
export function readDown(before: readonly Line[], behind: readonly Line[], isWrittenAcross: boolean): boolean {
  const least = isWrittenAcross ? GO_ON_ACROSS : GO_ON;
  const sides = [before, behind].map((lines) => ({ lines, above: linesAbove(lines) }));
  if (!sides.every(({ lines, above }) => isProse(lines, above, least))) return false;
  const [left, right] = sides.map(({ lines, above }) => beginnings(lines, above));
  const rows = left?.filter(({ y, size }) => right?.some((other) => Math.abs(other.y - y) <= 0.4 * size)) ?? [];
  return rows.length < ROWS_MIN;
}

/** Maps each line to the line above it in the same column. */
function linesAbove(lines: readonly Line[]): Map<Line, Line> {
  const sorted = [...lines].sort((a, b) => b.y - a.y);
  const found = new Map<Line, Line>();
  for (const [i, line] of sorted.entries()) {
    for (let k = i - 1; k >= 0; k -= 1) {
      const above = sorted[k] as Line;
      const gap = above.y - line.y;
      if (gap > LEADING * line.size) break;
      if (gap < 0.5 * line.size || Math.abs(above.x - line.x) > SAME_PLACE * line.size) continue;
      found.set(line, above);
      break;
    }
  }
  return found;
}

function isProse(lines: readonly Line[], above: ReadonlyMap<Line, Line>, least: number): boolean {
  if (above.size < LINES_MIN) return false;
  const words = lines.reduce((sum, line) => sum + (line.words.match(/\p{L}{2,}/gu)?.length ?? 0), 0);
  if (words < WORDS_MIN * lines.length) return false;
  const goOn = [...above].filter(
    ([line, before]) => /^["“(]?\p{Ll}/u.test(line.words) && !/[.!?:;]["”)]?$/.test(before.words),
  );
  return goOn.length >= least * above.size;
}

/** Returns the lines that start below a gap. */
function beginnings(lines: readonly Line[], above: ReadonlyMap<Line, Line>): Line[] {
  const gaps = [...above].map(([line, before]) => before.y - line.y).sort((a, b) => a - b);
  const usual = gaps[gaps.length >> 1] ?? 0;
  const highest = Math.max(...lines.map(({ y }) => y));
  return lines.filter((line) => {
    const before = above.get(line);
    return before ? before.y - line.y > GAP * usual : line.y < highest - line.size;
  });
}
