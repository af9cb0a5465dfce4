import type { Target } from './outline.ts';
import { turnPoint } from './page/frames.ts';
import type { Run } from './page/lines.ts';
import type { PdfPage } from './page/page.ts';
import type { PdfBlock, Place } from './pdf-block.ts';

/** How far a block must extend below a target to be its destination, in points. */
const ABOVE = 3;

/** A rectangle of a block on a page. */
interface BlockPlace {
  block: PdfBlock;
  place: Place;
}

/**
 * Assigns target numbers (`#target-<number>.`) to the blocks that links lead to, in place. Links without a destination
 * become plain text.
 */
export function withTargets(
  blocks: PdfBlock[],
  pages: readonly PdfPage[],
  targets: ReadonlyMap<string, Target>,
): PdfBlock[] {
  const byPage = new Map<number, BlockPlace[]>();
  for (const block of blocks) {
    // A code block cannot hold a target; the next block gets it.
    if (block.kind === 'code') continue;
    for (const place of block.places) {
      const places = byPage.get(place.page) ?? [];
      byPage.set(place.page, places);
      places.push({ block, place });
    }
  }
  const reached = new Set<string>();
  for (const [address, target] of targets) {
    const block = blockAt(target, pages[target.page - 1]?.angle ?? 0, byPage.get(target.page) ?? []);
    if (!block) continue;
    reached.add(address);
    block.targets = [...(block.targets ?? []), Number(/\d+/.exec(address)?.[0])];
  }
  const unlink = (run: Run) => {
    if (run.url.startsWith('#') && !reached.has(run.url)) run.url = '';
  };
  for (const { runs, rows } of blocks) {
    runs.forEach(unlink);
    for (const cell of rows.flat()) cell.forEach(unlink);
  }
  return blocks;
}

/** Returns the destination of a target: the highest block below it in its column. */
function blockAt({ x, y }: Target, angle: number, places: readonly BlockPlace[]): PdfBlock | undefined {
  if (y === undefined) return places[0]?.block;
  const [left, top] = turnPoint(x ?? 0, y, angle);
  const below = places.filter(({ place }) => place.bottom < top - ABOVE);
  const inColumn = x === undefined ? [] : below.filter(({ place }) => place.right > left && place.x < left + COLUMN);
  let best: BlockPlace | undefined;
  for (const each of inColumn.length > 0 ? inColumn : below) if (!best || each.place.top > best.place.top) best = each;
  return (best ?? places.at(-1))?.block;
}

/** Text further to the right of a target, in points, is in another column. */
const COLUMN = 150;
