import { crc32 } from 'node:zlib';
import type { Block, BlockItem } from './blocks.ts';
import { HEAD_MAX } from './continuing-blocks.ts';

/** What an item of a list or a row costs beside its characters: many short ones take the longest to show. */
const ITEM = 32;

/** Numbers of lists have no more digits. */
const NUMBER_MAX = 999_999_999;

/** What a piece has that begins with an item: where it begins, and what it needs before and behind. */
type Around = Pick<Block, 'start' | 'before' | 'before_at' | 'after'> & Partial<Pick<Block, 'repeatsHead'>>;

/**
 * The blocks with those that are longer than `max` cut into pieces of about `length`: code between lines, lists between
 * items, tables between rows, quotes between what is quoted, each with what it needs to be the same by itself. Others stay as
 * long as they are.
 */
export function shortEnough(blocks: readonly Block[], markdown: string, length: number, max: number): Block[] {
  return blocks.flatMap((block) => {
    if (block.end - block.start <= max) return [block];
    if (block.type === 'code') return piecesOfCode(block, markdown, length);
    if (block.items.length === 0) return [block];
    if (block.type === 'list')
      return cutBetween(block, markdown, length, (item, i) => numbered(block, item, i, markdown));
    const before = block.type === 'table' ? headOfTable(block, markdown) : '';
    if (before.length > HEAD_MAX) return [block];
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

/** Consecutive blocks as they stand in the document, others an empty line apart. */
export function pieceTogether(blocks: readonly Block[], markdown: string): string {
  let text = '';
  for (const [piece] of piecesOf(blocks, markdown)) text += piece;
  return text.trim() === '' ? '' : `${text.replace(/\n+$/, '')}\n`;
}

/** What blocks are put together of, and where in the document each piece stands; -1 for what does not. */
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
  if (opening.length > HEAD_MAX) return [block];
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

/** The row of headings, and the one below that says that it is a table. */
function headOfTable(block: Block, markdown: string): string {
  const second = markdown.indexOf('\n', block.start);
  const end = markdown.indexOf('\n', second + 1);
  return markdown.slice(block.start, end + 1);
}

/** A piece of a numbered list goes on with the number that its first item has in the list, whatever is written there. */
function numbered({ first }: Block, { start, isSimple }: BlockItem, i: number, markdown: string): Around {
  const as = { start, before: '', before_at: start, after: '' };
  const [written = '', digits = '', behind = ''] =
    /^[ \t]*(\d{1,9})([.)])/.exec(markdown.slice(start, start + 20)) ?? [];
  // A longer number would push the text to the right, and what belongs to it further down would have to follow.
  if (first === undefined || Number(digits) === first + i || first + i > NUMBER_MAX || !isSimple) return as;
  return { ...as, start: start + written.length, before: `${first + i}${behind}` };
}

/**
 * Pieces of three fifths of `length` or more, where items are not longer themselves. Between there and `length` what the
 * items say decides which of them begins the next piece, and not how many came before: so a change in one piece leaves the
 * others as they were.
 */
function cutBetween(
  block: Block,
  markdown: string,
  length: number,
  aroundOf: (item: BlockItem, i: number) => Around,
): Block[] {
  const { items, end } = block;
  const endOf = (i: number) => items[i]?.start ?? end;
  const own = block.type === 'code' ? 0 : ITEM;
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
