import type { Line } from './page/lines.ts';

/**
 * The number of rows from here on that form a table: three or more with the same number of cells at the same positions.
 */
export function tableAt(rows: readonly Line[][], from: number): number {
  const first = rows[from] ?? [];
  if (first.length < 2) return 0;
  let count = 1;
  for (const row of rows.slice(from + 1)) {
    const isAligned = row.length === first.length && row.every((cell, i) => overlaps(cell, first[i]));
    if (!isAligned) break;
    count += 1;
  }
  if (count < 3) return 0;
  const table = rows.slice(from, from + count);
  const lengthOf = (column: number) => table.reduce((sum, row) => sum + (row[column]?.words.length ?? 0), 0);
  // Lines of prose beside each other are not cells.
  return first.every((_, column) => lengthOf(column) > 35 * count) ? 0 : count;
}

/** Whether one cell is above the other. */
export function overlaps(cell: Line, other: Line | undefined): boolean {
  return other !== undefined && cell.x < other.right + cell.size && other.x < cell.right + cell.size;
}
