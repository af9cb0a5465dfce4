import type { Line } from './lines.ts';
import { isNumber } from './table-rows.ts';

/** Lines that are nearer to each other than this, in sizes, are at one height. */
const SAME_HEIGHT = 0.4;

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
