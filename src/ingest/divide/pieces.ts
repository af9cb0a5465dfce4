import type { Block, BlockItem } from './blocks.ts';

/**
 * The blocks with those that are longer than `max` cut into pieces of about `length`: code between lines, lists between
 * items, tables between rows, each with what it needs to be the same by itself. Others stay as long as they are.
 */
export function shortEnough(blocks: readonly Block[], markdown: string, length: number, max: number): Block[] {
  return blocks.flatMap((block) => {
    if (block.end - block.start <= max) return [block];
    if (block.type === 'code') return piecesOfCode(block, markdown, length);
    if (block.items.length === 0) return [block];
    const before = block.type === 'table' ? headOfTable(block, markdown) : '';
    return cutBetween(block.items, block, length, { before, before_at: block.start, after: '' });
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
    const isNext = last && last.after + before === '' && (last.no === block.no || last.no + 1 === block.no);
    if (last) yield isNext ? [markdown.slice(last.end, start), last.end] : ['\n\n', -1];
    if (before !== '') yield [before, block.before_at];
    yield [markdown.slice(start, end), start];
    if (after !== '') yield [after, -1];
    last = block;
  }
}

function piecesOfCode(block: Block, markdown: string, length: number): Block[] {
  const text = markdown.slice(block.start, block.end);
  const [, opening = '', marks = ''] = /^([ \t]*(`{3,}|~{3,})[^\n]*\n)/.exec(text) ?? [];
  const closing = opening === '' ? null : /\n[ \t]*(?:`{3,}|~{3,})[ \t]*$/.exec(text);
  const start = block.start + opening.length;
  const end = closing ? block.start + closing.index : block.end;
  const lines: BlockItem[] = [];
  for (let at = start; at < end; at = markdown.indexOf('\n', at) + 1 || end) lines.push({ start: at, ids: [] });
  const around = { before: opening, before_at: block.start, after: opening === '' ? '' : `\n${marks}` };
  return cutBetween(lines, { ...block, ...around, start, end }, length, around);
}

/** The row of headings, and the one below that says that it is a table. */
function headOfTable(block: Block, markdown: string): string {
  const second = markdown.indexOf('\n', block.start);
  const end = markdown.indexOf('\n', second + 1);
  return markdown.slice(block.start, end + 1);
}

/** Pieces as long as they may be; `around` is what all but the first need around them. */
function cutBetween(
  items: readonly BlockItem[],
  block: Block,
  length: number,
  around: Pick<Block, 'before' | 'before_at' | 'after'>,
): Block[] {
  const pieces: Block[] = [];
  let open: BlockItem[] = [];
  for (const [i, item] of items.entries()) {
    open.push(item);
    const end = items[i + 1]?.start;
    const after = items[i + 2]?.start ?? block.end;
    if (end === undefined || after - (open[0]?.start ?? 0) <= length) continue;
    add(end - 1);
    open = [];
  }
  add(block.end);
  return pieces;

  function add(end: number): void {
    const start = open[0]?.start ?? block.start;
    const ids = open.flatMap((item) => item.ids);
    pieces.push({ ...block, type: 'piece', start, end, ids, ...(pieces.length > 0 && around) });
  }
}
