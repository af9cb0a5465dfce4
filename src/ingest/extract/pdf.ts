import type { BlockContent, PhrasingContent, Root } from 'mdast';
import { getDocument, type PDFDocumentProxy, type PDFPageProxy } from 'unpdf/pdfjs';
import type { ExtractedDocument, PageRange } from './extract.ts';
import { ExtractError } from './extract-error.ts';
import { markdownWriter } from './markdown-writer.ts';
import { blocksOfColumn, joinRuns, type PdfBlock, readItem } from './pdf-blocks.ts';
import { inReadingOrder, type Line, linesOf, type PlacedText, type Run, wordsOf } from './pdf-lines.ts';

/** A book of this length takes half a minute; nobody reads more on a page of a wiki. */
const PAGES_MAX = 2_000;

const writer = markdownWriter({ tablePipeAlign: false });

/** A page as its lines, in points. */
interface PdfPage {
  height: number;
  bottom: number;
  lines: Line[];
}

/**
 * What a PDF says, in the order in which it is read: headings by the size of their letters, paragraphs put together from
 * their lines, lists, simple tables and links to the web; without the lines that every page repeats. `block_pages` say
 * which block is from which page. Throws an ExtractError for one that is protected, broken or without text.
 */
export async function readPdf(bytes: Uint8Array): Promise<ExtractedDocument> {
  const document = await openPdf(bytes);
  if (document.numPages > PAGES_MAX) {
    throw new ExtractError(
      'too_large',
      `the PDF has more than ${PAGES_MAX.toLocaleString('en')} pages; split it, and upload its parts`,
    );
  }
  const pages: PdfPage[] = [];
  let broken = 0;
  for (let number = 1; number <= document.numPages; number += 1) {
    try {
      pages.push(await readPage(await document.getPage(number)));
    } catch {
      // One page that cannot be read is no reason to lose the others; a document of none is refused below.
      broken += 1;
      pages.push({ height: 0, bottom: 0, lines: [] });
    }
  }
  const { markdown, block_pages } = writeBlocks(blocksOf(withoutRepeated(pages)));
  if (markdown.trim() === '') {
    throw broken > 0
      ? unreadable()
      : new ExtractError(
          'empty_file',
          'the PDF holds no text (it may be a scan); run text recognition (OCR) over it and upload it again',
        );
  }
  return { kind: 'pdf', markdown, title: '', language: '', content_type: 'application/pdf', block_pages };
}

async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  try {
    return await getDocument({
      data: bytes,
      // Nothing from anywhere else: no fonts of the system, no files, no addresses.
      useSystemFonts: false,
      disableFontFace: true,
      useWorkerFetch: false,
      enableXfa: false,
      maxImageSize: 1,
      verbosity: 0,
    }).promise;
  } catch (error) {
    if ((error as Error).name === 'PasswordException') {
      throw new ExtractError(
        'unreadable',
        'the PDF is protected by a password; save it without one and upload it again',
      );
    }
    throw unreadable();
  }
}

function unreadable(): ExtractError {
  return new ExtractError('unreadable', 'the PDF is damaged and cannot be read; save it anew and upload it again');
}

async function readPage(page: PDFPageProxy): Promise<PdfPage> {
  const [, bottom = 0, , top = 0] = page.view;
  const { items } = await page.getTextContent({ disableNormalization: false });
  const links = await linksOf(page);
  const texts: PlacedText[] = [];
  for (const item of items) {
    if (!('str' in item)) continue;
    const [a, b, c, d, x, y] = item.transform as [number, number, number, number, number, number];
    // What runs up the margin is a stamp.
    if (Math.abs(b) > Math.abs(a)) continue;
    const size = Math.hypot(c, d) || item.height;
    const middle = { x: x + item.width / 2, y: y + size / 3 };
    const link = links.find(
      (area) => area.x0 <= middle.x && middle.x <= area.x1 && area.y0 <= middle.y && middle.y <= area.y1,
    );
    texts.push({ text: item.str.replace(/\s+/g, ' '), x, y, width: item.width, size, url: link?.url ?? '' });
  }
  page.cleanup();
  return { height: top - bottom, bottom, lines: linesOf(texts) };
}

interface LinkArea {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  url: string;
}

async function linksOf(page: PDFPageProxy): Promise<LinkArea[]> {
  const annotations = (await page.getAnnotations()) as { subtype?: string; url?: string; rect?: number[] }[];
  return annotations.flatMap(({ subtype, url, rect }) => {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = rect ?? [];
    return subtype === 'Link' && url !== undefined && /^https?:\/\//i.test(url) ? [{ x0, y0, x1, y1, url }] : [];
  });
}

/** Headers and footers: lines at the edge of a page that stand on many pages, but for their numbers; and bare numbers. */
function withoutRepeated(pages: readonly PdfPage[]): PdfPage[] {
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

function blocksOf(pages: readonly PdfPage[]): PdfBlock[] {
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
        Object.assign(open, { isFull: block.isFull, last_page: block.last_page });
      }
    }
  }
  return blocks;
}

/** The paragraph that a block at the top of a column goes on with: past footnotes, which are set smaller. */
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

function writeBlocks(blocks: readonly PdfBlock[]): { markdown: string; block_pages: PageRange[] } {
  const levels = headingLevels(blocks);
  const block_pages: PageRange[] = [];
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
    const text = writer.stringify(root).trimEnd();
    if (text === '') continue;
    if (markdown !== '') markdown += '\n\n';
    block_pages.push({
      first_page: block.first_page,
      last_page: Math.max(...items.map(({ last_page }) => last_page)),
    });
    markdown += text;
  }
  return { markdown: markdown === '' ? '' : `${markdown}\n`, block_pages };
}

function nodeOf(items: readonly PdfBlock[], level: Level | undefined): BlockContent {
  const [block] = items;
  if (!block) return { type: 'thematicBreak' };
  if (block.kind === 'table') {
    return {
      type: 'table',
      children: block.rows.map((row) => ({
        type: 'tableRow',
        children: row.map((runs) => ({ type: 'tableCell', children: phrasing(runs) })),
      })),
    };
  }
  if (level !== undefined) return { type: 'heading', depth: level, children: phrasing(block.runs) };
  if (block.kind === 'text') return { type: 'paragraph', children: phrasing(block.runs) };
  const read = items.map(({ runs }) => readItem(runs));
  return {
    type: 'list',
    ordered: read[0]?.ordered ?? false,
    start: read[0]?.start ?? 1,
    spread: false,
    children: read.map(({ runs }) => ({
      type: 'listItem',
      spread: false,
      children: [{ type: 'paragraph', children: phrasing(runs) }],
    })),
  };
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
    // The space beside a link is no part of it.
    if (value.startsWith(' ')) content.push({ type: 'text', value: ' ' });
    content.push({ type: 'link', url, children: [{ type: 'text', value: words }] });
    if (value.endsWith(' ')) content.push({ type: 'text', value: ' ' });
  }
  return content;
}

type Level = 1 | 2 | 3 | 4;

function headingLevel(block: PdfBlock, levels: ReadonlyMap<number, Level>): Level | undefined {
  const words = wordsOf(block.runs);
  if (block.kind === 'table' || words.length > 250) return undefined;
  // "3.1 Traces" is set as large as the text, and only bolder.
  const [, number = ''] = /^(\d{1,2}(?:\.\d{1,2}){1,3})\.?\s+\p{Lu}.{0,80}[^.,;:]$/u.exec(words) ?? [];
  return (
    levels.get(Math.round(2 * block.size)) ??
    (number === '' ? undefined : (Math.min(number.split('.').length + 1, 4) as Level))
  );
}

/** Levels by size in half points: what is set larger than most of the text is a heading, the largest is the title. */
function headingLevels(blocks: readonly PdfBlock[]): ReadonlyMap<number, Level> {
  const letters = new Map<number, number>();
  const sizeOf = ({ size }: PdfBlock) => Math.round(2 * size);
  for (const block of blocks) {
    const length = block.runs.reduce((sum, { text }) => sum + text.length, 0);
    letters.set(sizeOf(block), (letters.get(sizeOf(block)) ?? 0) + length);
  }
  const usual = [...letters].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
  const larger = [...letters.keys()].filter((size) => size > 1.12 * usual).sort((a, b) => b - a);
  const levels = new Map<number, Level>();
  for (const [i, size] of larger.entries()) levels.set(size, Math.min(i + 1, 4) as Level);
  return levels;
}
