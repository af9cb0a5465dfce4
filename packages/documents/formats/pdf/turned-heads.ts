import { rowsDown } from './columns.ts';
import { joinRuns } from './join-runs.ts';
import { around, type Box, turnBox } from './page/frames.ts';
import { boxOf, type Line, type Run, trimRuns } from './page/lines.ts';
import type { PdfPage, TurnedLines } from './page/page.ts';
import type { PdfBlock, Place } from './pdf-block.ts';

/** The largest distance of heads above the first row of their table, in font sizes. */
const NEAR = 2.5;

/** A page with more rotated lines is a drawing. */
const LINES_MAX = 500;

/** A rotated line, and its box in the frame of most of the page's text. */
interface TurnedLine {
  line: Line;
  box: Box;
}

/**
 * Adds a row of rotated heads to tables below them, in place. `blocks` from index `from` on are the blocks of the page.
 * Returns the rotated lines that are not heads.
 */
export function takeTurnedHeads(blocks: PdfBlock[], from: number, page: PdfPage): TurnedLines[] {
  if (page.turned.length === 0) return page.turned;
  return page.turned.map((group) => {
    const isUpright = (group.angle - page.angle + 360) % 180 === 90;
    if (!isUpright || group.lines.length > LINES_MAX) return group;
    let left: TurnedLine[] = rowsDown(group.lines)
      .flat()
      .map((line) => ({ line, box: turnBox(turnBox(boxOf([line]), (360 - group.angle) % 360), page.angle) }));
    for (let i = from; i < blocks.length; i += 1) {
      const heads = headsOf(blocks[i] as PdfBlock, left);
      if (!heads) continue;
      left = left.filter((each) => !heads.some((lines) => lines.includes(each)));
      const corner = cornerOf(blocks[i - 1], blocks[i] as PdfBlock, heads);
      addHeads(blocks[i] as PdfBlock, heads, corner);
      if (corner) blocks.splice(--i, 1);
    }
    return { ...group, lines: left.map(({ line }) => line) };
  });
}

/**
 * Returns the rotated lines above each column of a table; undefined if fewer than half of the columns, or only one, has
 * any.
 */
function headsOf(
  { columns = [], row_places, size }: PdfBlock,
  lines: readonly TurnedLine[],
): TurnedLine[][] | undefined {
  const [first] = row_places ?? [];
  if (!first) return undefined;
  const above = lines.filter(({ box }) => box.bottom > first.top - size && box.x < first.right && box.right > first.x);
  const near = above.filter(({ box }) => box.bottom < first.top + NEAR * size);
  const top = Math.max(...near.map(({ box }) => box.top));
  const heads = columns.map((): TurnedLine[] => []);
  for (const each of above) {
    const center = (each.box.x + each.box.right) / 2;
    const distance = ({ x, right }: { x: number; right: number }) => Math.max(x - center, center - right, 0);
    const nearest = Math.min(...columns.map(distance));
    if (each.box.bottom < top && nearest < 1.5 * size) {
      heads[columns.findIndex((column) => distance(column) === nearest)]?.push(each);
    }
  }
  const count = heads.filter(({ length }) => length > 0).length;
  return count < 2 || 2 * count < columns.length ? undefined : heads;
}

/** Returns the upright block that heads the only column without a rotated head, next to the other heads. */
function cornerOf(block: PdfBlock | undefined, table: PdfBlock, heads: readonly TurnedLine[][]): PdfBlock | undefined {
  const place = block?.places[0];
  const column = table.columns?.[heads.findIndex(({ length }) => length === 0)];
  if (!place || !column || heads.filter(({ length }) => length === 0).length > 1) return undefined;
  const top = Math.max(...heads.flat().map(({ box }) => box.top));
  const isBeside = block.kind === 'text' && block.places.length === 1 && place.top <= top + 1;
  return isBeside && place.x < column.right && place.right > column.x ? block : undefined;
}

function addHeads(table: PdfBlock, heads: readonly TurnedLine[][], corner: PdfBlock | undefined): void {
  const row = heads.map((lines): Run[] => {
    if (lines.length === 0) return corner?.runs ?? [];
    const runs: Run[] = [];
    for (const { line } of lines) {
      if (runs.length === 0) runs.push(...line.runs.map((run) => ({ ...run })));
      else joinRuns(runs, line.runs, new Set());
    }
    return trimRuns(runs);
  });
  const boxes = [...heads.flat().map(({ box }) => box), ...(corner?.places ?? [])];
  const place: Place = { page: table.places[0]?.page ?? 0, ...around(boxes) };
  table.rows.unshift(row);
  table.row_places?.unshift(place);
  table.places[0] = { ...place, ...around([place, table.places[0] ?? place]) };
}
