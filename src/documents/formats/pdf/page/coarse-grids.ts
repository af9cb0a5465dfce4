import type { Grid, GridCell } from './grids.ts';
import type { Line } from './lines.ts';
import { isNumber } from './table-rows.ts';

/** A grid is coarse if more than this share of its numbers are in a cell with others, and no fewer than the minimum. */
const SHARED = 0.5;
const NUMBERS_MIN = 4;

/** Lines that are nearer to each other than this, in sizes, are at one height. */
const SAME_HEIGHT = 0.4;

/**
 * The grids whose ruled lines do not separate all rows or columns, as rules after every five rows: most numbers are in a cell with
 * other numbers, beside them or in rows that other cells have, too. Alignment tells more about such a table than its lines.
 */
export function coarseGrids(lines: readonly Line[]): Set<Grid> {
  const coarse = new Set<Grid>();
  for (const [grid, own] of Map.groupBy(lines, ({ cell }) => cell?.grid)) {
    if (!grid) continue;
    const byCell = Map.groupBy(own, ({ cell }) => cell as GridCell);
    const byRow = Map.groupBy(byCell.keys(), ({ row }) => row);
    const numbers = own.filter(isNumber);
    const shared = numbers.filter((line) => {
      const cell = line.cell as GridCell;
      const others = (byCell.get(cell) ?? []).filter((other) => other !== line && isNumber(other));
      const hasBeside = (height: number) =>
        byRow.get(cell.row)?.some((each) => each !== cell && byCell.get(each)?.some((other) => isAt(other, height)));
      return others.some((other) => isAt(other, line.y) || (hasBeside(line.y) && hasBeside(other.y)));
    });
    if (shared.length >= NUMBERS_MIN && shared.length > SHARED * numbers.length) coarse.add(grid);
  }
  return coarse;
}

function isAt({ y, size }: Line, height: number): boolean {
  return Math.abs(y - height) <= SAME_HEIGHT * size;
}
