import { type Band, type Column, columnsIn, gapBetween, isWrittenByCells, type Region } from './bands.ts';
import type { Line } from './lines.ts';

/** A row of a table: the lines of each cell, and the number of bands that it spans. */
export interface TableRow {
  cells: Line[][];
  count: number;
}

/** The largest difference in height of lines in one row, in font sizes. */
const SAME_HEIGHT = 0.4;
/** The factor by which distances between rows exceed distances within rows, if they differ at all. */
const LOOSE = 1.15;

/**
 * Splits a table into rows. If distances between rows are larger than distances within rows, they separate the rows;
 * otherwise a row begins with its first cell.
 */
export function rowsIn(region: Region): TableRow[] {
  const { columns, columnOf, bands } = region;
  const gaps = bands.map((band, i) => (i === 0 ? Number.NaN : gapBetween(bands[i - 1]?.at(-1), band[0])));
  const leading = Math.min(...gaps.slice(1));
  const isLoose = (i: number) => (gaps[i] ?? 0) > LOOSE * leading;
  const hasFirst = (band: Band) => band.flat().some((line) => columnOf.get(line) === columns[0]);
  const loose = bands.filter((_, i) => isLoose(i)).length;
  // A band with all cells, or with several cells and a number, starts a row. If such a band is close to the band above,
  // larger distances only separate groups of rows.
  const isRow = (band: Band) => {
    const count = columnsIn(region, band);
    return count === columns.length || (count > 1 && band.flat().some(isNumber));
  };
  const isWritten = isWrittenByCells(bands);
  const isSpaced = loose > 1 && !bands.some((band, i) => i > 0 && !isLoose(i) && isRow(band));
  const isRest = (band: Band) => {
    const lines = band.flat();
    return columnsIn(region, band) > 1 ? lines.every(({ words }) => /^\p{Ll}/u.test(words)) : !lines.some(isNumber);
  };
  // A lowercase word in a single cell continues the cell above.
  const goesOn = (band: Band) => columnsIn(region, band) === 1 && /^\p{Ll}/u.test(band[0]?.[0]?.words ?? '');
  // A single cell also continues the cell above if it is as close as lines of a cell, and rows are farther apart.
  const within = isWritten ? LOOSE * leadingOfCells(bands) : 0;
  const isNear = (i: number) => (gaps[i] ?? 0) <= within;
  const isClose = bands.some((band, i) => isNear(i) && columnsIn(region, band) > 1);
  const goesOnAlone = (band: Band, i: number) => !isClose && isNear(i) && columnsIn(region, band) === 1;
  const table: TableRow[] = [];
  for (const [i, band] of bands.entries()) {
    const begins = isWritten
      ? !goesOnAlone(band, i)
      : isLoose(i) || (!isSpaced && ((hasFirst(band) && !goesOn(band)) || !isRest(band)));
    if (begins || table.length === 0) table.push({ cells: columns.map(() => []), count: 0 });
    const last = table.at(-1) as TableRow;
    last.count += band.length;
    for (const line of band.flat()) last.cells[columns.indexOf(columnOf.get(line) as Column)]?.push(line);
  }
  return table;
}

/** Whether a cell has digits and no letters. */
export function isNumber({ words }: Line): boolean {
  return /\p{N}/u.test(words) && !/\p{L}/u.test(words);
}

/** Returns the largest distance between lines of a cell. */
function leadingOfCells(bands: readonly Band[]): number {
  const lines = bands.flat(2);
  const byOrder = new Map(lines.map((line) => [line.order, line]));
  const gaps = lines.flatMap(({ above, y }) => {
    const line = above === undefined ? undefined : byOrder.get(above);
    return line ? [line.y - y] : [];
  });
  return Math.max(0, ...gaps);
}

/**
 * Splits a row whose cells contain stacked numbers, which are not lines of one text, from top to bottom. A row is split
 * if a cell has only numbers, all lines are at the heights of the numbers, and another cell has a line at each height.
 */
export function numberRows(cells: readonly (readonly Line[])[]): Line[][][] {
  const whole = [cells.map((lines) => [...lines])];
  const numbers = cells.filter((lines) => lines.length > 1 && lines.every(isNumber));
  if (numbers.length === 0) return whole;
  const heights = heightsOf(numbers.flat());
  const isAtAll = (lines: readonly Line[]) => heights.every((height) => lines.some((line) => isAt(line, height)));
  const isFilled = numbers.some(isAtAll) && cells.filter(isAtAll).length > 1;
  const isWithin = cells.flat().every((line) => heights.some((height) => isAt(line, height)));
  if (heights.length < 2 || !isFilled || !isWithin) return whole;
  return heights.map((height) => cells.map((lines) => lines.filter((line) => isAt(line, height))));
}

/** Returns distinct heights from top to bottom. */
function heightsOf(lines: readonly Line[]): number[] {
  const heights: number[] = [];
  for (const line of [...lines].sort((a, b) => b.y - a.y))
    if (!isAt(line, heights.at(-1) ?? Number.POSITIVE_INFINITY)) heights.push(line.y);
  return heights;
}

function isAt({ y, size }: Line, height: number): boolean {
  return Math.abs(y - height) <= SAME_HEIGHT * size;
}
