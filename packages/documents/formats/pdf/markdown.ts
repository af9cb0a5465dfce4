import type { BlockContent, Html, Image, PhrasingContent, Root } from 'mdast';
import type { PageRange } from '../extracted.ts';
import { openTargets } from '../html/link-targets.ts';
import { markdownWriter } from '../markdown-writer.ts';
import { codeText } from './code-blocks.ts';
import { listsOf } from './lists.ts';
import { BULLET, readItem } from './marks/item-marks.ts';
import { type Run, wordsOf } from './page/lines.ts';
import type { PdfBlock } from './pdf-block.ts';
import type { BoxesOf } from './shown-boxes.ts';
import { usualSize } from './usual-size.ts';

const writer = markdownWriter({ tablePipeAlign: false });

/** Writes blocks as Markdown, with the pages and rectangles of each top-level block. */
export function writeBlocks(
  blocks: readonly PdfBlock[],
  boxesOf: BoxesOf,
): { markdown: string; block_pages: PageRange[] } {
  const levels = headingLevels(blocks);
  const block_pages: PageRange[] = [];
  const links = openTargets();
  let markdown = '';
  const write = (nodes: BlockContent[], ranges: readonly PageRange[]) => {
    const root: Root = { type: 'root', children: nodes };
    links.place(root);
    const text = writer.stringify(root).trimEnd();
    if (text === '') return;
    if (markdown !== '') markdown += '\n\n';
    block_pages.push(...ranges);
    markdown += text;
  };
  for (let i = 0; i < blocks.length; i += 1) {
    const block = blocks[i] as PdfBlock;
    const level = headingLevel(block, levels);
    if (block.kind !== 'item' || level !== undefined) {
      write([nodeOf(block, level)], [rangeOf([block], boxesOf)]);
      continue;
    }
    const items = [block];
    for (let next = blocks[i + 1]; next?.kind === 'item'; next = blocks[i + 1]) {
      if (headingLevel(next, levels) !== undefined) break;
      items.push(next);
      i += 1;
    }
    const lists = listsOf(items, (item) => [...targetIn(item), ...phrasing(readItem(item.runs).runs)]);
    write(
      lists.map(({ list }) => list),
      lists.map((list) => rangeOf(list.items, boxesOf)),
    );
  }
  return { markdown: markdown === '' ? '' : `${links.resolve(markdown)}\n`, block_pages };
}

function rangeOf(blocks: readonly PdfBlock[], boxesOf: BoxesOf): PageRange {
  const pages = blocks.flatMap(({ places }) => places.map(({ page }) => page));
  const [table] = blocks;
  const boxes = table?.row_places
    ? table.row_places.map((place) => boxesOf(table, [place]))
    : blocks.map((block) => boxesOf(block));
  return { first_page: pages[0] ?? 1, last_page: Math.max(...pages), boxes };
}

function nodeOf(block: PdfBlock, level: Level | undefined): BlockContent {
  if (block.kind === 'table') {
    return {
      type: 'table',
      children: block.rows.map((row, i) => ({
        type: 'tableRow',
        children: row.map((runs, k) => ({
          type: 'tableCell',
          children: [...(i + k === 0 ? targetIn(block) : []), ...phrasing(runs)],
        })),
      })),
    };
  }
  if (block.kind === 'code') return { type: 'code', value: codeText(block) };
  if (block.kind === 'picture') return { type: 'paragraph', children: [imageOf(block)] };
  if (level === undefined) return { type: 'paragraph', children: withPictures(block) };
  const { targets } = block;
  return { type: 'heading', depth: level, children: phrasing(block.runs), ...(targets && { data: { targets } }) };
}

function imageOf({ runs }: PdfBlock): Image {
  return { type: 'image', url: runs[0]?.url ?? '' };
}

/**
 * Returns the content of a paragraph. A caption is on a line of its own, above or below its pictures as in the
 * document.
 */
function withPictures(block: PdfBlock): PhrasingContent[] {
  const words = [...targetIn(block), ...phrasing(block.runs)];
  const { pictures = [], places } = block;
  const [first] = pictures;
  if (!first) return words;
  const shown: PhrasingContent[] = pictures.flatMap((picture) => [imageOf(picture), { type: 'break' }]);
  const isAbove = (places[0]?.bottom ?? 0) > (first.places[0]?.bottom ?? 0);
  return isAbove ? [...words, { type: 'break' }, ...shown.slice(0, -1)] : [...shown, ...words];
}

/** Returns the anchor for links to a block. */
function targetIn({ targets }: PdfBlock): Html[] {
  return targets ? [{ type: 'html', value: '', data: { targets } }] : [];
}

function phrasing(runs: readonly Run[]): PhrasingContent[] {
  const content: PhrasingContent[] = [];
  for (const { text, url } of runs) {
    const value = text.replace(/[\s\p{Cc}]+/gu, ' ');
    const words = value.trim();
    if (url === '' || words === '') {
      content.push({ type: 'text', value });
      continue;
    }
    // The spaces around a link are not part of it.
    if (value.startsWith(' ')) content.push({ type: 'text', value: ' ' });
    content.push({ type: 'link', url, children: [{ type: 'text', value: words }] });
    if (value.endsWith(' ')) content.push({ type: 'text', value: ' ' });
  }
  return content;
}

type Level = 1 | 2 | 3 | 4 | 5 | 6;

function headingLevel(block: PdfBlock, levels: ReadonlyMap<number, Level>): Level | undefined {
  const words = wordsOf(block.runs);
  if (/^(?:table|picture|code)$/.test(block.kind) || words.length > 250) return undefined;
  if (block.level !== undefined) return block.level === 0 ? undefined : (Math.min(block.level, 6) as Level);
  // Numbers in a chart may be larger than headings.
  if (!hasLetters(block)) return undefined;
  // An item may be larger than the text of a document that is mostly code.
  if (BULLET.test(words)) return undefined;
  // A line of a table of contents has leaders.
  if (/(?:[.·…]\s?){4}|(?:[.·…]\s){2}\d{1,4}$/.test(words)) return undefined;
  // A numbered heading such as "3.1 Traces" may be as large as the text and only bolder.
  const [, number = ''] = /^(\d{1,2}(?:\.\d{1,2}){1,3})\.?\s+\p{Lu}.{0,80}[^.,;:]$/u.exec(words) ?? [];
  return (
    levels.get(Math.round(2 * block.size)) ??
    (number === '' ? undefined : (Math.min(number.split('.').length + 1, 4) as Level))
  );
}

function hasLetters({ runs }: PdfBlock): boolean {
  return runs.some(({ text }) => /\p{L}/u.test(text));
}

/**
 * Assigns heading levels by font size in half points: sizes above the size of most text are headings, and the largest
 * is the title.
 */
function headingLevels(blocks: readonly PdfBlock[]): ReadonlyMap<number, Level> {
  const usual = Math.round(2 * usualSize(blocks));
  const larger = [...new Set(blocks.filter(hasLetters).map(({ size }) => Math.round(2 * size)))]
    .filter((size) => size > 1.12 * usual)
    .sort((a, b) => b - a);
  const levels = new Map<number, Level>();
  for (const [i, size] of larger.entries()) levels.set(size, Math.min(i + 1, 4) as Level);
  return levels;
}
