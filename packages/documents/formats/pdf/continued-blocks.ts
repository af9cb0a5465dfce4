import { countCharacters, type Loss } from '../losses.ts';
import { type Hyphenated, joinRuns } from './join-runs.ts';
import { type Run, wordsOf } from './page/lines.ts';
import { lossOn } from './page/page.ts';
import type { PdfBlock } from './pdf-block.ts';

/** How many rows of a head may be repeated. */
const HEAD_ROWS = 4;

/** The share of the width of a table in which its rest on the next page stands; words of cells differ in length. */
const BELOW = 0.5;

/**
 * Joins the first block of a page of a tagged PDF to the last one of the page before, if it is the rest of its table or
 * item: a table whose head is the same or missing, an item without a mark. Returns whether it is. A head that is
 * repeated is listed.
 */
export function continueTagged(
  last: PdfBlock | undefined,
  next: PdfBlock,
  hyphenated: Hyphenated,
  losses: Loss[],
): boolean {
  if (last?.kind === 'item' && next.kind === 'item' && (last.depth ?? 0) > (next.depth ?? 0)) {
    // What stands below a list in the last item of the page before.
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

/** Appends in place what a cell has on the next page. */
function joinCell(cell: Run[], more: readonly Run[], hyphenated: Hyphenated): void {
  if (wordsOf(more) !== '') joinRuns(cell, more, hyphenated);
}

/**
 * Whether the first row of a table on a page is the rest of the last row on the page before: some of its cells go on, of
 * several lines, in the middle of a sentence, and the others are complete.
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

/** The columns of the rest of a table begin, end or have their middle where those of the table do, within this many points. */
const SAME_PLACE = 2.5;

/**
 * Joins the first block of a page to the last one of the page before, if both are tables of the same columns: the row that
 * the first began with is repeated, or the columns stand at the same places. Returns whether it is. A repeated row is listed.
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

/** How many rows of words both tables begin with. Numbers that happen to be the same are no head. */
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
  // What is in the first column only is a group of rows.
  return last.rows.slice(0, count).some((row) => row.some((cell, k) => k > 0 && wordsOf(cell) !== '')) ? count : 0;
}

/** Whether a table begins with words where the other has only numbers below its head. */
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

/** `from`: the first row that is a new one. */
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

/** Whether a table stands where the other did on the page before. */
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
