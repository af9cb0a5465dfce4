import { CELL_GAP } from './cell-lines.ts';
import { type Line, lineOf } from './lines.ts';
import type { PlacedText } from './placed-texts.ts';

/** The largest distance between rows of a table, in font sizes. */
const APART = 3.5;
/** The largest distance at which the last line of a table may continue the cell above it, in font sizes. */
const REST = 1.4;
/** Lines at a smaller distance, in font sizes, belong to one row, whose cells have different heights. */
const BESIDE = 0.8;

/** The share of cells in a column that start, end or are centered at one place, within this many points. */
const ALIGNED = 0.6;
const ALIGNED_POINTS = 2.5;

export interface Column {
  x: number;
  right: number;
}

/**
 * A possible row of a table: rows of lines that are closer than lines of a text, because its cells have different
 * heights.
 */
export type Band = readonly (readonly Line[])[];

/** A possible table: consecutive bands whose lines fit into common columns. A band may leave columns empty. */
export interface Region {
  columns: Column[];
  columnOf: ReadonlyMap<Line, Column>;
  bands: readonly Band[];
}

/** Limits of a table, so that the time for a page stays linear in its length. A longer table is split. */
const BANDS_MAX = 120;
const BAND_ROWS_MAX = 12;
/** The limit of rows if the PDF writes the lines of each cell consecutively. */
const WRITTEN_ROWS_MAX = 40;

export function columnsIn({ columnOf }: { columnOf: ReadonlyMap<Line, Column> }, band: Band): number {
  return new Set(band.flatMap((row) => row.map((line) => columnOf.get(line)))).size;
}

/** Returns the share of a region's lines that have several cells. */
export function shareOfLines(region: Region): number {
  const rows = region.bands.flat();
  return rows.filter((row) => columnsIn(region, [row]) > 1).length / rows.length;
}

/**
 * Returns the rows of the band that starts at `from`: rows that continue a cell of the band, and rows close to the row
 * above. With `isWritten`, the band ends at the last row that continues a cell.
 */
export function bandAt<Row extends readonly Line[]>(rows: readonly Row[], from: number, isWritten = false): Row[] {
  const orders = new Set(rows[from]?.map(({ order }) => order));
  let to = from + 1;
  let end = to;
  for (const last = Math.min(rows.length, from + WRITTEN_ROWS_MAX); to < last; to += 1) {
    const row = rows[to] as Row;
    const isNear = gapBetween(rows[to - 1], row) < BESIDE * (row[0]?.size ?? 0);
    const goesOn = row.some(({ above }) => above !== undefined && orders.has(above));
    if (!goesOn && (!isNear || to - end >= BAND_ROWS_MAX || (!isWritten && to - from >= BAND_ROWS_MAX))) break;
    if (goesOn || !isWritten) end = to + 1;
    for (const { order } of row) orders.add(order);
  }
  return rows.slice(from, end);
}

/**
 * Whether the PDF writes multi-line cells one after the other, which shows where rows begin: after the last line of a
 * cell, the next text is higher up.
 */
export function isWrittenByCells(bands: readonly Band[]): boolean {
  return bands.some((band) => {
    const lines = band.flat();
    return lines.some(
      ({ above, order, y, size }) =>
        above !== undefined &&
        lines.some((other) => other.order === above) &&
        lines.some((other) => other.order > order && other.y > y + 0.3 * size),
    );
  });
}

export function gapBetween(above: readonly Line[] | undefined, below: readonly Line[] | undefined): number {
  return (above?.[0]?.y ?? 0) - (below?.[0]?.y ?? 0);
}

/**
 * Collects bands from `from` on as long as they fit into the columns of the bands before. The last band has several
 * cells or continues one.
 */
export function widestRegion(rows: readonly Line[][], from: number): Region {
  const columns: Column[] = [];
  const columnOf = new Map<Line, Column>();
  const bands: Band[] = [];
  let complete = 0;
  for (let at = from; at < rows.length && bands.length < BANDS_MAX; at += bands.at(-1)?.length ?? 1) {
    const [[line] = []] = [rows[at]];
    const gap = at === from ? 0 : gapBetween(rows[at - 1], rows[at]);
    const band = line && gap <= APART * line.size ? placeBand(columns, columnOf, bandAt(rows, at)) : undefined;
    if (!line || !band) break;
    bands.push(band);
    const count = columnsIn({ columnOf }, band);
    const isFirst = columnOf.get(line) === columns[0];
    const isRest = count === 1 && (!isFirst || /^\p{Ll}/u.test(line.words)) && gap < REST * line.size;
    if (count > 1 || isRest) complete = bands.length;
  }
  const kept = bands.slice(0, complete);
  const used = new Set(kept.flat(2).map((line) => columnOf.get(line)));
  return { columns: columns.filter((column) => used.has(column)), columnOf, bands: kept };
}

/**
 * Returns the region at `from` whose lines already know their columns, with the lines that continue its last cells;
 * undefined without such a region.
 */
export function dividedRegion(rows: readonly (readonly Line[])[], from: number): Region | undefined {
  const table = rows[from]?.[0]?.column?.table;
  if (!table) return undefined;
  let to = from;
  while (rows[to]?.[0]?.column?.table === table) to += 1;
  const byIndex = new Map<number, Column>();
  const columnOf = new Map<Line, Column>();
  const place = (line: Line, index: number) => {
    const column = byIndex.get(index) ?? { x: line.x, right: line.right };
    byIndex.set(index, column);
    column.x = Math.min(column.x, line.x);
    column.right = Math.max(column.right, line.right);
    columnOf.set(line, column);
  };
  for (const line of rows.slice(from, to).flat()) place(line, line.column?.index ?? 0);
  const sorted = () => [...byIndex].sort(([a], [b]) => a - b);
  const columnAbove = ({ above, x, right }: Line) => {
    const own = above === undefined ? [] : [...columnOf].filter(([line]) => line.order === above);
    return own.find(([line]) => line.x < right && x < line.right)?.[1];
  };
  for (let more = rows[to]; more?.every((line) => !line.column && columnAbove(line)); more = rows[to]) {
    for (const line of more) {
      const [index] = [...byIndex].find(([, column]) => column === columnAbove(line)) ?? [];
      if (index !== undefined) place(line, index);
    }
    to += 1;
  }
  for (let more = rows[to]; more && gapBetween(rows[to - 1], more) < REST * (more[0]?.size ?? 0); more = rows[to]) {
    const [line] = more;
    const at = sorted().findLastIndex(([, { x }]) => line && line.x > x - ALIGNED_POINTS);
    const [index] = sorted()[at] ?? [];
    const [, next] = sorted()[at + 1] ?? [];
    if (!line || more.length > 1 || line.column || index === undefined) break;
    if (line.right > (next?.x ?? sorted().at(-1)?.[1].right ?? 0) || (at === 0 && !/^\p{Ll}/u.test(line.words))) break;
    place(line, index);
    to += 1;
  }
  const bands: Band[] = [];
  for (let at = from; at < to; at += bands.at(-1)?.length ?? 1) bands.push(bandAt(rows, at).slice(0, to - at));
  return { columns: sorted().map(([, column]) => column), columnOf, bands };
}

/**
 * Places the lines of a band in columns, in place. Returns the band, with lines that span several columns split, if
 * each line fits one free column; otherwise undefined.
 */
function placeBand(columns: Column[], columnOf: Map<Line, Column>, band: Band): Band | undefined {
  const placed: [Line, Column][] = [];
  const added: Column[] = [];
  const columnsAt = (line: Line) => [...columns, ...added].filter(({ x, right }) => line.x < right && x < line.right);
  const divided: Line[][] = [];
  for (const row of band) {
    const used = new Set<Column>();
    divided.push(row.flatMap((line) => (columnsAt(line).length > 1 ? cellsOf(line) : [line])));
    for (const line of divided.at(-1) ?? []) {
      const [column, ...more] = columnsAt(line);
      if (more.length > 0 || (column && used.has(column))) return undefined;
      const own = column ?? { x: line.x, right: line.right };
      if (!column) added.push(own);
      placed.push([line, own]);
      used.add(own);
    }
  }
  // A row with a single cell does not open columns.
  if (added.length > 0 && new Set(placed.map(([, column]) => column)).size < 2) return undefined;
  for (const [line, column] of placed) {
    column.x = Math.min(column.x, line.x);
    column.right = Math.max(column.right, line.right);
    columnOf.set(line, column);
  }
  columns.push(...added);
  columns.sort((a, b) => a.x - b.x);
  return divided;
}

/** Splits a line into cells at gaps that are wider than word spaces. */
function cellsOf(line: Line): Line[] {
  if (!line.parts) return [line];
  const groups: PlacedText[][] = [];
  let right = 0;
  for (const part of line.parts) {
    if (groups.length === 0 || part.x - right > CELL_GAP * line.size) groups.push([part]);
    else groups.at(-1)?.push(part);
    right = part.x + part.width;
  }
  return groups.length < 2 ? [line] : groups.map((parts) => ({ ...line, ...lineOf(parts), code: undefined }));
}

/** Whether most cells of each column start, end or are centered at the same place. */
export function isAligned({ columns, columnOf, bands }: Region): boolean {
  const byColumn = Map.groupBy(bands.flat(2), (line) => columnOf.get(line));
  return columns.every((column) => {
    const lines = byColumn.get(column) ?? [];
    const mostAt = (place: (line: Line) => number) => {
      const places = lines.map(place).sort((a, b) => a - b);
      return Math.max(...places.map((one, i) => places.findLastIndex((each) => each <= one + ALIGNED_POINTS) - i + 1));
    };
    const most = Math.max(
      mostAt(({ x }) => x),
      mostAt(({ right }) => right),
      mostAt(({ x, right }) => (x + right) / 2),
    );
    return most >= ALIGNED * lines.length;
  });
}
