import type { Line } from './lines.ts';

/** A line above a table, and the columns that it is the head of. */
export interface HeadLine {
  line: Line;
  from: number;
  to: number;
}

interface Range {
  x: number;
  right: number;
}

/** Heads of more rows, and of more columns above each other, are not told apart. */
const ROWS_MAX = 3;
const COLUMNS_MAX = 14;

/**
 * The rows of a head by the order in which its cells are written, though they are as near to each other as lines: behind the
 * last cell of a row a program goes back to the left. What stands above several columns is in the first of them. Undefined
 * where the lines are not written cell by cell, or are one row.
 */
export function writtenHeadRows(lines: readonly HeadLine[], columns: readonly Range[]): HeadLine[][] | undefined {
  const sorted = [...lines].sort((a, b) => a.line.order - b.line.order || a.line.x - b.line.x);
  const pairs = sorted.slice(1).map((next, i) => ({ before: (sorted[i] as HeadLine).line, line: next.line }));
  // Lines that are written one below the other never go up.
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

/** The cells of a row above others, each above the columns whose middle is nearest to its own. */
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

/** The lines of a row by the cells that they are written in. */
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
