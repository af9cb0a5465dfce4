import { rowsDown } from './columns.ts';
import { splitAtGaps } from './divided-rows.ts';
import { BULLET } from './marks/item-marks.ts';
import { isWrittenByCells } from './page/bands.ts';
import { type HeadLine, writtenHeadRows } from './page/head-rows.ts';
import { boxOf, type Line } from './page/lines.ts';
import type { TableRow } from './page/table-rows.ts';

/** The limit of rows of lines in a head, and the largest distance between them and to the table, in font sizes. */
const ROWS_MAX = 9;
const APART = 3;
/** The largest distance between lines of one row, in font sizes. */
const LEADING = 1.4;
/** How far a head may extend beyond the first and last column, in font sizes. */
const BEYOND = 5;
/** The tolerance for the center of a head over several columns, in points or font sizes, whichever is larger. */
const CENTERED_POINTS = 2.5;
const CENTERED = 0.8;

/** The horizontal extent of a column. */
interface Range {
  x: number;
  right: number;
}

interface HeadRow {
  lines: HeadLine[];
  y: number;
  size: number;
}

/**
 * Adds the rows above a table that form its head: lines in its columns, or centered above several of them. Text in the
 * first column only is a row of the table if a head is above it, and otherwise not part of the table.
 */
export function withHeads(
  table: readonly TableRow[],
  rows: readonly (readonly Line[])[],
  from: number,
  free: number,
): TableRow[] {
  const isKnown = isWrittenByCells(table.map(({ cells }) => cells));
  const { count, lines: ownRows } = isKnown ? { count: 0, lines: [] } : headIn(table);
  const own = ownRows.length;
  const body = table.slice(count);
  const cells = (table[0]?.cells ?? []).map((_, k) => boxOf(body.flatMap((row) => row.cells[k] ?? [])));
  const columns = widened(cells, [...ownRows.flat(), ...rows.slice(Math.max(free, from - ROWS_MAX), from).flat()]);
  const heads: HeadRow[] = ownRows.map((lines) => headRowOf(lines, table.slice(0, count), columns));
  let [below] = rows[from] ?? [];
  let at = from - 1;
  for (; at >= Math.max(free, from - ROWS_MAX); at -= 1) {
    const row = rows[at] ?? [];
    const [line] = row;
    const lines = line && below && line.y - below.y <= APART * line.size ? headLines(row, columns) : undefined;
    if (!line || !lines) break;
    heads.unshift({ lines, y: line.y, size: line.size });
    below = line;
  }
  // Drop the last lines of a paragraph.
  const [above] = (at >= free ? rows[at] : undefined) ?? [];
  while (heads.length > own && above && isRestOf(above, heads[0] as HeadRow)) heads.shift();
  const groups = groupsOf(heads);
  while (groups[0] && groups.flat().length > own && !isHead(groups[0], columns.length)) {
    // A text near the head is not part of it.
    if (groups.flat().length - groups[0].length < own) groups[0].shift();
    else groups.shift();
    if (groups[0]?.length === 0) groups.shift();
  }
  if (groups.length === 0) return [...table];
  const [first, ...made] = groups.flatMap((group) => rowsOf(group, columns));
  const taken = groups.flat().length - own + table.slice(0, count).reduce((sum, row) => sum + row.count, 0);
  return [{ cells: first?.cells ?? [], count: taken }, ...made, ...body];
}

/**
 * Returns the number of rows at the start of a table that are its head, and their lines: words above numbers, as close
 * to each other as lines of a text, and closer than to the next row.
 */
function headIn(table: readonly TableRow[]): { count: number; lines: Line[][] } {
  const count = table.findIndex(({ cells }) => cells.flat().some(isNumber));
  const lines = rowsDown(table.slice(0, Math.max(count, 0)).flatMap(({ cells }) => cells.flat()));
  const yOf = (row: readonly Line[]) => Math.max(...row.map(({ y }) => y));
  const last = yOf(lines.at(-1) ?? []) - yOf(table[count]?.cells.flat() ?? []);
  const isNear = (row: readonly Line[], i: number) => {
    const gap = i === 0 ? 0 : yOf(lines[i - 1] ?? []) - yOf(row);
    return gap <= LEADING * (row[0]?.size ?? 0) && gap < 0.95 * last;
  };
  return count < 1 || lines.length > ROWS_MAX || !lines.every(isNear) ? { count: 0, lines: [] } : { count, lines };
}

/** Whether a row is the last line of the text above it. */
function isRestOf(above: Line, { lines: [first], y, size }: HeadRow): boolean {
  return first !== undefined && Math.abs(above.x - first.line.x) < size && above.y - y <= LEADING * size;
}

/** Assigns columns to the lines of a row; undefined if a line is a text unrelated to the table. */
function headLines(row: readonly Line[], columns: readonly Range[]): HeadLine[] | undefined {
  const found: HeadLine[] = [];
  const texts = row.flatMap((each) => splitAtGaps(each, []));
  const inOrder = texts.map((line, k) => ({ line, from: k, to: k }));
  if (texts.length === columns.length && inOrder.every((each) => isBetween(each, columns))) return inOrder;
  for (const line of texts) {
    const own = rangeOf(line, columns);
    if (!own || BULLET.test(line.words) || line.code) return undefined;
    if (own.from === own.to || isAbove(line, columns.slice(own.from, own.to + 1))) {
      found.push({ line, ...own });
      continue;
    }
    // A single text is not a row of head words that are as close as cells.
    if (texts.length === 1 && (line.parts?.length ?? 1) === 1) return undefined;
    const gaps = columns.slice(own.from, own.to).map(({ right }, i) => {
      const next = columns[own.from + i + 1]?.x ?? right;
      return { from: Math.min(right, next), to: Math.max(right, next) };
    });
    for (const part of splitAtGaps(line, gaps)) {
      const single = rangeOf(part, columns);
      if (!single || single.from !== single.to || !isAligned(part, columns[single.from])) return undefined;
      found.push({ line: part, ...single });
    }
  }
  const ordered = found.sort((a, b) => a.from - b.from);
  return ordered.some(({ from }, i) => i > 0 && from <= (ordered[i - 1] as HeadLine).to) ? undefined : ordered;
}

/**
 * Widens each column to the head lines that are above this column only: in a multi-line head, a short line may not be
 * above the numbers.
 */
function widened(columns: readonly Range[], lines: readonly Line[]): Range[] {
  return columns.map(({ x, right }, k) => {
    const own = lines.filter((line) => {
      const above = columns.flatMap((column, i) => (column.right > line.x && column.x < line.right ? [i] : []));
      return above.length === 1 && above[0] === k;
    });
    const [before, next] = [columns[k - 1], columns[k + 1]];
    // Stay closer to this column than to its neighbours.
    const least = before ? (before.right + x) / 2 : Number.NEGATIVE_INFINITY;
    const most = next ? (right + next.x) / 2 : Number.POSITIVE_INFINITY;
    return {
      x: Math.min(x, Math.max(least, Math.min(...own.map((line) => line.x)))),
      right: Math.max(right, Math.min(most, Math.max(...own.map((line) => line.right)))),
    };
  });
}

/**
 * Whether a line fits its column, without reaching adjacent columns. A word may be at one side of its column and
 * numbers at the other.
 */
function isBetween({ line, from }: HeadLine, columns: readonly Range[]): boolean {
  const [before, next] = [columns[from - 1], columns[from + 1]];
  return (!before || line.x > before.right) && (!next || line.right < next.x) && rangeOf(line, columns) !== undefined;
}

/**
 * Returns the columns below a line, or else the nearest column. Returns undefined if the line is outside of the table.
 */
function rangeOf({ x, right, size }: Pick<Line, 'x' | 'right' | 'size'>, columns: readonly Range[]) {
  const [first, last] = [columns[0]?.x ?? 0, columns.at(-1)?.right ?? 0];
  if (x < first - BEYOND * size || right > last + BEYOND * size) return undefined;
  const from = columns.findIndex((column) => column.right > x + 0.5 && column.x < right - 0.5);
  const to = columns.findLastIndex((column) => column.right > x + 0.5 && column.x < right - 0.5);
  if (from >= 0) return { from, to };
  // The head of two columns may be narrower than the gap between them.
  const wide = columns.findIndex(
    (column, k) => k > 0 && column.x >= right && isAbove({ x, right, size }, columns.slice(k - 1, k + 1)),
  );
  if (wide > 0) return { from: wide - 1, to: wide };
  const distances = columns.map((column) => Math.max(column.x - right, x - column.right));
  const nearest = distances.indexOf(Math.min(...distances));
  return { from: nearest, to: nearest };
}

/** Whether a line is centered above several columns. */
function isAbove(line: Pick<Line, 'x' | 'right' | 'size'>, columns: readonly Range[]): boolean {
  const middle = ((columns[0]?.x ?? 0) + (columns.at(-1)?.right ?? 0)) / 2;
  return Math.abs((line.x + line.right) / 2 - middle) <= Math.max(CENTERED_POINTS, CENTERED * line.size);
}

/** Whether a part of a split text starts, ends or is centered with its column, within the error of the estimate. */
function isAligned({ x, right, size }: Line, column: Range | undefined): boolean {
  if (!column) return false;
  const differences = [x - column.x, right - column.right, (x + right - column.x - column.right) / 2];
  return differences.some((difference) => Math.abs(difference) <= size);
}

/** Groups head rows that are as close as lines of a text. */
function groupsOf(heads: readonly HeadRow[]): HeadRow[][] {
  const groups: HeadRow[][] = [];
  for (const [i, head] of heads.entries()) {
    const before = heads[i - 1];
    const isNear = before && before.y - head.y <= LEADING * head.size;
    // Two rows of numbers are not lines of one row.
    if (isNear && !(hasNumbers([before]) && hasNumbers([head]))) groups.at(-1)?.push(head);
    else groups.push([head]);
  }
  return groups;
}

function hasNumbers(rows: readonly HeadRow[]): boolean {
  return rows.some(({ lines }) => lines.some(({ line }) => isNumber(line)));
}

/**
 * Whether a group has words above several columns. A single line above several columns is a caption, unless it starts
 * after the first column.
 */
function isHead(group: readonly HeadRow[], columns: number): boolean {
  const lines = group.flatMap((row) => row.lines);
  const own = new Set(lines.map(({ from, to }) => `${from} ${to}`));
  const [only] = lines;
  // Lines that all start above the first column are a text.
  const areBeside = Math.min(...lines.map(({ to }) => to)) < Math.max(...lines.map(({ from }) => from));
  if (own.size > 1) return areBeside && !lines.some(({ from, to }) => to - from + 1 >= columns);
  return only !== undefined && only.from > 0 && only.to > only.from && !hasNumbers(group);
}

/** Makes a head row of lines of the table; they may span more columns than the column that they were found in. */
function headRowOf(row: readonly Line[], table: readonly TableRow[], columns: readonly Range[]): HeadRow {
  const columnOf = (line: Line) =>
    table.map(({ cells }) => cells.findIndex((own) => own.includes(line))).find((k) => k >= 0) ?? 0;
  const known = row.map((line) => ({ line, from: columnOf(line), to: columnOf(line) }));
  return { lines: headLines(row, columns) ?? known, y: row[0]?.y ?? 0, size: row[0]?.size ?? 0 };
}

/**
 * Returns the rows of a group: by writing order if known, otherwise one row, or two if lines are below a head over
 * several columns.
 */
function rowsOf(group: readonly HeadRow[], columns: readonly Range[]): TableRow[] {
  const lines = group.flatMap((row) => row.lines);
  const written = writtenHeadRows(lines, columns);
  const spans = lines.filter(({ from, to }) => to > from);
  const lowest = Math.min(...spans.map(({ line }) => line.y));
  const isBelow = ({ line, from, to }: HeadLine) =>
    line.y < lowest - 0.6 * line.size && spans.some((span) => span.from <= from && to <= span.to);
  const lower = lines.filter(isBelow);
  const upper = lines.filter((line) => !isBelow(line));
  const rowOf = (own: readonly HeadLine[]): TableRow => ({
    cells: columns.map((_, k) => own.filter(({ from }) => from === k).map(({ line }) => line)),
    count: 0,
  });
  if (written) return written.map(rowOf);
  return lower.length === 0 ? [rowOf(upper)] : [rowOf(upper), rowOf(lower)];
}

/** A year may be a head. */
function isNumber({ words }: Line): boolean {
  return /\p{N}/u.test(words) && !/\p{L}/u.test(words) && !/^(?:19|20)\d\d$/.test(words);
}
