import { countCharacters, type Loss } from '../losses.ts';
import { type Hyphenated, joinRuns } from './join-runs.ts';
import { type Run, wordsOf } from './page/lines.ts';
import { lossOn } from './page/page.ts';
import type { PdfBlock } from './pdf-block.ts';

/** The limit of head rows that may repeat. */
const HEAD_ROWS = 4;

/**
 * The share of the wider part's width by which two parts of a table must overlap; cells differ in width between pages.
 */
const BELOW = 0.5;

/**
 * Joins the first block of a page in a tagged PDF to the last block of the previous page if it continues its table or
 * item: a table whose head is equal or missing, or an item without a mark. Returns whether it did. A repeated head is
 * listed as a loss.
 */
export function continueTagged(
  last: PdfBlock | undefined,
  next: PdfBlock,
  hyphenated: Hyphenated,
  losses: Loss[],
): boolean {
  if (last?.kind === 'item' && next.kind === 'item' && (last.depth ?? 0) > (next.depth ?? 0)) {
    // Text below a nested list continues the item that contains the list.
    next.isRest ||= next.isMarked === false && last.isMarked === true;
    return false;
  }
  if (last?.kind === 'item' && next.kind === 'item') {
    if (!last.isMarked || next.isMarked !== false || last.depth !== next.depth) return false;
    joinRuns(last.runs, next.runs, hyphenated);
    last.isFull = next.isFull;
    last.places.push(...next.places);
    return true;
  }
  if (!last || !isRestOfTable(last, next)) return false;
  const heads = next.head_rows ?? 0;
  const isDivided = isRestOfRow(last, next, heads);
  if (isDivided)
    for (const [k, runs] of (next.rows[heads] ?? []).entries()) joinCell(last.rows.at(-1)?.[k] ?? [], runs, hyphenated);
  appendRows(last, next, heads, losses, isDivided ? heads + 1 : heads);
  return true;
}

/** Appends the text of a cell on the next page, in place. */
function joinCell(cell: Run[], more: readonly Run[], hyphenated: Hyphenated): void {
  if (wordsOf(more) !== '') joinRuns(cell, more, hyphenated);
}

/**
 * Whether the first row on a page continues the last row of the previous page: some of its cells, with several lines,
 * continue in the middle of a sentence, and the other cells are complete.
 */
function isRestOfRow(table: PdfBlock, next: PdfBlock, heads: number): boolean {
  const [row = [], rest = []] = [table.rows.at(-1), next.rows[heads]];
  const cells = rest.map((runs, k) => ({
    words: wordsOf(runs),
    before: wordsOf(row[k] ?? []),
    lines: Math.max(table.cell_lines?.at(-1)?.[k] ?? 0, next.cell_lines?.[heads]?.[k] ?? 0),
  }));
  const open = cells.filter(({ words }) => words !== '');
  const isWithin = open.length > 0 && open.length < row.filter((runs) => wordsOf(runs) !== '').length;
  if (!isWithin || open.some(({ before }) => before === '') || !open.some(({ lines }) => lines > 1)) return false;
  const goesOn = ({ words }: { words: string }) => /^\p{Ll}/u.test(words);
  return open.some(goesOn) && open.every((cell) => goesOn(cell) || !/[.!?:]["”’)\]]?$/.test(cell.before));
}

/** The tolerance for columns of both parts to start, end or be centered at the same place, in points. */
const SAME_PLACE = 2.5;

/**
 * Joins the first block of a page to the last block of the previous page if both are tables with the same columns: the
 * first row is repeated, or the columns are at the same places. Returns whether it did. A repeated row is listed as a
 * loss.
 */
export function continueTable(last: PdfBlock | undefined, next: PdfBlock, losses: Loss[]): boolean {
  if (last?.kind !== 'table' || next.kind !== 'table') return false;
  const [page, nextPage] = [last.places.at(-1)?.page, next.places[0]?.page];
  if (page === undefined || nextPage !== page + 1 || !isBelow(last, next)) return false;
  if (last.rows[0]?.length !== next.rows[0]?.length) return false;
  const repeated = repeatedRows(last, next);
  if (repeated === 0 && !(hasSameColumns(last, next) && !beginsWithHead(last, next))) return false;
  appendRows(last, next, repeated, losses);
  return true;
}

/** Counts the equal head rows at the beginning of both tables. Equal rows of numbers do not count. */
function repeatedRows(last: PdfBlock, next: PdfBlock): number {
  const isHead = (row: readonly Run[][]) => {
    const words = row.map(wordsOf).filter((each) => each !== '');
    return words.some((each) => /\p{L}/u.test(each)) && words.every((each) => /\p{L}|^(?:19|20)\d\d$/u.test(each));
  };
  let count = 0;
  while (count < HEAD_ROWS && count + 1 < Math.min(last.rows.length, next.rows.length)) {
    const [row, other] = [last.rows[count] ?? [], next.rows[count] ?? []];
    if (!isHead(row) || row.some((cell, k) => wordsOf(cell) !== wordsOf(other[k] ?? []))) break;
    count += 1;
  }
  // Text in the first column only is the title of a row group.
  return last.rows.slice(0, count).some((row) => row.some((cell, k) => k > 0 && wordsOf(cell) !== '')) ? count : 0;
}

/** Whether a table begins with words in a column where the other table has only numbers below its head. */
function beginsWithHead({ rows }: PdfBlock, { rows: [first = []] }: PdfBlock): boolean {
  const hasLetter = (cell: Run[] | undefined) => /\p{L}/u.test(wordsOf(cell ?? []));
  return first.some((cell, k) => {
    const below = rows.slice(1).filter((row) => wordsOf(row[k] ?? []) !== '');
    return hasLetter(cell) && below.length > 0 && !below.some((row) => hasLetter(row[k]));
  });
}

function hasSameColumns({ columns = [] }: PdfBlock, { columns: others = [] }: PdfBlock): boolean {
  const isNear = (one: number, other: number) => Math.abs(one - other) <= SAME_PLACE;
  return (
    columns.length > 1 &&
    columns.length === others.length &&
    columns.every(({ x, right }, k) => {
      const other = others[k];
      return other && (isNear(x, other.x) || isNear(right, other.right) || isNear(x + right, other.x + other.right));
    })
  );
}

/** `from`: the index of the first new row. */
function appendRows(last: PdfBlock, next: PdfBlock, repeated: number, losses: Loss[], from = repeated): void {
  for (const row of next.rows.slice(0, repeated)) {
    const excerpt = row.map(wordsOf).join(' ').trim();
    const head = { kind: 'repeated_line', characters: countCharacters(excerpt), excerpt } as const;
    losses.push(lossOn(next.places[0]?.page ?? 0, head));
  }
  last.rows.push(...next.rows.slice(from));
  last.cell_lines?.push(...(next.cell_lines ?? []).slice(from));
  last.row_places?.push(...(next.row_places ?? []).slice(from));
  last.places.push(...next.places);
}

function isRestOfTable(table: PdfBlock, next: PdfBlock): boolean {
  if (table.table === undefined || next.table === undefined) return false;
  if (table.rows[0]?.length !== next.rows[0]?.length) return false;
  const heads = next.head_rows ?? 0;
  if (heads > 0)
    return heads === table.head_rows && heads < next.rows.length && headOf(next, heads) === headOf(table, heads);
  return isBelow(table, next);
}

/** Whether a table is at about the same horizontal place as the table on the previous page. */
function isBelow(table: PdfBlock, next: PdfBlock): boolean {
  const [place] = table.places.slice(-1);
  const [other] = next.places;
  if (!place || !other) return false;
  const width = Math.max(place.right - place.x, other.right - other.x);
  return Math.min(place.right, other.right) - Math.max(place.x, other.x) > BELOW * width;
}

function headOf({ rows }: PdfBlock, count: number): string {
  return JSON.stringify(rows.slice(0, count).map((row) => row.map(wordsOf)));
}
