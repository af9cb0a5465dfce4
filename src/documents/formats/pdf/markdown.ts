import type { BlockContent, Html, PhrasingContent, Root } from 'mdast';
import type { PageRange } from '../extracted.ts';
import { openTargets } from '../html/link-targets.ts';
import { markdownWriter } from '../markdown-writer.ts';
import { type PdfBlock, readItem } from './blocks.ts';
import { type Run, wordsOf } from './page/lines.ts';
import type { BoxesOf } from './shown-boxes.ts';

const writer = markdownWriter({ tablePipeAlign: false });

/** Writes the blocks as Markdown, with the pages of each top-level block and where it is on them. */
export function writeBlocks(
  blocks: readonly PdfBlock[],
  boxesOf: BoxesOf,
): { markdown: string; block_pages: PageRange[] } {
  const levels = headingLevels(blocks);
  const block_pages: PageRange[] = [];
  const links = openTargets();
  let markdown = '';
  for (let i = 0; i < blocks.length; i += 1) {
    const block = blocks[i] as PdfBlock;
    const items = [block];
    const level = headingLevel(block, levels);
    if (block.kind === 'item' && level === undefined) {
      const { ordered } = readItem(block.runs);
      for (
        let next = blocks[i + 1];
        next?.kind === 'item' && headingLevel(next, levels) === undefined;
        next = blocks[i + 1]
      ) {
        if (readItem(next.runs).ordered !== ordered) break;
        items.push(next);
        i += 1;
      }
    }
    const node = nodeOf(items, level);
    const root: Root = { type: 'root', children: [node] };
    links.place(root);
    const text = writer.stringify(root).trimEnd();
    if (text === '') continue;
    if (markdown !== '') markdown += '\n\n';
    const pages = items.flatMap(({ places }) => places.map(({ page }) => page));
    const boxes = block.row_places
      ? block.row_places.map((place) => boxesOf(block, [place]))
      : items.map((item) => boxesOf(item));
    block_pages.push({ first_page: pages[0] ?? 1, last_page: Math.max(...pages), boxes });
    markdown += text;
  }
  return { markdown: markdown === '' ? '' : `${links.resolve(markdown)}\n`, block_pages };
}

function nodeOf(items: readonly PdfBlock[], level: Level | undefined): BlockContent {
  const [block] = items;
  if (!block) return { type: 'thematicBreak' };
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
  if (block.kind === 'picture')
    return { type: 'paragraph', children: [{ type: 'image', url: block.runs[0]?.url ?? '' }] };
  if (level !== undefined) {
    const { targets } = block;
    return { type: 'heading', depth: level, children: phrasing(block.runs), ...(targets && { data: { targets } }) };
  }
  if (block.kind === 'text') return { type: 'paragraph', children: [...targetIn(block), ...phrasing(block.runs)] };
  const read = items.map((item) => ({ ...readItem(item.runs), target: targetIn(item) }));
  return {
    type: 'list',
    ordered: read[0]?.ordered ?? false,
    start: read[0]?.start ?? 1,
    spread: false,
    children: read.map(({ runs, target }) => ({
      type: 'listItem',
      spread: false,
      children: [{ type: 'paragraph', children: [...target, ...phrasing(runs)] }],
    })),
  };
}

/** The element that links to a block lead to. */
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
    // The space beside a link is not part of it.
    if (value.startsWith(' ')) content.push({ type: 'text', value: ' ' });
    content.push({ type: 'link', url, children: [{ type: 'text', value: words }] });
    if (value.endsWith(' ')) content.push({ type: 'text', value: ' ' });
  }
  return content;
}

type Level = 1 | 2 | 3 | 4 | 5 | 6;

function headingLevel(block: PdfBlock, levels: ReadonlyMap<number, Level>): Level | undefined {
  const words = wordsOf(block.runs);
  if (block.kind === 'table' || block.kind === 'picture' || words.length > 250) return undefined;
  if (block.level !== undefined) return block.level === 0 ? undefined : (Math.min(block.level, 6) as Level);
  // A line of a table of contents.
  if (/(?:[.·…]\s?){4}/.test(words)) return undefined;
  // "3.1 Traces" is as large as the text and only bolder.
  const [, number = ''] = /^(\d{1,2}(?:\.\d{1,2}){1,3})\.?\s+\p{Lu}.{0,80}[^.,;:]$/u.exec(words) ?? [];
  return (
    levels.get(Math.round(2 * block.size)) ??
    (number === '' ? undefined : (Math.min(number.split('.').length + 1, 4) as Level))
  );
}

/**
 * Heading levels by font size in half points: sizes above that of most of the text are headings, the largest is the
 * title.
 */
function headingLevels(blocks: readonly PdfBlock[]): ReadonlyMap<number, Level> {
  const letters = new Map<number, number>();
  const sizeOf = ({ size }: PdfBlock) => Math.round(2 * size);
  for (const block of blocks) {
    const length = [...block.rows.flat(), block.runs].flat().reduce((sum, { text }) => sum + text.length, 0);
    letters.set(sizeOf(block), (letters.get(sizeOf(block)) ?? 0) + length);
  }
  const usual = [...letters].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
  const larger = [...letters.keys()].filter((size) => size > 1.12 * usual).sort((a, b) => b - a);
  const levels = new Map<number, Level>();
  for (const [i, size] of larger.entries()) levels.set(size, Math.min(i + 1, 4) as Level);
  return levels;
}
