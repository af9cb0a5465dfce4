import { hash } from 'node:crypto';
import { type ContextKeys, NO_CONTEXT } from '@ibid/markdown/blocks/block-context.ts';
import { targetOf } from '@ibid/markdown/blocks/block-targets.ts';
import type { Rendered } from '@ibid/markdown/plain-text.ts';
import type { Extracted, PageRange } from './formats/extracted.ts';
import { hasLines, type LineRange, linesOfBlock } from './source-lines.ts';

/**
 * The sources of the blocks of a page, as parallel arrays: for each block its place in the source and the hash of its
 * text.
 */
export interface Citations {
  /** [start, end) in the text of the source, in UTF-16 units. */
  starts: number[];
  ends: number[];
  /** For documents with pages (PDF), counted from 1; otherwise empty. */
  first_pages: number[];
  last_pages: number[];
  /**
   * For files with lines (Markdown, text, CSV and formats with similar units), counted from 1; 0 for blocks that are
   * not from the file. Otherwise empty.
   */
  first_lines: number[];
  last_lines: number[];
  /** The concatenated SHA-256 hashes of the texts, in hexadecimal. */
  hashes: string;
  /**
   * The indexes of blocks whose form (block-form.ts) differs from their text, and the hashes of these forms as in
   * `hashes`.
   */
  form_blocks: number[];
  form_hashes: string;
  /** The rectangles of blocks on the pages of a PDF, six integers each: the block's index, then as in PageRange. */
  boxes: number[];
  /** The concatenated contexts of the blocks (block-context.ts). */
  contexts: string;
  /** Links and pictures (block-targets.ts) in order, each with the index of its block. */
  target_blocks: number[];
  targets: string[];
}

/** The maximum length of `boxes`. */
export const BOXES_MAX = 6 * 20_000;

/** The place of a block in the text of the source. */
export interface CitedPlace {
  start: number;
  end: number;
  /** Undefined if the source has no pages. */
  pages: PageRange | undefined;
  /** Concatenated rectangles as in PageRange; empty if the source has no pages. */
  boxes: readonly number[];
  /** Undefined if the file has no lines. */
  lines: LineRange | undefined;
  /** 64 hexadecimal digits. */
  hash: string;
  /** The hash of the block's form; "" if the form equals the text. */
  form_hash: string;
  context: ContextKeys;
  targets: readonly string[];
}

export function placesOf(citations: Citations): CitedPlace[] {
  const { starts, ends, first_pages, last_pages, first_lines, last_lines, hashes } = citations;
  const boxes = boxesByBlock(citations.boxes);
  const targets = targetsByBlock(citations);
  const forms = new Map(citations.form_blocks.map((block, i) => [block, hashAt(citations.form_hashes, i)]));
  return starts.map((start, i) => {
    const [first_page, last_page] = [first_pages[i], last_pages[i]];
    const [first_line, last_line] = [first_lines[i], last_lines[i]];
    const pages = first_page === undefined || last_page === undefined ? undefined : { first_page, last_page };
    const lines = first_line === undefined || last_line === undefined ? undefined : { first_line, last_line };
    return {
      start,
      end: ends[i] ?? start,
      pages,
      boxes: boxes.get(i) ?? [],
      lines,
      hash: hashAt(hashes, i),
      form_hash: forms.get(i) ?? '',
      context: contextAt(citations.contexts, i),
      targets: targets.get(i) ?? [],
    };
  });
}

/** Groups the rectangles by block, five integers each. Blocks without rectangles are missing. */
export function boxesByBlock(boxes: readonly number[]): Map<number, number[]> {
  const byBlock = new Map<number, number[]>();
  for (let i = 0; i < boxes.length; i += 6) {
    const block = boxes[i] ?? 0;
    byBlock.set(block, [...(byBlock.get(block) ?? []), ...boxes.slice(i + 1, i + 6)]);
  }
  return byBlock;
}

/** Groups the targets by block. Blocks without targets are missing. */
export function targetsByBlock({
  target_blocks,
  targets,
}: Pick<Citations, 'target_blocks' | 'targets'>): Map<number, string[]> {
  const byBlock = new Map<number, string[]>();
  for (const [i, block] of target_blocks.entries()) {
    const all = byBlock.get(block) ?? [];
    all.push(targets[i] ?? '');
    byBlock.set(block, all);
  }
  return byBlock;
}

/** Returns context number `i` of the concatenated contexts. */
export function contextAt(contexts: string, i: number): ContextKeys {
  const { length } = NO_CONTEXT;
  return contexts.slice(length * i, length * (i + 1));
}

/** Returns hash number `i` of the concatenated SHA-256 hashes in hexadecimal. */
export function hashAt(hashes: string, i: number): string {
  return hashes.slice(64 * i, 64 * (i + 1));
}

/** Packs places into arrays. Either all places have pages or none does; the same applies to lines. */
export function citationsOf(places: readonly CitedPlace[]): Citations {
  return {
    starts: places.map(({ start }) => start),
    ends: places.map(({ end }) => end),
    first_pages: places.flatMap(({ pages }) => pages?.first_page ?? []),
    last_pages: places.flatMap(({ pages }) => pages?.last_page ?? []),
    first_lines: places.flatMap(({ lines }) => lines?.first_line ?? []),
    last_lines: places.flatMap(({ lines }) => lines?.last_line ?? []),
    hashes: places.map((place) => place.hash).join(''),
    form_blocks: places.flatMap(({ form_hash }, i) => (form_hash === '' ? [] : i)),
    form_hashes: places.map((place) => place.form_hash).join(''),
    boxes: places
      .flatMap(({ boxes }, block) =>
        Array.from({ length: boxes.length / 5 }, (_, i) => [block, ...boxes.slice(5 * i, 5 * i + 5)]),
      )
      .slice(0, BOXES_MAX / 6)
      .flat(),
    contexts: places.map(({ context }) => context).join(''),
    target_blocks: places.flatMap(({ targets }, block) => targets.map(() => block)),
    targets: places.flatMap(({ targets }) => targets),
  };
}

/**
 * Returns the citations of a page in `folder` that shows its whole source, so that blocks have the same offsets in the
 * page and in the source.
 */
export function citeBlocks(
  { text, blocks }: Pick<Rendered, 'text' | 'blocks'>,
  { kind, block_pages = [], lines }: Pick<Extracted, 'kind' | 'block_pages' | 'lines'>,
  folder: string,
): Citations {
  const all: PageRange = {
    first_page: block_pages[0]?.first_page ?? 0,
    last_page: block_pages.reduce((last, { last_page }) => Math.max(last, last_page), 0),
  };
  // Pictures may follow the last text and are not cited. If there are more blocks than page ranges, the ranges belong
  // to other blocks.
  const isWhole = (blocks.at(-1)?.part ?? 0) < block_pages.length;
  const within = boxesWithin(blocks, isWhole ? block_pages : []);
  return citationsOf(
    blocks.map((block, i) => {
      const words = text.slice(block.start, block.end);
      return {
        start: block.start,
        end: block.end,
        pages: block_pages.length === 0 ? undefined : ((isWhole ? block_pages[block.part] : undefined) ?? all),
        boxes: within[i] ?? [],
        lines: hasLines(kind) ? linesOfBlock(block, lines) : undefined,
        hash: hash('sha256', words),
        form_hash: block.form === words ? '' : hash('sha256', block.form),
        context: block.context,
        targets: block.targets.map((target) => targetOf(target, folder)),
      };
    }),
  );
}

/**
 * Returns the rectangles of each block: its item's or row's if the list or table has a rectangle for each block,
 * otherwise the rectangles of the whole list or table.
 */
function boxesWithin(blocks: Rendered['blocks'], block_pages: readonly PageRange[]): (readonly number[])[] {
  const counts = new Map<number, number>();
  for (const { part } of blocks) counts.set(part, (counts.get(part) ?? 0) + 1);
  let [part, item] = [-1, 0];
  return blocks.map((block) => {
    item = block.part === part ? item + 1 : 0;
    part = block.part;
    const { boxes = [] } = block_pages[part] ?? {};
    return boxes.length === counts.get(part) ? (boxes[item] ?? []) : boxes.slice(0, WHOLE_MAX).flat();
  });
}

/** The maximum number of rectangles for a whole list or table. */
const WHOLE_MAX = 8;
