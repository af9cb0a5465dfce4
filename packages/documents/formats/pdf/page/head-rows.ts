import type { Line } from './lines.ts';

/** A line above a table, with its range of columns. */
export interface HeadLine {
  line: Line;
  from: number;
  to: number;
}

interface Range {
  x: number;
  right: number;
}

/** Limits of a head that can be analyzed: rows, and columns below each other. */
const ROWS_MAX = 3;
const COLUMNS_MAX = 14;

/**
 * Splits a head into rows by the order in which the PDF writes its cells, even if the rows are as close as lines: after
 * the last cell of a row, the next cell is to the left. A cell above several columns belongs to the first of these
 * columns. Returns undefined if the lines are not written cell by cell or form one row.
 */
export function writtenHeadRows(lines: readonly HeadLine[], columns: readonly Range[]): HeadLine[][] | undefined {
  const sorted = [...lines].sort((a, b) => a.line.order - b.line.order || a.line.x - b.line.x);
  const pairs = sorted.slice(1).map((next, i) => ({ before: (sorted[i] as HeadLine).line, line: next.line }));
  // Lines written from top to bottom never go up.
  if (!pairs.some(({ before, line }) => line.y > before.y + 0.3 * line.size && line.x >= before.x)) return undefined;
  const rows: HeadLine[][] = [sorted.slice(0, 1)];
  for (const [i, { before, line }] of pairs.entries()) {
    const next = sorted[i + 1] as HeadLine;
    if (line.above === undefined && line.right < before.x && line.y < before.y + 0.3 * line.size) rows.push([next]);
    else rows.at(-1)?.push(next);
  }
  const lowest = rows.at(-1) ?? [];
  if (rows.length < 2 || rows.length > ROWS_MAX || lowest.some(({ from, to }) => from !== to)) return undefined;
  const below = [...new Set(lowest.map(({ from }) => from))].sort((a, b) => a - b);
  return rows.map((row, i) => (i === rows.length - 1 ? row : spread(row, below, columns)));
}

/** Assigns each cell of an upper row to consecutive columns, so that the centers of cell and columns are closest. */
function spread(row: readonly HeadLine[], below: readonly number[], columns: readonly Range[]): HeadLine[] {
  const cells = cellsOf(row);
  const isAlone = ({ x, right }: Range) => {
    const alone = columns.findIndex((column, k) => !below.includes(k) && column.x < right && x < column.right);
    return alone >= 0 && !below.some((k) => (columns[k]?.x ?? 0) < right && x < (columns[k]?.right ?? 0));
  };
  const above = cells.filter((cell) => !isAlone(cell)).sort((a, b) => a.x - b.x);
  if (above.length === 0 || above.length > below.length || below.length > COLUMNS_MAX) return [...row];
  const middle = ({ x, right }: Range) => (x + right) / 2;
  const best = (cell: number, start: number): { cost: number; starts: number[] } => {
    const own = above[cell];
    if (!own) return { cost: start === below.length ? 0 : Number.POSITIVE_INFINITY, starts: [] };
    let found = { cost: Number.POSITIVE_INFINITY, starts: [] as number[] };
    for (let end = start; end < below.length - (above.length - cell - 1); end += 1) {
      const [first, last] = [columns[below[start] ?? 0], columns[below[end] ?? 0]];
      const rest = best(cell + 1, end + 1);
      const apart = Math.abs(middle(own) - middle({ x: first?.x ?? 0, right: last?.right ?? 0 }));
      if (apart + rest.cost < found.cost) found = { cost: apart + rest.cost, starts: [start, ...rest.starts] };
    }
    return found;
  };
  const { starts } = best(0, 0);
  const columnOf = new Map(above.flatMap(({ lines }, i) => lines.map((line) => [line, below[starts[i] ?? 0] ?? 0])));
  return row.map((each) => {
    const column = columnOf.get(each);
    return column === undefined ? each : { ...each, from: column, to: column };
  });
}

/** Groups the lines of a row by cell. */
function cellsOf(row: readonly HeadLine[]): (Range & { lines: HeadLine[] })[] {
  const cells: (Range & { lines: HeadLine[] })[] = [];
  for (const each of row) {
    const { x, right } = each.line;
    const last = cells.at(-1);
    if (last && x < last.right && last.x < right) {
      last.lines.push(each);
      [last.x, last.right] = [Math.min(last.x, x), Math.max(last.right, right)];
    } else cells.push({ x, right, lines: [each] });
  }
  return cells;
}
