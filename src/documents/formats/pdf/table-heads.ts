import { splitAtGaps } from './divided-rows.ts';
import { BULLET } from './marks/item-marks.ts';
import { boxOf, type Line } from './page/lines.ts';

/** A row of a table: the lines of each of its cells, and how many rows of lines it takes. */
export interface TableRow {
  cells: Line[][];
  count: number;
}

/** How many rows of lines a head has at most, and how far they are from each other and from the table, in sizes. */
const ROWS_MAX = 9;
const APART = 3;
/** Lines of one row are not farther from each other than this, in sizes. */
const LEADING = 1.4;
/** A head reaches this far beyond the first and the last column, in sizes. */
const BEYOND = 5;
/** The middle of a head of several columns is that of these, within this many points or sizes. */
const CENTERED_POINTS = 2.5;
const CENTERED = 0.35;

/** A line above a table, and the columns that it is the head of. */
interface HeadLine {
  line: Line;
  from: number;
  to: number;
}

/** Head lines at one height. */
interface HeadRow {
  lines: HeadLine[];
  y: number;
  size: number;
}

/**
 * The table with the rows above it that are its head, down to a row: lines in its columns, of which one may be the head of
 * several. What is in the first column only is a row of the table if there is a head above it, and else a text.
 */
export function withHeads(
  table: readonly TableRow[],
  rows: readonly (readonly Line[])[],
  from: number,
  free: number,
): TableRow[] {
  const own = rowsOfHead(table);
  const body = table.slice(own);
  const columns = (table[0]?.cells ?? []).map((_, k) =>
    boxOf((own > 0 ? body : table).flatMap((row) => row.cells[k] ?? [])),
  );
  const heads: HeadRow[] = table.slice(0, own).map(headRowOf);
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
  // The last lines of a paragraph.
  const [above] = (at >= free ? rows[at] : undefined) ?? [];
  while (heads.length > own && above && isRestOf(above, heads[0] as HeadRow)) heads.shift();
  const groups = groupsOf(heads);
  while (groups[0] && groups.flat().length > own && !isHead(groups[0], columns.length)) {
    // A text that stands near the head is none of it.
    if (groups.flat().length - groups[0].length < own) groups[0].shift();
    else groups.shift();
    if (groups[0]?.length === 0) groups.shift();
  }
  return groups.length === 0 ? [...table] : [...groups.flatMap((group) => rowsOf(group, columns.length)), ...body];
}

/**
 * How many rows of a table are its head: words above numbers, whose lines are as near to each other as lines of a text, and nearer
 * than to the row below.
 */
function rowsOfHead(table: readonly TableRow[]): number {
  const count = table.findIndex(({ cells }) => cells.flat().some(isNumber));
  const lines = table.slice(0, count).map(({ cells }) => cells.flat());
  const next = table[count]?.cells.flat() ?? [];
  if (count < 1 || count > ROWS_MAX || table.slice(0, count).some((row) => row.count > 1)) return 0;
  const yOf = (row: readonly Line[]) => Math.max(...row.map(({ y }) => y));
  const last = yOf(lines.at(-1) ?? []) - yOf(next);
  const isNear = (row: readonly Line[], i: number) => {
    const before = lines[i - 1];
    if (!before) return true;
    const gap = yOf(before) - yOf(row);
    return gap <= LEADING * (row[0]?.size ?? 0) && gap < 0.95 * last;
  };
  return lines.every(isNear) ? count : 0;
}

/** Whether a row is the last line of the text above it. */
function isRestOf(above: Line, { lines: [first], y, size }: HeadRow): boolean {
  return first !== undefined && Math.abs(above.x - first.line.x) < size && above.y - y <= LEADING * size;
}

/** The lines of a row with their columns; undefined if one is a text that has nothing to do with the table. */
function headLines(row: readonly Line[], columns: readonly { x: number; right: number }[]): HeadLine[] | undefined {
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
    // A text of its own is no row of words that are as near to each other as cells.
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

/** Whether a line may be in its column: it does not reach the columns beside that. A word may be at one side of its column, and numbers at the other. */
function isBetween({ line, from }: HeadLine, columns: readonly { x: number; right: number }[]): boolean {
  const [before, next] = [columns[from - 1], columns[from + 1]];
  return (!before || line.x > before.right) && (!next || line.right < next.x) && rangeOf(line, columns) !== undefined;
}

/** The columns above which a line stands; what stands above none belongs to the nearest one. Undefined if it is elsewhere. */
function rangeOf({ x, right, size }: Line, columns: readonly { x: number; right: number }[]) {
  const [first, last] = [columns[0]?.x ?? 0, columns.at(-1)?.right ?? 0];
  if (x < first - BEYOND * size || right > last + BEYOND * size) return undefined;
  const from = columns.findIndex((column) => column.right > x + 0.5 && column.x < right - 0.5);
  const to = columns.findLastIndex((column) => column.right > x + 0.5 && column.x < right - 0.5);
  if (from >= 0) return { from, to };
  const distances = columns.map((column) => Math.max(column.x - right, x - column.right));
  const nearest = distances.indexOf(Math.min(...distances));
  return { from: nearest, to: nearest };
}

/** Whether the middle of a line is that of several columns. */
function isAbove(line: Line, columns: readonly { x: number; right: number }[]): boolean {
  const middle = ((columns[0]?.x ?? 0) + (columns.at(-1)?.right ?? 0)) / 2;
  return Math.abs((line.x + line.right) / 2 - middle) <= Math.max(CENTERED_POINTS, CENTERED * line.size);
}

/** Whether what was one text with others begins, ends or has its middle where the column has it, as well as that is known. */
function isAligned({ x, right, size }: Line, column: { x: number; right: number } | undefined): boolean {
  if (!column) return false;
  const differences = [x - column.x, right - column.right, (x + right - column.x - column.right) / 2];
  return differences.some((difference) => Math.abs(difference) <= size);
}

/** Rows of lines that are as near to each other as lines of a text. */
function groupsOf(heads: readonly HeadRow[]): HeadRow[][] {
  const groups: HeadRow[][] = [];
  for (const [i, head] of heads.entries()) {
    const before = heads[i - 1];
    const isNear = before && before.y - head.y <= LEADING * head.size;
    // Two rows of numbers are no lines of one row.
    if (isNear && !(hasNumbers([before]) && hasNumbers([head]))) groups.at(-1)?.push(head);
    else groups.push([head]);
  }
  return groups;
}

function hasNumbers(rows: readonly HeadRow[]): boolean {
  return rows.some(({ lines }) => lines.some(({ line }) => isNumber(line)));
}

/** Whether it has words in several columns; one alone above several is a caption, unless it stands behind the first one. */
function isHead(group: readonly HeadRow[], columns: number): boolean {
  const lines = group.flatMap((row) => row.lines);
  const own = new Set(lines.map(({ from, to }) => `${from} ${to}`));
  const [only] = lines;
  if (own.size > 1) return !lines.some(({ from, to }) => to - from + 1 >= columns);
  return only !== undefined && only.from > 0 && only.to > only.from && !hasNumbers(group);
}

function headRowOf({ cells }: TableRow): HeadRow {
  const lines = cells.flatMap((own, k) => own.map((line) => ({ line, from: k, to: k })));
  const [first] = cells.flat();
  return { lines, y: first?.y ?? 0, size: first?.size ?? 0 };
}

/** The rows of a group: one, or two where lines stand below the head of several columns. */
function rowsOf(group: readonly HeadRow[], columns: number): TableRow[] {
  const lines = group.flatMap((row) => row.lines);
  const spans = lines.filter(({ from, to }) => to > from);
  const lowest = Math.min(...spans.map(({ line }) => line.y));
  const isBelow = ({ line, from, to }: HeadLine) =>
    line.y < lowest - 0.6 * line.size && spans.some((span) => span.from <= from && to <= span.to);
  const lower = lines.filter(isBelow);
  const upper = lines.filter((line) => !isBelow(line));
  const rowOf = (own: readonly HeadLine[], count: number): TableRow => ({
    cells: Array.from({ length: columns }, (_, k) => own.filter(({ from }) => from === k).map(({ line }) => line)),
    count,
  });
  if (lower.length === 0) return [rowOf(upper, group.length)];
  return [rowOf(upper, group.length), rowOf(lower, 0)];
}

/** A year may be a head. */
function isNumber({ words }: Line): boolean {
  return /\p{N}/u.test(words) && !/\p{L}/u.test(words) && !/^(?:19|20)\d\d$/.test(words);
}
