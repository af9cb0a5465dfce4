import { crc32 } from 'node:zlib';
import type { Block, BlockItem } from './blocks.ts';
import { MAX_REPEATED_LENGTH } from './continuing-blocks.ts';

/** The cost of a list item or a row in addition to its characters: many short ones take longest to render. */
const ITEM_COST = 32;

/** The maximum number of a list item in CommonMark (nine digits). */
const NUMBER_MAX = 999_999_999;

/** The start of a piece that begins with an item, and the text that the piece needs before and after it. */
type Around = Pick<Block, 'start' | 'before' | 'before_at' | 'after'> & Partial<Pick<Block, 'repeatsHead'>>;

/**
 * Splits blocks longer than `max` into pieces of about `length`: code between lines, lists between items, tables
 * between rows, quotes between blocks, each with the text that keeps its meaning. Other blocks are not split.
 */
export function splitLongBlocks(blocks: readonly Block[], markdown: string, length: number, max: number): Block[] {
  return blocks.flatMap((block) => {
    if (block.end - block.start <= max) return [block];
    if (block.type === 'code') return piecesOfCode(block, markdown, length);
    if (block.items.length === 0) return [block];
    if (block.type === 'list')
      return cutBetween(block, markdown, length, (item, i) => numbered(block, item, i, markdown));
    const before = block.type === 'table' ? headOfTable(block, markdown) : '';
    if (before.length > MAX_REPEATED_LENGTH) return [block];
    const repeatsHead = before !== '';
    return cutBetween(block, markdown, length, ({ start }) => ({
      start,
      before,
      before_at: block.start,
      after: '',
      repeatsHead,
    }));
  });
}

/** Joins blocks to a text: consecutive blocks as in the document, others with an empty line. */
export function joinBlocks(blocks: readonly Block[], markdown: string): string {
  let text = '';
  for (const [piece] of piecesOf(blocks, markdown)) text += piece;
  return text.trim() === '' ? '' : `${text.replace(/\n+$/, '')}\n`;
}

/** Yields the pieces of text of blocks with their offsets in the document; -1 for added text. */
export function* piecesOf(blocks: readonly Block[], markdown: string): Generator<[text: string, at: number]> {
  let last: Block | undefined;
  for (const block of blocks) {
    const { before, start, end, after } = block;
    const between = last ? markdown.slice(last.end, start) : '';
    const isNext = last?.after + before === '' && between !== '' && between.trim() === '';
    if (last) yield isNext ? [between, last.end] : ['\n\n', -1];
    if (before !== '') yield [before, block.before_at];
    yield [markdown.slice(start, end), start];
    if (after !== '') yield [after, -1];
    last = block;
  }
}

function piecesOfCode(block: Block, markdown: string, length: number): Block[] {
  const text = markdown.slice(block.start, block.end);
  const [, opening = '', marks = ''] = /^([ \t]*(`{3,}|~{3,})[^\n]*\n)/.exec(text) ?? [];
  if (opening.length > MAX_REPEATED_LENGTH) return [block];
  const closing = opening === '' ? null : /\n[ \t]*(?:`{3,}|~{3,})[ \t]*$/.exec(text);
  const start = block.start + opening.length;
  const end = closing ? block.start + closing.index : block.end;
  const items: BlockItem[] = [];
  for (let at = start; at < end; at = markdown.indexOf('\n', at) + 1 || end) {
    items.push({ start: at, ids: [], isSimple: true });
  }
  const around = { before: opening, before_at: block.start, after: opening === '' ? '' : `\n${marks}` };
  return cutBetween({ ...block, ...around, items, start, end }, markdown, length, (item) => {
    return { start: item.start, ...around };
  });
}

/** Returns the head row and the delimiter row. */
function headOfTable(block: Block, markdown: string): string {
  const second = markdown.indexOf('\n', block.start);
  const end = markdown.indexOf('\n', second + 1);
  return markdown.slice(block.start, end + 1);
}

/** Numbers a piece of a list: it starts with the number that its first item is shown with, whatever the source says. */
function numbered({ first }: Block, { start, isSimple }: BlockItem, i: number, markdown: string): Around {
  const as = { start, before: '', before_at: start, after: '' };
  const [written = '', digits = '', behind = ''] =
    /^[ \t]*(\d{1,9})([.)])/.exec(markdown.slice(start, start + 20)) ?? [];
  // A longer number would change the indentation that the item's other lines need.
  if (first === undefined || Number(digits) === first + i || first + i > NUMBER_MAX || !isSimple) return as;
  return { ...as, start: start + written.length, before: `${first + i}${behind}` };
}

/**
 * Splits into pieces from three fifths of `length` up to `length`, unless an item is longer. In that range the content
 * of the items decides where the next piece begins (content-defined chunking), so that a change in one piece does not
 * move the boundaries of others.
 */
function cutBetween(
  block: Block,
  markdown: string,
  length: number,
  aroundOf: (item: BlockItem, i: number) => Around,
): Block[] {
  const { items, end } = block;
  const endOf = (i: number) => items[i]?.start ?? end;
  const own = block.type === 'code' ? 0 : ITEM_COST;
  const pieces: Block[] = [];
  for (let from = 0; from < items.length; ) {
    let next = from + 1;
    let least = Number.POSITIVE_INFINITY;
    let held = 0;
    let i = from;
    for (; i < items.length; i += 1) {
      held += endOf(i + 1) - endOf(i) + own;
      if (held > length) break;
      if (held < 0.6 * length) {
        next = i + 1;
        continue;
      }
      const value = i + 1 < items.length ? crc32(markdown.slice(endOf(i + 1), endOf(i + 2))) : 0;
      if (value < least) [least, next] = [value, i + 1];
    }
    if (i === items.length) next = i;
    add(from, next);
    from = next;
  }
  return pieces;

  function add(from: number, next: number): void {
    const first = items[from];
    const around = from > 0 && first ? aroundOf(first, from) : { start: block.start };
    const ids = items.slice(from, next).flatMap((item) => item.ids);
    const upTo = next < items.length ? endOf(next) - 1 : end;
    pieces.push({ ...block, ...around, type: 'piece', items: [], end: upTo, ids });
  }
}
