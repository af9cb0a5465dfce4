import type { Line } from './lines.ts';
import { cutOf, ESTIMATED_IN_HEAD, gapsInPairs, isNumber, isTall, type Piece, ROWS_MIN } from './near-cells.ts';

/** Texts that are nearer to each other than this, in sizes, are one piece of a row. */
export const PIECE_GAP = 0.2;
/** Rows of a table are not farther from each other than this, in sizes. */
const APART = 3.5;
/** In some row it is wider than a space between words, in sizes; if not only numbers are behind it, also than one in a justified line. */
const WIDE = 0.55;
const WIDE_OF_WORDS = 1.6;
/** This share of the cells of a column of numbers are numbers. */
const NUMBERS = 0.6;
/** This share of the cells behind it begin, end or have their middle at one place, within this many points. */
const ALIGNED = 0.65;
const ALIGNED_POINTS = 1.2;
/** The words of a head may be wider than all cells below them; a line of text is wider still. */
const WIDER = 1.5;

/** How many rows of a table may have cells that are one text before there is one that has not. */
const FIRST_ROWS = 4;

/** How many lines of one column only may follow each other. */
const LINES_MAX = 6;

/** Limits, so that the time for a page grows with its length. */
const TABLE_ROWS_MAX = 120;
const PIECES_MAX = 100;

/** From where to where no row has text. */
interface Gap {
  from: number;
  to: number;
  /** The rows that have text on both sides of it. */
  rows: number;
}

/** Rows with the gaps between the columns of a table, from left to right. */
export interface GappedRows {
  from: number;
  count: number;
  gaps: { from: number; to: number }[];
  /** How many of them were found above the others: heads, and rows whose cells are one text. */
  above: number;
}

/**
 * The rows from here on that a table may consist of, although some of its cells are as near to each other as words: between
 * its columns no row has text, and what stands behind a gap is aligned. Undefined if there are none. `after`: the first row that is in no table before.
 */
export function gappedRows(
  rows: readonly (readonly Line[])[],
  pieces: readonly (readonly Piece[])[],
  from: number,
  after: number,
): GappedRows | undefined {
  const found = widestAt(rows, pieces, from);
  if (!found) return undefined;
  // A line of text above a table may have a gap where the table has one, and cells of its first rows may be one text.
  for (let at = from + 1; at <= from + Math.min(FIRST_ROWS, found.count); at += 1) {
    const next = widestAt(rows, pieces, at);
    // The lines of its head may lack columns.
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

/** How much of a page it divides. */
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
    // Cells that touch each other may be one text, but not in all rows.
    const isText = (gap: Gap) => own.some((piece) => cutOf(piece, gap) !== undefined);
    const mayCross = divided.length > 0 || !tolerated;
    if (crossed.some((gap) => gap.rows >= ROWS_MIN && !(mayCross && isText(gap)))) break;
    open.push(...(mayCross ? crossed.filter(isText) : []));
    open.sort((a, b) => a.from - b.from);
    tolerated = crossed.length > 0 && divided.length === 0;
    // Lines of one column are the rest of cells, or a text behind the table.
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

/** What is left of a gap where a row has text. */
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

/** Whether what stands behind a gap, up to the next one, is a column. */
function isColumnGap(gap: Gap, next: Gap | undefined, table: readonly (readonly Piece[])[]): boolean {
  const cells: { x: number; right: number }[] = [];
  // Where the numbers before it end, and where the texts beside these begin.
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
  // Behind numbers that all end at one place words may begin as near to them as in a sentence.
  const isBehindNumbers =
    ends.length >= NUMBERS * cells.length && mostAt(ends) >= rowsMin(table) && mostAt(begins) >= NUMBERS * cells.length;
  const least = isBehindNumbers ? PIECE_GAP : numbers >= NUMBERS * cells.length ? WIDE : WIDE_OF_WORDS;
  return cells.length >= rowsMin(table) && widest >= least && areAligned(cells, rowsMin(table));
}

/** Cells of several lines say more than those of one. */
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

/** The largest number of places that are one. */
function mostAt(places: readonly number[]): number {
  const sorted = [...places].sort((a, b) => a - b);
  let [most, start] = [0, 0];
  for (const [i, place] of sorted.entries()) {
    while (place - (sorted[start] ?? 0) > ALIGNED_POINTS) start += 1;
    most = Math.max(most, i - start + 1);
  }
  return most;
}

/** With the row above, if it can be divided at the gaps, too: words of a head may be one text. */
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
    // What stands in a gap belongs to the column that it is nearer to.
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
