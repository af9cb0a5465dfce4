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
    const hasBeside = new Set(numbers.filter((line) => isBesideOthers(line, byCell, byRow)));
    const shared = numbers.filter((line) => {
      const others = (byCell.get(line.cell as GridCell) ?? []).filter((other) => other !== line && isNumber(other));
      return others.some((other) => isAt(other, line.y) || (hasBeside.has(line) && hasBeside.has(other)));
    });
    if (shared.length >= NUMBERS_MIN && shared.length > SHARED * numbers.length) coarse.add(grid);
  }
  return coarse;
}

/** Whether another cell of the same row has a line at the height of this one. */
function isBesideOthers(
  { cell, y }: Line,
  byCell: ReadonlyMap<GridCell, readonly Line[]>,
  byRow: ReadonlyMap<number, readonly GridCell[]>,
): boolean {
  const row = byRow.get((cell as GridCell).row) ?? [];
  return row.some((each) => each !== cell && byCell.get(each)?.some((other) => isAt(other, y)));
}

function isAt({ y, size }: Line, height: number): boolean {
  return Math.abs(y - height) <= SAME_HEIGHT * size;
}
