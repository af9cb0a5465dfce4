import { rowsDown } from './columns.ts';
import { type Hyphenated, joinRuns } from './join-runs.ts';
import { around } from './page/frames.ts';
import { boxOf, type Line, type Run } from './page/lines.ts';
import type { TaggedElement } from './page/tags.ts';
import type { PdfBlock, Place } from './pdf-block.ts';
import { addTaggedCode, segmentsOf } from './tagged-code.ts';

/** A block may continue elsewhere if its last line ends within this share of the width from the edge. */
const NEAR_EDGE = 0.12;

/**
 * Returns the blocks of a page in the order of its structure tree. `isStructured`: whether the document tags headings;
 * if not, headings are found by size.
 */
export function taggedBlocks(
  elements: readonly TaggedElement[],
  lines: readonly Line[],
  page: number,
  { hyphenated, isStructured }: { hyphenated: Hyphenated; isStructured: boolean },
): PdfBlock[] {
  const byElement = new Map<TaggedElement, Line[]>();
  for (const line of lines) {
    if (!line.element) continue;
    const own = byElement.get(line.element) ?? [];
    byElement.set(line.element, own);
    own.push(line);
  }
  const box = boxOf(lines);
  const edge = box.right - NEAR_EDGE * (box.right - box.x);
  const blocks: PdfBlock[] = [];
  const tables = new Map<number, TableCell[]>();
  for (const element of elements) {
    const own = byElement.get(element) ?? [];
    const [first] = own;
    if (!first) continue;
    if (element.kind === 'cell') {
      const place = { page, ...boxOf(own) };
      const runs = joined(own, hyphenated);
      const cells = tables.get(element.table) ?? [];
      if (cells.length === 0) blocks.push(tableBlock(element.table, tables, cells, first.size, place));
      cells.push({ element, runs, place, lines: rowsDown(own).length });
      continue;
    }
    const isFull = (own.at(-1)?.right ?? 0) > edge;
    const level = element.level > 0 || isStructured ? { level: element.level } : {};
    const segments =
      element.kind === 'heading' ? [{ lines: own, isCode: false }] : segmentsOf(own, element.kind === 'item');
    for (const [i, { lines: part, isCode }] of segments.entries()) {
      if (isCode) {
        addTaggedCode(blocks, part, page);
        continue;
      }
      const kind = element.kind === 'item' && i === 0 ? 'item' : 'text';
      const item = kind === 'item' ? { depth: element.depth, isMarked: element.isMarked, isRest: element.isRest } : {};
      const text = { runs: joined(part, hyphenated), rows: [], size: part[0]?.size ?? first.size };
      blocks.push({ kind, ...text, isFull, places: [{ page, ...boxOf(part) }], ...level, ...item });
    }
  }
  for (const block of blocks) {
    const cells = block.table === undefined ? undefined : tables.get(block.table);
    if (!cells) continue;
    const rows = rowsOfCells(cells);
    block.rows = rows.map((row) => row.map((cell) => cell?.runs ?? []));
    block.cell_lines = rows.map((row) => row.map((cell) => cell?.lines ?? 0));
    block.head_rows = headRows(cells);
    block.row_places = placesOfRows(cells);
    block.places = [placeAround(block.row_places)];
  }
  return blocks;
}

interface TableCell {
  element: TaggedElement;
  runs: Run[];
  place: Place;
  lines: number;
}

function tableBlock(
  table: number,
  tables: Map<number, TableCell[]>,
  cells: TableCell[],
  size: number,
  place: Place,
): PdfBlock {
  tables.set(table, cells);
  return { kind: 'table', runs: [], rows: [], size, isFull: false, places: [place], table };
}

/** Returns the number of rows before the first row with a data cell. */
function headRows(cells: readonly TableCell[]): number {
  const rows = [...new Set(cells.map(({ element }) => element.row))];
  const data = cells.find(({ element }) => !element.isHeader)?.element.row;
  return data === undefined ? rows.length : rows.indexOf(data);
}

function placesOfRows(cells: readonly TableCell[]): Place[] {
  const rows = new Map<number, Place[]>();
  for (const { element, place } of cells) rows.set(element.row, [...(rows.get(element.row) ?? []), place]);
  return [...rows.values()].map(placeAround);
}

/** Returns the bounding rectangle of places on one page. */
function placeAround(places: readonly Place[]): Place {
  return { page: places[0]?.page ?? 0, ...around(places) };
}

function joined(lines: readonly Line[], hyphenated: Hyphenated): Run[] {
  const runs: Run[] = [];
  for (const line of lines) {
    if (runs.length === 0) runs.push(...line.runs.map((run) => ({ ...run })));
    else joinRuns(runs, line.runs, hyphenated);
  }
  return runs;
}

/** Builds rows of equal length: a spanning cell is in its first row and column, and its other positions are empty. */
function rowsOfCells(cells: readonly TableCell[]): (TableCell | undefined)[][] {
  const rows = new Map<number, TableCell[]>();
  for (const cell of cells) rows.set(cell.element.row, [...(rows.get(cell.element.row) ?? []), cell]);
  const all = [...rows.values()];
  const widest = all.reduce((most, row) => (row.length > most.length ? row : most), []);
  return all.map((row) => (row.length === widest.length ? row : alignedRow(row, widest, all)));
}

/** Aligns the cells of a row with the columns of the widest row. */
function alignedRow(
  row: readonly TableCell[],
  widest: readonly TableCell[],
  all: readonly TableCell[][],
): (TableCell | undefined)[] {
  const aligned: (TableCell | undefined)[] = widest.map(() => undefined);
  // A column extends over all of its cells in complete rows.
  const columns = widest.map((_, k) => {
    const places = all.flatMap((each) => (each.length === widest.length && each[k] ? [each[k].place] : []));
    return { x: Math.min(...places.map(({ x }) => x)), right: Math.max(...places.map(({ right }) => right)) };
  });
  let from = 0;
  for (const [i, cell] of row.entries()) {
    const { place } = cell;
    // Leave columns for the remaining cells.
    const to = widest.length - (row.length - i);
    let column = columns.findIndex(({ x, right }, k) => k >= from && k <= to && place.x < right && x < place.right);
    if (column < 0) column = Math.min(from, to);
    aligned[column] = cell;
    from = column + 1;
  }
  return aligned;
}
