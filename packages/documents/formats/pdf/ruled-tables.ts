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

/** To find the lines of a page its pictures are decoded; this is the limit for a document, in pixels. */
const PIXELS_MAX = 50 * 2 ** 20;

/** Fewer cells with text are a frame. */
const CELLS_MIN = 4;

/** Of the cells of a table that only its lines show this share has text, and this share of the texts is in one cell each. */
const FILLED = 0.4;
const WITHIN = 0.95;

/** Whether a page has a table that its lines show, or may have one that is not found by the places of its texts alone. */
export function mayHaveRuledTable(page: PdfPage, drawn: DrawnTables): boolean {
  return drawn(page).length > 0 || mayHaveOtherTable(page);
}

function mayHaveOtherTable({ tabular, lines }: PdfPage): boolean {
  if (!mayBeTable(tabular, false)) return false;
  return inReadingOrder(lines).some((column) => {
    // Lines know better than alignment which cells there are near each other.
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

/** The tables that a page draws by its own program, and not by what that includes; a page is looked at once. */
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

/** Whether lines are those of a table and not of a drawing: most cells have text, and texts do not cross the lines. */
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
 * The pages with what stands in tables with ruled lines divided into their cells: only then cells that are near each other,
 * or of several lines, are told from words. The library is asked for the lines of a page only if that may have a table and draws none itself.
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
    // The text of a page is kept where its drawing is damaged.
    return [];
  }
}

/** A rule in the frame in which text of this angle runs from left to right. */
function turned({ isHorizontal, at, from, to }: Rule, angle: number): Rule {
  if (angle === 0) return { isHorizontal, at, from, to };
  const box = isHorizontal ? { x: from, right: to, bottom: at, top: at } : { x: at, right: at, bottom: from, top: to };
  const { x, right, bottom, top } = turnBox(box, angle);
  return right - x > top - bottom
    ? { isHorizontal: true, at: bottom, from: x, to: right }
    : { isHorizontal: false, at: x, from: bottom, to: top };
}

/** Texts and the cells in which they begin and end; words of several cells that are one text are divided. */
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

/** The lines of a page whose texts know their cells, except in what has too few cells, is one row or column, or is coarse. */
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

/** The words of a text; where they stand is known by their share of the characters. */
function wordsOfText(whole: PlacedText): PlacedText[] {
  const step = whole.width / whole.text.length;
  return [...whole.text.matchAll(/\S+/g)].map(({ 0: text, index }) => ({
    ...whole,
    text,
    x: whole.x + index * step,
    width: text.length * step,
  }));
}

/** A line that stands for a table among the other lines of its page. */
export interface TableLine extends Line {
  table: PdfBlock;
}

/** The lines of a page with one for each table instead of those in its cells. */
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

/** The lines of a column, divided where tables are. */
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

/** Rows of equal length: a cell of several rows or columns is in the first of them. Those without text are left out. */
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
