import type { PlacedText } from './placed-texts.ts';

/** The fields needed of a line; lines are in the order in which the PDF writes them. */
interface WrittenLine {
  x: number;
  right: number;
  y: number;
  size: number;
  parts: readonly PlacedText[];
}

/** The largest distance between lines of one cell, in font sizes. */
const LEADING = 1.65;
/** The tolerance for the common start of lines in a cell, in font sizes. */
const SAME_PLACE = 0.2;
/** The smallest gap between cells of one line, in font sizes. */
export const CELL_GAP = 0.45;
/** The largest height of the next cell's top above the previous cell, in font sizes. */
const HIGHER = 20;

/**
 * Returns the indexes of lines that continue the previous line of a multi-line cell. A PDF writes the cells of a row
 * one after the other. Either the text after the last line of a cell is to the right and higher, or the text before its
 * first line was to the left and lower.
 */
export function continuedCells(lines: readonly WrittenLine[]): Set<number> {
  const inCells = new Set<number>();
  for (let first = 0; first + 1 < lines.length; ) {
    let last = first;
    while (last + 1 < lines.length && (goesOn(lines, last + 1) || isBelow(lines, last + 1))) last += 1;
    if (last > first && isCell(lines, first, last)) for (let i = first + 1; i <= last; i += 1) inCells.add(i);
    first = last + 1;
  }
  return inCells;
}

function isCell(lines: readonly WrittenLine[], first: number, last: number): boolean {
  const [before, top, end, next] = [lines[first - 1], lines[first], lines[last], lines[last + 1]];
  if (!top || !end) return false;
  const { size } = top;
  const isUp = (line: WrittenLine, to: WrittenLine) => to.y > line.y + 0.3 * size && to.y < line.y + HIGHER * size;
  if (next && next.x > end.x + size && isUp(end, next) && next.y < top.y + HIGHER * size) return true;
  // Some programs write single-line cells first.
  if (before && before.x > top.right + CELL_GAP * size && Math.abs(before.y - top.y) < 0.3 * size) return true;
  const [{ x } = top] = piecesOf(top).slice(-1);
  if (piecesOf(top).length > 1 && goesOn(lines, first + 1)) return true;
  return (
    before !== undefined &&
    before.right <= x + size &&
    before.y <= top.y + 0.5 * size &&
    before.y > end.y - HIGHER * size
  );
}

/**
 * Whether a line starts below the start of the previous line. In a justified cell, words of a line may be as far apart
 * as cells.
 */
function isBelow(lines: readonly WrittenLine[], at: number): boolean {
  const [before, line] = [lines[at - 1], lines[at]];
  if (!before || !line || Math.abs(line.x - before.x) > SAME_PLACE * line.size) return false;
  const gap = before.y - line.y;
  return gap >= 0.3 * line.size && gap <= LEADING * line.size;
}

/** Whether a line is below the last cell of the previous line, at the same place. */
function goesOn(lines: readonly WrittenLine[], at: number): boolean {
  const [earlier, before, line] = [lines[at - 2], lines[at - 1], lines[at]];
  if (!before || !line) return false;
  const gap = before.y - line.y;
  if (gap < 0.3 * line.size || gap > LEADING * line.size) return false;
  const [cell] = piecesOf(line);
  const [last, beside = earlier && Math.abs(earlier.y - before.y) < 0.3 * line.size ? earlier : undefined] =
    piecesOf(before).reverse();
  if (!cell || !last || cell.x >= last.right || last.x >= cell.right) return false;
  // A line below several cells continues none of them.
  if (beside && beside.x < last.x && cell.x < beside.right) return false;
  const differences = [cell.x - last.x, cell.right - last.right, (cell.x + cell.right - last.x - last.right) / 2];
  return differences.some((difference) => Math.abs(difference) < line.size);
}

/** Returns the extents of the pieces of a line; a piece ends at a gap wide enough to separate cells. */
function piecesOf({ parts, size }: WrittenLine): { x: number; right: number }[] {
  const pieces: { x: number; right: number }[] = [];
  for (const { x, width } of parts) {
    const last = pieces.at(-1);
    if (last && x - last.right < CELL_GAP * size) last.right = Math.max(last.right, x + width);
    else pieces.push({ x, right: x + width });
  }
  return pieces;
}
