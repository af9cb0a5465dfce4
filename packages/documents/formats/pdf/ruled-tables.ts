import { AnnotationMode, type PDFDocumentProxy } from 'unpdf/pdfjs';
import { runsOfCell } from './aligned-tables.ts';
import { blocksOfColumn } from './blocks.ts';
import { inReadingOrder } from './columns.ts';
import type { Hyphenated } from './join-runs.ts';
import type { DrawnShapes } from './marks/drawn-shapes.ts';
import { rulesOf } from './marks/rules.ts';
import { coarseGrids } from './page/coarse-grids.ts';
import { type Box, turnBox } from './page/frames.ts';
import { cellAt, type Grid, type GridCell, gridsOf, type Rule } from './page/grids.ts';
import { boxOf, type Line, linesOf, type Run } from './page/lines.ts';
import type { PdfPage } from './page/page.ts';
import { mayBeTable } from './page/pieces.ts';
import type { PlacedText } from './page/placed-texts.ts';
import { numberRows } from './page/table-rows.ts';
import type { PdfBlock, Place } from './pdf-block.ts';
import { imagesOfPages } from './pictures/image-pages.ts';

/** Finding the lines of a page decodes its pictures; this limits a document, in pixels. */
const PIXELS_MAX = 50 * 2 ** 20;

/** A ruled region with fewer filled cells is a frame. */
const CELLS_MIN = 4;

/**
 * For tables found by lines alone: the share of cells that must have text, and the share of the text that must be
 * within one cell.
 */
const FILLED = 0.4;
const WITHIN = 0.95;

/** Whether a page draws a ruled table, or has text that may be a table but is not recognized by alignment alone. */
export function mayHaveRuledTable(page: PdfPage, drawn: DrawnTables): boolean {
  return drawn(page).length > 0 || mayHaveOtherTable(page);
}

function mayHaveOtherTable({ tabular, lines }: PdfPage): boolean {
  if (!mayBeTable(tabular, false)) return false;
  return inReadingOrder(lines).some((column) => {
    // Ruled lines separate close cells more reliably than alignment, so alignment must not split them here.
    const blocks = blocksOfColumn(column, 0, new Set(), [], false);
    const tables = blocks.flatMap(({ kind, places }) => (kind === 'table' ? places : []));
    const box = boxOf(column);
    const isIn = ({ x, y }: { x: number; y: number }, { x: left, right, bottom, top }: Box) =>
      x >= left - 1 && x < right && y >= bottom - 1 && y < top;
    const own = tabular.filter((text) => isIn(text, box));
    const { found = [], others = [] } = Object.groupBy(own, (text) =>
      tables.some((table) => isIn(text, table)) ? 'found' : 'others',
    );
    return mayBeTable(found, true) || mayBeTable(others, false);
  });
}

/** Finds the tables that a page's own content stream draws, without its form XObjects; cached by page. */
export type DrawnTables = (page: PdfPage) => Grid[];

export function drawnTables(shapesOf: (page: PdfPage) => DrawnShapes): DrawnTables {
  const known = new Map<PdfPage, Grid[]>();
  const find = (page: PdfPage) => {
    if (page.tabular.length === 0) return [];
    const { rules } = shapesOf(page);
    return gridsOf(rules.map((rule) => turned(rule, page.angle))).filter((grid) => isTable(grid, page.tabular));
  };
  return (page) => {
    const grids = known.get(page) ?? find(page);
    known.set(page, grids);
    return grids;
  };
}

/** Whether lines form a table rather than a drawing: most cells have text, and little text crosses the lines. */
function isTable(grid: Grid, texts: readonly PlacedText[]): boolean {
  const filled = new Set<GridCell>();
  let [words, within] = [0, 0];
  for (const { text, cell, end } of inCells(texts, [grid])) {
    if (!cell && !end) continue;
    words += text.text.length;
    if (cell && cell === end) {
      within += text.text.length;
      filled.add(cell);
    }
  }
  return filled.size >= FILLED * new Set(grid.cells.flat()).size && within >= WITHIN * words;
}

/**
 * Splits texts in ruled tables into their cells; only lines can separate cells that are as close as words, or that have
 * several lines. Asks PDF.js for the lines of a page only if the page may have a table and its own content stream draws
 * none.
 */
export async function withRuledTables(
  document: PDFDocumentProxy,
  bytes: Uint8Array,
  pages: readonly PdfPage[],
  drawn: DrawnTables,
): Promise<PdfPage[]> {
  const images = imagesOfPages(
    bytes,
    pages.map(({ object }) => object),
  );
  let pixels = 0;
  const ruled: PdfPage[] = [];
  for (const [i, page] of pages.entries()) {
    ruled.push(page);
    let grids = drawn(page);
    if (grids.length === 0 && mayHaveOtherTable(page)) {
      pixels += (images?.[i] ?? []).reduce((sum, { width, height }) => sum + width * height, 0);
      if (pixels > PIXELS_MAX) continue;
      const rules = await rulesOfPage(document, i + 1);
      grids = gridsOf(rules.map((rule) => turned(rule, page.angle)));
    }
    if (grids.length > 0) ruled[i] = { ...page, lines: dividedLines(page, grids), tabular: [] };
  }
  return ruled;
}

async function rulesOfPage(document: PDFDocumentProxy, number: number): Promise<Rule[]> {
  try {
    const page = await document.getPage(number);
    const { fnArray, argsArray } = await page.getOperatorList({ annotationMode: AnnotationMode.DISABLE });
    page.cleanup();
    return rulesOf(fnArray, argsArray);
  } catch {
    // Keep the text of a page whose drawing is damaged.
    return [];
  }
}

/** Rotates a rule into the frame in which text of this angle runs from left to right. */
function turned({ isHorizontal, at, from, to }: Rule, angle: number): Rule {
  if (angle === 0) return { isHorizontal, at, from, to };
  const box = isHorizontal ? { x: from, right: to, bottom: at, top: at } : { x: at, right: at, bottom: from, top: to };
  const { x, right, bottom, top } = turnBox(box, angle);
  return right - x > top - bottom
    ? { isHorizontal: true, at: bottom, from: x, to: right }
    : { isHorizontal: false, at: x, from: bottom, to: top };
}

/**
 * Returns texts with the cells in which they start, end and are centered; a text that spans several cells is split into
 * words.
 */
function inCells(texts: readonly PlacedText[], grids: readonly Grid[]) {
  const cellOf = ({ x, width, y, size }: PlacedText, share: number) => cellAt(grids, x + share * width, y + size / 3);
  const [start, finish] = [0.05, 0.95];
  return texts.flatMap((each) => {
    const isOne = each.text.length === 1 || cellOf(each, start) === cellOf(each, finish);
    return (isOne ? [each] : wordsOfText(each)).map((text) => ({
      text,
      cell: cellOf(text, start),
      middle: cellOf(text, 0.5),
      end: cellOf(text, finish),
    }));
  });
}

/**
 * Assigns cells to the texts of a page and returns its lines; skips grids with too few cells, a single row or column,
 * or a coarse structure.
 */
function dividedLines({ tabular, lines }: PdfPage, grids: readonly Grid[]): Line[] {
  const placed = inCells(tabular, grids).map(({ text, middle: cell }) => ({ text, cell }));
  const cells = new Set(placed.map(({ cell }) => cell));
  const tables = grids.filter((grid) => {
    const own = [...cells].filter((cell) => cell?.grid === grid);
    const isWide = new Set(own.map((cell) => cell?.column)).size > 1 && new Set(own.map((cell) => cell?.row)).size > 1;
    return isWide && own.length >= CELLS_MIN;
  });
  if (tables.length === 0) return lines;
  const linesIn = (known: readonly Grid[]) =>
    linesOf(placed.map(({ text, cell }) => (cell && known.includes(cell.grid) ? { ...text, cell } : text)));
  const divided = linesIn(tables);
  const coarse = coarseGrids(divided);
  if (coarse.size === 0) return divided;
  const fine = tables.filter((grid) => !coarse.has(grid));
  return fine.length === 0 ? lines : linesIn(fine);
}

/** Splits a text into words; positions are estimated from the share of characters. */
function wordsOfText(whole: PlacedText): PlacedText[] {
  const step = whole.width / whole.text.length;
  return [...whole.text.matchAll(/\S+/g)].map(({ 0: text, index }) => ({
    ...whole,
    text,
    x: whole.x + index * step,
    width: text.length * step,
  }));
}

/** A placeholder for a table among the lines of its page. */
export interface TableLine extends Line {
  table: PdfBlock;
}

/** Replaces the lines in each table by one placeholder line. */
export function withTableLines(lines: readonly Line[], page: number, hyphenated: Hyphenated): (Line | TableLine)[] {
  const inTables = Map.groupBy(lines, ({ cell }) => cell?.grid);
  const tables = [...inTables].flatMap(([grid, own]): TableLine[] => {
    if (!grid) return [];
    const { x, right, top } = boxOf(own);
    const size = own[0]?.size ?? 0;
    const order = Math.min(...own.map((line) => line.order));
    return [
      { runs: [], words: '', x, right, y: top - size, size, order, table: tableBlock(grid, own, page, hyphenated) },
    ];
  });
  return [...(inTables.get(undefined) ?? []), ...tables];
}

/** Splits the lines of a column at its tables. */
export function betweenTables(column: readonly (Line | TableLine)[]): (Line[] | PdfBlock)[] {
  const parts: (Line[] | PdfBlock)[] = [];
  for (const line of column) {
    const last = parts.at(-1);
    if ('table' in line) parts.push(line.table);
    else if (Array.isArray(last)) last.push(line);
    else parts.push([line]);
  }
  return parts;
}

/** Returns a table with rows of equal length: a merged cell is in its first row and column. Omits rows without text. */
function tableBlock(grid: Grid, lines: readonly Line[], page: number, hyphenated: Hyphenated): PdfBlock {
  const byCell = Map.groupBy(lines, ({ cell }) => cell);
  const byColumn = Map.groupBy(lines, ({ cell }) => cell?.column ?? 0);
  const rows: Run[][][] = [];
  const row_places: Place[] = [];
  for (const [i, row] of grid.cells.entries()) {
    const own = row.filter((cell, k) => cell.row === i && cell.column === k && byCell.has(cell));
    if (own.length === 0) continue;
    const cells = row.flatMap((cell, k) => {
      if (!byColumn.has(k)) return [];
      return [own.includes(cell) && cell.column === k ? (byCell.get(cell) ?? []) : []];
    });
    for (const each of numberRows(cells)) {
      rows.push(each.map((own) => runsOfCell(own, hyphenated)));
      row_places.push({ page, ...boxOf(each.flat()) });
    }
  }
  const size = lines[0]?.size ?? 0;
  const places = [{ page, ...boxOf(lines) }];
  const columns = [...byColumn].sort((a, b) => a[0] - b[0]).map(([, own]) => boxOf(own));
  return { kind: 'table', runs: [], rows, size, isFull: false, places, row_places, columns };
}
