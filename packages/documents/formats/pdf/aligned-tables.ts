import { rowsDown } from './columns.ts';
import { splitAtGaps } from './divided-rows.ts';
import { type Hyphenated, joinRuns } from './join-runs.ts';
import { isMark } from './marks/item-marks.ts';
import {
  columnsIn,
  dividedRegion,
  isAligned,
  isWrittenByCells,
  type Region,
  shareOfLines,
  widestRegion,
} from './page/bands.ts';
import { boxOf, type Line, type Run, trimRuns } from './page/lines.ts';
import { isNumber, numberRows, rowsIn, type TableRow } from './page/table-rows.ts';
import type { PdfBlock } from './pdf-block.ts';
import { withHeads } from './table-heads.ts';

/** The minimum number of rows with several cells. */
const ROWS_MIN = 3;
/** The limit of rows of lines that a table may span. */
const REACH = 600;
/**
 * A table with this many rows or fewer needs numbers below a head, and is only searched for within this many rows of
 * lines.
 */
const [FEW_ROWS, FEW_LINES] = [3, 30];
/** The tolerance of a head's position relative to its column, in points. */
const HEAD_POINTS = 2.5;
/** If cells of every column are longer than this on average, they are lines of prose in columns. */
const PROSE = 35;
/**
 * Signs of a justified paragraph: the share of lines with a common end and its tolerance in points, the share of rows
 * whose later cells start in lower case, and the words per line.
 */
const [JUSTIFIED, EDGE_POINTS, SMALL, LINE_WORDS] = [0.75, 1.5, 0.5, 5];

/** The share of lines that need several cells; higher for two columns, because lists of terms look like them. */
const WITH_CELLS = 0.4;
const WITH_BOTH = 0.7;

const LEADER = /(?:[.·…]\s?){4}/;

/** A table, and the rows of lines that it spans. */
export interface AlignedTable {
  from: number;
  count: number;
  block: PdfBlock;
}

/**
 * Returns the table that begins at a row: cells aligned in three or more rows. Cells may be missing or have several
 * lines. Rows are told from lines by their distance, otherwise by the first column. `free`: the first row that may
 * belong to its head.
 */
export function tableAt(
  rows: readonly Line[][],
  from: number,
  page: number,
  hyphenated: Hyphenated,
  free = from,
): AlignedTable | undefined {
  const divided = dividedFrom(rows, from + 1);
  const before = rows[from]?.[0]?.column || divided < 0 ? rows : rows.slice(0, divided);
  const many = wholeRegionAt(rows, from) ?? dividedAt(rows, from) ?? regionAt(before, from) ?? equalRows(before, from);
  const few = many ? undefined : fewRowsAt(before, from);
  const body = many ?? few;
  if (!body) return undefined;
  const end = from + countOf(body);
  const table = withHeads(body, rows, from, free);
  if (few && !isBelowHead(few, table)) return undefined;
  const count = countOf(table);
  const rowsOfCells = table.flatMap((row) => numberRows(row.cells));
  const places = rowsOfCells.map((row) => ({ page, ...boxOf(row.flat()) }));
  const [first] = rows[from] ?? [];
  const start = end - count;
  const cells = rowsOfCells.map((row) => row.map((lines) => runsOfCell(lines, hyphenated)));
  const columns = (table[0]?.cells ?? []).map((_, k) => boxOf(table.flatMap((row) => row.cells[k] ?? [])));
  return {
    from: start,
    count,
    block: {
      kind: 'table',
      runs: [],
      rows: cells,
      size: first?.size ?? 0,
      isFull: false,
      places: [{ page, ...boxOf(table.flatMap((row) => row.cells.flat())) }],
      row_places: places,
      columns,
    },
  };
}

/**
 * Returns the first row from `from` on that was split at column gaps, within the reach of a table; -1 without such a
 * row.
 */
function dividedFrom(rows: readonly Line[][], from: number): number {
  for (let at = from; at < Math.min(rows.length, from + REACH); at += 1) if (rows[at]?.[0]?.column) return at;
  return -1;
}

function countOf(table: readonly TableRow[]): number {
  return table.reduce((sum, { count }) => sum + count, 0);
}

/** Joins the lines of a cell. */
export function runsOfCell(lines: readonly Line[], hyphenated: Hyphenated): Run[] {
  const runs: Run[] = [];
  for (const line of rowsDown(lines).flat()) {
    if (runs.length === 0) runs.push(...line.runs.map((run) => ({ ...run })));
    else joinRuns(runs, line.runs, hyphenated);
  }
  return trimRuns(runs);
}

/** Whether two cells overlap horizontally. */
export function overlaps(cell: Line, other: Line | undefined): boolean {
  return other !== undefined && cell.x < other.right + cell.size && other.x < cell.right + cell.size;
}

/** Returns the rows from `from` on that have the same number of single-line cells at the same places. */
function equalRows(rows: readonly Line[][], from: number): TableRow[] | undefined {
  const first = rows[from] ?? [];
  if (first.length < 2) return undefined;
  let count = 1;
  for (const row of rows.slice(from + 1)) {
    if (row.length !== first.length || !row.every((cell, i) => overlaps(cell, first[i]))) break;
    count += 1;
  }
  const table = rows.slice(from, from + count).map((row) => ({ cells: row.map((line) => [line]), count: 1 }));
  return count < ROWS_MIN || isProse(table) ? undefined : table;
}

/**
 * Returns up to FEW_ROWS rows from `from` on, each with at least half of its cells numbers. They are a table only if a
 * head is above them.
 */
function fewRowsAt(rows: readonly Line[][], from: number): TableRow[] | undefined {
  const isNumeric = (row: readonly Line[]) => 2 * row.filter(isNumber).length >= Math.max(2, row.length);
  const cellsOf = (row: readonly Line[]) => row.flatMap((line) => splitAtGaps(line, []));
  const first = cellsOf(rows[from] ?? []);
  if (first.length < 2 || !isNumeric(first)) return undefined;
  const region = widestRegion(rows.slice(from, from + FEW_LINES).map(cellsOf), 0);
  const table = rowsIn(region);
  const isBody = table.length > 0 && table.length <= FEW_ROWS && table.every(({ cells }) => isNumeric(cells.flat()));
  return isBody && !isListed(region) ? table : undefined;
}

/** Whether rows have a head of words, one for each column or for each except the first, aligned with their cells. */
function isBelowHead(body: readonly TableRow[], table: readonly TableRow[]): boolean {
  const heads = table.slice(0, -body.length).map(({ cells }) => cells);
  if (heads.flat(2).some(isNumber)) return false;
  const columns = (body[0]?.cells ?? []).map((_, k) => ({
    head: boxOf(heads.flatMap((cells) => cells[k] ?? [])),
    own: boxOf(body.flatMap(({ cells }) => cells[k] ?? [])),
  }));
  const filled = columns.filter(({ head }, k) => k > 0 && head.x < head.right);
  const aligned = columns.filter(({ head, own }) =>
    [head.x - own.x, head.right - own.right, (head.x + head.right - own.x - own.right) / 2].some(
      (difference) => Math.abs(difference) <= HEAD_POINTS,
    ),
  );
  return filled.length === columns.length - 1 && 2 * aligned.length > columns.length;
}

/** Whether the cells are lines of adjacent prose columns, or words of justified lines. */
function isProse(table: readonly TableRow[]): boolean {
  const isLong = (table[0]?.cells ?? []).every((_, k) => {
    const own = table.flatMap(({ cells }) => cells[k] ?? []);
    return own.reduce((sum, { words }) => sum + words.length, 0) > PROSE * own.length;
  });
  return isLong || isJustified(table);
}

/** Whether rows are lines of a justified paragraph that happen to have wide spaces below each other. */
function isJustified(table: readonly TableRow[]): boolean {
  const rows = table.map(({ cells }) => cells.flat()).filter((lines) => lines.length > 1);
  const right = Math.max(...rows.flat().map((line) => line.right));
  const words = rows.map((lines) => lines.map((line) => line.words).join(' '));
  // Equal words also end at one place in a table.
  const lengths = new Set(words.map(({ length }) => length));
  const full = rows.filter((lines) => lines.some((line) => right - line.right <= EDGE_POINTS));
  const small = rows.filter((lines) => lines.slice(1).every((line) => /^\p{Ll}/u.test(line.words)));
  const count = words.reduce((sum, row) => sum + (row.match(/\p{L}{2,}/gu)?.length ?? 0), 0);
  return (
    2 * lengths.size > rows.length &&
    full.length >= JUSTIFIED * rows.length &&
    small.length >= SMALL * rows.length &&
    count >= LINE_WORDS * rows.length
  );
}

/** Returns the table at a row that was split at column gaps. */
function dividedAt(rows: readonly Line[][], from: number): TableRow[] | undefined {
  const region = dividedRegion(rows, from);
  if (!region) return undefined;
  const table = rowsIn(region);
  const isWritten = isWrittenByCells(region.bands);
  // If cells are known from the writing order, the number of their lines does not matter.
  const share = isWritten ? shareOfRows(table) : shareOfLines(region);
  const isTable =
    table.length >= (isWritten ? ROWS_MIN - 1 : ROWS_MIN) && (region.columns.length > 2 || share >= WITH_BOTH);
  return !isTable || isProse(table) || isListed(region) ? undefined : table;
}

/** Returns the share of rows that have several cells. */
function shareOfRows(table: readonly TableRow[]): number {
  return table.filter(({ cells }) => cells.filter(({ length }) => length > 0).length > 1).length / table.length;
}

/**
 * Returns the aligned table around rows that were split at column gaps if it includes all of these rows and has no
 * fewer columns.
 */
function wholeRegionAt(rows: readonly Line[][], from: number): TableRow[] | undefined {
  const divided = dividedFrom(rows, from);
  const { table: other } = rows[divided]?.[0]?.column ?? {};
  if (!other) return undefined;
  const table = regionAt(rows, from);
  const end = from + countOf(table ?? []);
  if (!table || end <= divided || rows[end]?.[0]?.column?.table === other) return undefined;
  const indices = rows.slice(divided, end).flatMap((row) => row.flatMap(({ column }) => column?.index ?? []));
  const most = Math.max(...indices) + 1;
  const columns = table[0]?.cells.map((_, k) => table.filter(({ cells }) => (cells[k]?.length ?? 0) > 0).length) ?? [];
  const isDense = columns.every((filled) => 2 * filled >= table.length);
  return (columns.length > most && isDense) || (columns.length === most && divided > from) ? table : undefined;
}

function regionAt(rows: readonly Line[][], from: number): TableRow[] | undefined {
  const region = widestRegion(rows, from);
  const several = region.bands.filter((band) => columnsIn(region, band) > 1).length;
  const isSure = region.columns.length > 2 && isWrittenByCells(region.bands);
  const least = isSure ? ROWS_MIN - 1 : ROWS_MIN;
  const isDense =
    region.columns.length > 2 ? several >= WITH_CELLS * region.bands.length : shareOfLines(region) >= WITH_BOTH;
  if (several < least || !isDense || !isAligned(region)) return undefined;
  const table = rowsIn(region);
  return table.length >= least && !isProse(table) && !isListed(region) ? table : undefined;
}

/** Whether a region is a list with its marks in the first column, or a table of contents. */
function isListed({ columns, columnOf, bands }: Region): boolean {
  const lines = bands.flat(2);
  return (
    lines.filter((line) => columnOf.get(line) === columns[0]).every(({ words }) => isMark(words)) ||
    lines.some(({ words }) => LEADER.test(words))
  );
}
