import { countCharacters, type Loss } from '../losses.ts';
import { type Hyphenated, joinRuns } from './join-runs.ts';
import { wordsOf } from './page/lines.ts';
import { lossOn } from './page/page.ts';
import type { PdfBlock } from './pdf-block.ts';

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
  if (last?.kind === 'item' && next.kind === 'item') {
    if (!last.isMarked || next.isMarked !== false || last.depth !== next.depth) return false;
    joinRuns(last.runs, next.runs, hyphenated);
    last.isFull = next.isFull;
    last.places.push(...next.places);
    return true;
  }
  if (!last || !isRestOfTable(last, next)) return false;
  appendRows(last, next, next.head_rows ?? 0, losses);
  return true;
}

/**
 * Joins the first block of a page to the last one of the page before, if both are tables of the same columns and the row
 * that the first began with is repeated. Returns whether it is. The repeated row is listed.
 */
export function continueTable(last: PdfBlock | undefined, next: PdfBlock, losses: Loss[]): boolean {
  if (last?.kind !== 'table' || next.kind !== 'table' || next.rows.length < 2) return false;
  const [page, nextPage] = [last.places.at(-1)?.page, next.places[0]?.page];
  if (page === undefined || nextPage !== page + 1 || !isBelow(last, next)) return false;
  const [head = '', other] = [headOf(last, 1), headOf(next, 1)];
  if (head !== other || last.rows[0]?.length !== next.rows[0]?.length) return false;
  // Numbers that happen to be the same are no head.
  if (last.rows[0]?.some((cell) => !/\p{L}/u.test(wordsOf(cell)))) return false;
  appendRows(last, next, 1, losses);
  return true;
}

function appendRows(last: PdfBlock, next: PdfBlock, repeated: number, losses: Loss[]): void {
  for (const row of next.rows.slice(0, repeated)) {
    const excerpt = row.map(wordsOf).join(' ').trim();
    const head = { kind: 'repeated_line', characters: countCharacters(excerpt), excerpt } as const;
    losses.push(lossOn(next.places[0]?.page ?? 0, head));
  }
  last.rows.push(...next.rows.slice(repeated));
  last.row_places?.push(...(next.row_places ?? []).slice(repeated));
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
