import type { Line } from './lines.ts';
import { cutOf, ESTIMATED_IN_HEAD, gapsInPairs, isNumber, isTall, type Piece, ROWS_MIN } from './near-cells.ts';

/** Texts at a smaller distance, in font sizes, form one piece of a row. */
export const PIECE_GAP = 0.2;
/** The largest distance between rows of a table, in font sizes. */
const APART = 3.5;
/**
 * The width that a column gap needs in at least one row, in font sizes: more than a word space. Unless the column has
 * numbers, it must also exceed word spaces of justified lines.
 */
const WIDE = 0.55;
const WIDE_OF_WORDS = 1.6;
/** The share of numbers among the cells of a numeric column. */
const NUMBERS = 0.6;
/** The share of cells after a gap that must start, end or be centered at one place, within this many points. */
const ALIGNED = 0.65;
const ALIGNED_POINTS = 1.2;
/** A head may be wider than the cells below it by this factor; a line of text is wider still. */
const WIDER = 1.5;

/** The number of rows at the top of a table whose cells may be joined into one text. */
const FIRST_ROWS = 4;

/** The limit of consecutive lines in a single column. */
const LINES_MAX = 6;

/** Limits that keep the time for a page linear in its length. */
const TABLE_ROWS_MAX = 120;
const PIECES_MAX = 100;

/** A horizontal range without text in any row. */
interface Gap {
  from: number;
  to: number;
  /** The number of rows with text on both sides. */
  rows: number;
}

/** Rows with the gaps between their columns, from left to right. */
export interface GappedRows {
  from: number;
  count: number;
  gaps: { from: number; to: number }[];
  /** The number of rows added at the top: heads, and rows whose cells are joined into one text. */
  above: number;
}

/**
 * Finds table rows from `from` on even if some cells are as close as words: no row has text in the gaps between
 * columns, and the text after a gap is aligned. Returns undefined if there is no table. `after`: the first row after
 * the previous table.
 */
export function gappedRows(
  rows: readonly (readonly Line[])[],
  pieces: readonly (readonly Piece[])[],
  from: number,
  after: number,
): GappedRows | undefined {
  const found = widestAt(rows, pieces, from);
  if (!found) return undefined;
  // A line of text above a table may happen to have a gap at the same place, and cells of the first rows may be joined
  // into one text.
  for (let at = from + 1; at <= from + Math.min(FIRST_ROWS, found.count); at += 1) {
    const next = widestAt(rows, pieces, at);
    // The lines of a head may lack columns.
    const isHead = !pieces.slice(from, at).flat().some(isNumber) && at + (next?.count ?? 0) === from + found.count;
    if (next && next.gaps.length > found.gaps.length && (isHead || sizeOf(next) > sizeOf(found))) return undefined;
  }
  let whole = found;
  for (let i = 0; i < FIRST_ROWS && whole.from > after; i += 1) {
    const more = withRowAbove(rows, pieces, whole);
    if (more === whole) break;
    whole = more;
  }
  return whole;
}

function sizeOf({ gaps, count }: GappedRows): number {
  return gaps.length * count;
}

function widestAt(
  rows: readonly (readonly Line[])[],
  pieces: readonly (readonly Piece[])[],
  from: number,
): GappedRows | undefined {
  let gaps: Gap[] = gapsOf(pieces[from] ?? []);
  let count = 1;
  let tolerated = false;
  let farthest = 0;
  for (let at = from + 1; gaps.length > 0 && at < rows.length && at - from < TABLE_ROWS_MAX; at += 1) {
    const own = pieces[at] ?? [];
    const gap = distance(rows, at);
    if (own.length > PIECES_MAX || gap > APART * (own[0]?.size ?? 0) || rows[at]?.every(({ code }) => code)) break;
    const open = gaps.flatMap((gap) => without(gap, own));
    const divided = open.filter((gap) => isBetween(gap, own));
    const crossed = gaps.filter((gap) => !open.some((each) => each.from >= gap.from && each.to <= gap.to));
    // Adjacent cells may be joined into one text, but not in all rows.
    const isText = (gap: Gap) => own.some((piece) => cutOf(piece, gap) !== undefined);
    const mayCross = divided.length > 0 || !tolerated;
    if (crossed.some((gap) => gap.rows >= ROWS_MIN && !(mayCross && isText(gap)))) break;
    open.push(...(mayCross ? crossed.filter(isText) : []));
    open.sort((a, b) => a.from - b.from);
    tolerated = crossed.length > 0 && divided.length === 0;
    // Lines in a single column continue cells, or are text after the table.
    if (divided.length === 0 && (gap > 1.1 * farthest || at - from - count >= LINES_MAX)) break;
    if (divided.length > 0) farthest = Math.max(farthest, gap);
    for (const each of divided) each.rows += 1;
    gaps = open;
    if (divided.length > 0) count = at - from + 1;
  }
  const table = pieces.slice(from, from + count);
  const valid = gaps.filter((gap, i) => isColumnGap(gap, gaps[i + 1], table));
  if (valid.length === 0) return undefined;
  return { from, count, gaps: [...valid, ...gapsInPairs(valid, table)].sort((a, b) => a.from - b.from), above: 0 };
}

function distance(rows: readonly (readonly Line[])[], at: number): number {
  const lowest = Math.min(...(rows[at - 1] ?? []).map(({ y }) => y));
  return lowest - Math.max(...(rows[at] ?? []).map(({ y }) => y));
}

function gapsOf(pieces: readonly Piece[]): Gap[] {
  if (pieces.length > PIECES_MAX) return [];
  return pieces.slice(1).flatMap((piece, i) => {
    const from = pieces[i]?.right ?? 0;
    return piece.x - from >= PIECE_GAP * piece.size ? [{ from, to: piece.x, rows: 1 }] : [];
  });
}

/** Returns the parts of a gap that a row leaves free. */
function without(gap: Gap, pieces: readonly Piece[]): Gap[] {
  let { from } = gap;
  const left: Gap[] = [];
  for (const { x, right, size } of pieces) {
    if (right <= from || x >= gap.to) continue;
    if (x - from >= PIECE_GAP * size) left.push({ from, to: x, rows: gap.rows });
    from = Math.max(from, right);
  }
  const least = PIECE_GAP * (pieces[0]?.size ?? 0);
  if (gap.to - from >= least) left.push({ from, to: gap.to, rows: gap.rows });
  return left;
}

function isBetween({ from, to }: { from: number; to: number }, pieces: readonly Piece[]): boolean {
  return pieces.some(({ right }) => right <= from + 0.1) && pieces.some(({ x }) => x >= to - 0.1);
}

/** Whether the text between a gap and the next gap is a column. */
function isColumnGap(gap: Gap, next: Gap | undefined, table: readonly (readonly Piece[])[]): boolean {
  const cells: { x: number; right: number }[] = [];
  // The ends of numbers before the gap, and the starts of the texts after them.
  const ends: number[] = [];
  const begins: number[] = [];
  let [widest, numbers] = [0, 0];
  for (const row of table) {
    const before = row.filter(({ right }) => right <= gap.from + 0.1).at(-1);
    const own = row.filter(
      ({ x, right }) => x >= gap.to - 0.1 && right <= (next?.from ?? Number.POSITIVE_INFINITY) + 0.1,
    );
    const [first] = own;
    const last = own.at(-1);
    if (!before || !first || !last) continue;
    cells.push({ x: first.x, right: last.right });
    if (own.every(isNumber)) numbers += 1;
    if (isNumber(before)) ends.push(before.right);
    if (isNumber(before)) begins.push(first.x);
    widest = Math.max(widest, (first.x - before.right) / first.size);
  }
  // After numbers that all end at one place, words may follow at the distance of a word space.
  const isBehindNumbers =
    ends.length >= NUMBERS * cells.length && mostAt(ends) >= rowsMin(table) && mostAt(begins) >= NUMBERS * cells.length;
  const least = isBehindNumbers ? PIECE_GAP : numbers >= NUMBERS * cells.length ? WIDE : WIDE_OF_WORDS;
  return cells.length >= rowsMin(table) && widest >= least && areAligned(cells, rowsMin(table));
}

/** Multi-line cells are stronger evidence, so fewer rows suffice. */
function rowsMin(table: readonly (readonly Piece[])[]): number {
  return table.flat().some(isTall) ? ROWS_MIN - 1 : ROWS_MIN;
}

function areAligned(cells: readonly { x: number; right: number }[], rows: number): boolean {
  const places = [
    cells.map(({ x }) => x),
    cells.map(({ right }) => right),
    cells.map(({ x, right }) => (x + right) / 2),
  ];
  return places.some((each) => mostAt(each) >= Math.max(rows, ALIGNED * each.length));
}

/** Returns how many places coincide, within the tolerance, at the most common place. */
function mostAt(places: readonly number[]): number {
  const sorted = [...places].sort((a, b) => a - b);
  let [most, start] = [0, 0];
  for (const [i, place] of sorted.entries()) {
    while (place - (sorted[start] ?? 0) > ALIGNED_POINTS) start += 1;
    most = Math.max(most, i - start + 1);
  }
  return most;
}

/** Adds the row above if the gaps divide it too; words of a head may be joined into one text. */
function withRowAbove(
  rows: readonly (readonly Line[])[],
  pieces: readonly (readonly Piece[])[],
  found: GappedRows,
): GappedRows {
  const head = pieces[found.from - 1] ?? [];
  const [first] = head;
  const table = pieces.slice(found.from, found.from + found.count).flat();
  const width = Math.max(...table.map(({ right }) => right)) - Math.min(...table.map(({ x }) => x));
  if (!first || head.length > PIECES_MAX || distance(rows, found.from) > APART * first.size) return found;
  const isWithin = (head.at(-1)?.right ?? 0) - first.x < WIDER * width;
  const isInOrder = head.length === found.gaps.length + 1 && head.every(isWord);
  const gaps = found.gaps.flatMap((gap) => {
    // Text that reaches into a gap belongs to the closer column.
    const [widest] = without({ ...gap, rows: 0 }, head).sort((a, b) => b.to - b.from - (a.to - a.from));
    return widest ?? (isInOrder || head.some((piece) => cutOf(piece, gap, ESTIMATED_IN_HEAD)) ? gap : []);
  });
  const hasOwn = gaps.some((gap) => isFree(gap, head) && isBetween(gap, head));
  if (!isWithin || gaps.length < found.gaps.length || !(hasOwn || isInOrder)) return found;
  return { gaps, from: found.from - 1, count: found.count + 1, above: found.above + 1 };
}

function isWord({ parts }: Piece): boolean {
  return parts?.some(({ text }) => /\p{L}/u.test(text)) ?? false;
}

function isFree({ from, to }: { from: number; to: number }, pieces: readonly Piece[]): boolean {
  return !pieces.some(({ x, right }) => x < to - 0.1 && right > from + 0.1);
}
