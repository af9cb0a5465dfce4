import type { PlacedText } from './placed-texts.ts';

/** What is needed of a line; lines are in the order in which the PDF writes them. */
interface WrittenLine {
  x: number;
  right: number;
  y: number;
  size: number;
  parts: readonly PlacedText[];
}

/** Lines of one cell are not farther from each other than this, in sizes. */
const LEADING = 1.65;
/** The lines of a cell begin at one place, within this many sizes. */
const SAME_PLACE = 0.2;
/** Cells of one line have wider gaps between them, in sizes. */
export const CELL_GAP = 0.45;
/** The cell that follows reaches this far above the one before it at most, in sizes. */
const HIGHER = 20;

/**
 * The numbers of lines that go on from the one before them in a cell of several lines. A PDF writes the cells of a row one
 * after the other: behind the last line of one it goes on at the right of it and higher, or it has gone up to its first line.
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
  // Some programs write the cells of one line first.
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

/** Whether a line begins below the one before it: in a cell that is justified the words of a line may be as far from each other as cells. */
function isBelow(lines: readonly WrittenLine[], at: number): boolean {
  const [before, line] = [lines[at - 1], lines[at]];
  if (!before || !line || Math.abs(line.x - before.x) > SAME_PLACE * line.size) return false;
  const gap = before.y - line.y;
  return gap >= 0.3 * line.size && gap <= LEADING * line.size;
}

/** Whether a line stands below the last cell of the one before it, at the same place. */
function goesOn(lines: readonly WrittenLine[], at: number): boolean {
  const [earlier, before, line] = [lines[at - 2], lines[at - 1], lines[at]];
  if (!before || !line) return false;
  const gap = before.y - line.y;
  if (gap < 0.3 * line.size || gap > LEADING * line.size) return false;
  const [cell] = piecesOf(line);
  const [last, beside = earlier && Math.abs(earlier.y - before.y) < 0.3 * line.size ? earlier : undefined] =
    piecesOf(before).reverse();
  if (!cell || !last || cell.x >= last.right || last.x >= cell.right) return false;
  // What stands below several cells is in none of them.
  if (beside && beside.x < last.x && cell.x < beside.right) return false;
  const differences = [cell.x - last.x, cell.right - last.right, (cell.x + cell.right - last.x - last.right) / 2];
  return differences.some((difference) => Math.abs(difference) < line.size);
}

/** From where to where the cells of a line reach that are as near to each other as words. */
function piecesOf({ parts, size }: WrittenLine): { x: number; right: number }[] {
  const pieces: { x: number; right: number }[] = [];
  for (const { x, width } of parts) {
    const last = pieces.at(-1);
    if (last && x - last.right < CELL_GAP * size) last.right = Math.max(last.right, x + width);
    else pieces.push({ x, right: x + width });
  }
  return pieces;
}
