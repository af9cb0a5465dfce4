import type { Loss } from '../losses.ts';
import { blocksOfColumn } from './blocks.ts';
import { continueCode } from './code-blocks.ts';
import { inReadingOrder, rowsDown } from './columns.ts';
import { continueTable, continueTagged } from './continued-blocks.ts';
import { type Hyphenated, joinRuns } from './join-runs.ts';
import type { Outline } from './outline.ts';
import { turnBox } from './page/frames.ts';
import type { PdfPage } from './page/page.ts';
import type { PdfBlock, Place } from './pdf-block.ts';
import { betweenTables, withTableLines } from './ruled-tables.ts';
import { taggedBlocks } from './tagged-blocks.ts';
import { takeTurnedHeads } from './turned-heads.ts';

/**
 * Collects the blocks of pages in reading order, by the structure tree where a page has one. Adds table heads that
 * repeat on later pages to the losses.
 */
export function blocksOf(pages: readonly PdfPage[], outline: Outline, losses: Loss[]): PdfBlock[] {
  const hyphenated = new Set<string>();
  for (const { lines } of pages) {
    for (const line of lines) {
      for (const [word] of line.words.matchAll(/\p{L}[\p{L}\p{N}]*-\p{L}[\p{L}\p{N}]*/gu))
        hyphenated.add(word.toLowerCase());
    }
  }
  const isStructured = pages.some(({ elements }) => elements.some(({ kind }) => kind === 'heading'));
  const blocks: PdfBlock[] = [];
  for (const [i, page] of pages.entries()) {
    const before = blocks.length;
    const tagged = taggedBlocks(page.elements, page.lines, i + 1, { hyphenated, isStructured });
    for (const [k, block] of tagged.entries()) {
      if (k > 0 || !continueTagged(blocks.at(-1), block, hyphenated, losses)) addBlock(blocks, block, hyphenated);
    }
    const untagged = page.lines.filter(({ element }) => !element);
    let isFirst = tagged.length === 0;
    const isContinued = (block: PdfBlock) => {
      const continues = isFirst && continueTable(blocks.at(-1), block, losses);
      isFirst = false;
      return continues;
    };
    for (const part of inReadingOrder(withTableLines(untagged, i + 1, hyphenated)).flatMap(betweenTables)) {
      if (Array.isArray(part)) {
        for (const block of blocksOfColumn(part, i + 1, hyphenated, outline.get(i + 1))) {
          if (tagged.length > 0) insertBlock(blocks, before, block);
          else if (!isContinued(block)) addBlock(blocks, block, hyphenated);
        }
      } else if (!isContinued(part)) blocks.push(part);
    }
    for (const { angle, lines } of takeTurnedHeads(blocks, before, page)) {
      for (const block of blocksOfColumn(rowsDown(lines).flat(), i + 1, hyphenated)) {
        const places = block.places.map((place) => turnedPlace(place, angle, page.angle));
        const row_places = block.row_places?.map((place) => turnedPlace(place, angle, page.angle));
        blocks.push({ ...block, isFull: false, places, ...(row_places && { row_places }) });
      }
    }
  }
  return blocks;
}

/**
 * Inserts a block that is missing in the structure tree in front of the first block below it on the page, searching
 * from index `from`.
 */
function insertBlock(blocks: PdfBlock[], from: number, block: PdfBlock): void {
  const [place] = block.places;
  const below = blocks.findIndex(({ places: [other] }, i) => {
    if (i < from || !place || !other) return false;
    return other.page === place.page && other.top <= place.bottom + 1 && other.x < place.right && place.x < other.right;
  });
  blocks.splice(below < 0 ? blocks.length : below, 0, block);
}

function addBlock(blocks: PdfBlock[], block: PdfBlock, hyphenated: Hyphenated): void {
  if (continueCode(blocks, block)) return;
  const open = unfinished(blocks, block);
  if (!open) {
    blocks.push(block);
    return;
  }
  joinRuns(open.runs, block.runs, hyphenated);
  open.isFull = block.isFull;
  open.places.push(...block.places);
}

function turnedPlace({ page, ...box }: Place, from: number, to: number): Place {
  return { page, ...turnBox(turnBox(box, (360 - from) % 360), to) };
}

/** Returns the paragraph that a block at the top of a column continues; skips footnotes, which are smaller. */
function unfinished(blocks: readonly PdfBlock[], next: PdfBlock): PdfBlock | undefined {
  if (next.kind !== 'text' || (next.level ?? 0) > 0 || !/^\s*["“(]?\p{Ll}/u.test(next.runs[0]?.text ?? ''))
    return undefined;
  for (let i = blocks.length - 1; i >= Math.max(0, blocks.length - 4); i -= 1) {
    const block = blocks[i];
    if (!block) return undefined;
    if ((block.level ?? 0) > 0) return undefined;
    if (block.kind === 'text' && block.size < 0.95 * next.size) continue;
    const isOpen = block.kind !== 'table' && block.isFull && Math.abs(block.size - next.size) < 0.05 * next.size;
    return isOpen && !/[.!?:]["”’)\]]?\s*$/.test(block.runs.at(-1)?.text ?? '') ? block : undefined;
  }
  return undefined;
}
