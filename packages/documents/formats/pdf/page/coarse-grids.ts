import type { Grid, GridCell } from './grids.ts';
import type { Line } from './lines.ts';
import { isNumber } from './table-rows.ts';

/**
 * A grid is coarse if more than this share of its numbers, and at least the minimum, share a cell with other numbers.
 */
const SHARED = 0.5;
const NUMBERS_MIN = 4;

/** The largest difference in height of lines in one row, in font sizes. */
const SAME_HEIGHT = 0.4;

/**
 * Finds grids whose ruled lines do not separate all rows or columns, for example with a rule after every five rows.
 * Most numbers of such a grid share their cell with another number in the same row, or in another row that other cells
 * have too. Alignment is a better guide to its cells than the rules.
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

/** Whether another cell of the grid row has a line at the same height. */
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
