import { type Band, type Column, columnsIn, gapBetween, isWrittenByCells, type Region } from './bands.ts';
import type { Line } from './lines.ts';

/** A row of a table: the lines of each of its cells, and how many rows of lines it takes. */
export interface TableRow {
  cells: Line[][];
  count: number;
}

/** Lines that are nearer to each other than this, in sizes, are at one height. */
const SAME_HEIGHT = 0.4;
/** Rows are farther from each other than the lines in them by this factor, if they are at all. */
const LOOSE = 1.15;

/**
 * The bands of a table as its rows. Where the distances between rows are larger than those within them, these divide them;
 * else a row begins with its first cell.
 */
export function rowsIn(region: Region): TableRow[] {
  const { columns, columnOf, bands } = region;
  const gaps = bands.map((band, i) => (i === 0 ? Number.NaN : gapBetween(bands[i - 1]?.at(-1), band[0])));
  const leading = Math.min(...gaps.slice(1));
  const isLoose = (i: number) => (gaps[i] ?? 0) > LOOSE * leading;
  const hasFirst = (band: Band) => band.flat().some((line) => columnOf.get(line) === columns[0]);
  const loose = bands.filter((_, i) => isLoose(i)).length;
  // What has all cells, or several with a number, is a row, and never the rest of one: rows may stand in groups.
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
  // Words of the first cell go on below it.
  const goesOn = (band: Band) => columnsIn(region, band) === 1 && /^\p{Ll}/u.test(band[0]?.[0]?.words ?? '');
  // So do those of a cell that has none beside it, if rows are farther from each other than lines.
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

/** How far the lines of a cell are from each other. */
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
 * The rows that a row of cells is, from top to bottom: numbers below each other are no lines of one text. It is divided if a cell has
 * only numbers, all lines are at their heights, and another cell has a line at each of them.
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

/** From top to bottom. */
function heightsOf(lines: readonly Line[]): number[] {
  const heights: number[] = [];
  for (const line of [...lines].sort((a, b) => b.y - a.y))
    if (!isAt(line, heights.at(-1) ?? Number.POSITIVE_INFINITY)) heights.push(line.y);
  return heights;
}

function isAt({ y, size }: Line, height: number): boolean {
  return Math.abs(y - height) <= SAME_HEIGHT * size;
}
