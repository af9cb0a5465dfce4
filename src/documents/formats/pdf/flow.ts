import { blocksOfColumn, joinRuns, type PdfBlock } from './blocks.ts';
import { inReadingOrder, type Line } from './lines.ts';
import type { PdfPage } from './page.ts';

/**
 * Removes headers and footers: lines at the edge of a page that repeat on many pages except for numbers, and bare page
 * numbers.
 */
export function removeHeadersAndFooters(pages: readonly PdfPage[]): PdfPage[] {
  const counts = new Map<string, number>();
  const isAtEdge = ({ height, bottom }: PdfPage, line: Line) =>
    line.y < bottom + 0.1 * height || line.y > bottom + 0.9 * height;
  const keyOf = (line: Line) => `${Math.round(line.y / 4)} ${line.words.replace(/\d+/g, '#')}`;
  for (const page of pages) {
    const keys = new Set(page.lines.filter((line) => isAtEdge(page, line)).map(keyOf));
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const often = Math.max(3, pages.length / 3);
  return pages.map((page) => {
    const lines = page.lines.filter((line) => {
      if (!isAtEdge(page, line)) return true;
      const isNumber = pages.length > 1 && /^[\s–—-]*(?:\d{1,4}|[ivxl]{1,6})[\s–—-]*$/.test(line.words);
      return !isNumber && (counts.get(keyOf(line)) ?? 0) < often;
    });
    return { ...page, lines };
  });
}

/** The blocks of pages, in reading order. */
export function blocksOf(pages: readonly PdfPage[]): PdfBlock[] {
  const hyphenated = new Set<string>();
  for (const { lines } of pages) {
    for (const line of lines) {
      for (const [word] of line.words.matchAll(/\p{L}[\p{L}\p{N}]*-\p{L}[\p{L}\p{N}]*/gu))
        hyphenated.add(word.toLowerCase());
    }
  }
  const blocks: PdfBlock[] = [];
  for (const [i, { lines }] of pages.entries()) {
    for (const column of inReadingOrder(lines)) {
      for (const block of blocksOfColumn(column, i + 1, hyphenated)) {
        const open = unfinished(blocks, block);
        if (!open) {
          blocks.push(block);
          continue;
        }
        joinRuns(open.runs, block.runs, hyphenated);
        open.isFull = block.isFull;
        open.places.push(...block.places);
      }
    }
  }
  return blocks;
}

/** The paragraph that a block at the top of a column continues: footnotes, in smaller type, are skipped. */
function unfinished(blocks: readonly PdfBlock[], next: PdfBlock): PdfBlock | undefined {
  if (next.kind !== 'text' || !/^\s*["“(]?\p{Ll}/u.test(next.runs[0]?.text ?? '')) return undefined;
  for (let i = blocks.length - 1; i >= Math.max(0, blocks.length - 4); i -= 1) {
    const block = blocks[i];
    if (!block) return undefined;
    if (block.kind === 'text' && block.size < 0.95 * next.size) continue;
    const isOpen = block.kind !== 'table' && block.isFull && Math.abs(block.size - next.size) < 0.05 * next.size;
    return isOpen && !/[.!?:]["”’)\]]?\s*$/.test(block.runs.at(-1)?.text ?? '') ? block : undefined;
  }
  return undefined;
}
