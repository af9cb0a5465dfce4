import { SEARCHED_CHARACTERS } from '../../analysis/document-terms.ts';
import { numberedSlug, slugFrom } from '../../core/slug.ts';
import { TITLE_MAX } from '../../markdown/plain-text.ts';
import type { Extracted, PageRange } from '../formats/extract.ts';
import type { LineRun } from '../source-lines.ts';
import { type FragmentLink, fragmentLinks } from './anchors.ts';
import { type Block, blocksOf } from './blocks.ts';
import { linesOfParts } from './part-lines.ts';
import { pieceTogether, shortEnough } from './pieces.ts';
import { type LongPart, withReferences } from './references.ts';

/**
 * A document whose Markdown is longer than this, in UTF-16 units, becomes several pages. Of a page that is no longer a
 * search finds every word. It is a sixth of what a page can hold, 40,000 words of English: a thesis stays one page, a book
 * does not.
 */
const LONG = SEARCHED_CHARACTERS;

/** Lengths of Markdown, in UTF-16 units. */
interface Lengths {
  /** Of a page at most, but for what nothing divides. */
  page: number;
  /** Of pages that no heading divides. */
  part: number;
  /** What stands before the only heading of its level is a preface up to here, and a section of its own beyond. */
  preface: number;
  /** What is parsed at a time, or a bit more. */
  window: number;
}

/** A part is about forty pages of a book. A tree takes a hundred times the memory of its text. */
const LENGTHS: Lengths = { page: LONG, part: 100_000, preface: 20_000, window: 2 ** 15 };

/** A page of a document that was divided. The first one is the index; each other one comes behind the one it is under. */
export interface Part {
  /** Which part it is under, by number; -1 for the index. */
  parent: number;
  /** A slug, no other part under the same one has it; "" for the index. */
  name: string;
  title: string;
  /** Of a part with others under it what stands before their first, and "" where nothing does. */
  markdown: string;
  block_pages: readonly PageRange[];
  /** Whether it begins with the head of a table that begins in the part before. */
  repeatsHead: boolean;
  /** Which lines of the file its Markdown is from. */
  lines: LineRun[];
  /** Links of its text to headings that are in other parts, or go by another id now that the document is divided. */
  links: FragmentLink[];
}

/** Whether a document is too long for one page. A table says by itself what of it is shown. */
export function isLong({ kind, markdown }: Extracted): boolean {
  return kind !== 'csv' && markdown.length > LONG;
}

/**
 * Divides a document at its headings: at the first level that there is more than one of, and what is too long then at the
 * next. What has no headings is divided between blocks. Definitions and footnotes come to each part that refers to them.
 * `onWindow` is told how long each piece is before it is parsed.
 */
export function split(
  { markdown, block_pages = [], lines }: Pick<Extracted, 'markdown' | 'block_pages' | 'lines'>,
  title: string,
  onWindow: (length: number) => void = () => undefined,
  lengths = LENGTHS,
): Part[] {
  const blocks = blocksOf(markdown, lengths.window, onWindow);
  // Whoever counted the pages counted other blocks: then nothing is known of them.
  const pages = blocks.length === block_pages.length ? block_pages : [];
  const parts: LongPart[] = [];
  add(-1, { name: '', title, blocks, isDivided: true });
  onWindow(markdown.length);
  const whole = withoutEmpty(withReferences(parts, blocks, markdown));
  const links = fragmentLinks(whole, markdown);
  const linesOf = linesOfParts(markdown, lines);
  return whole.map(({ parent, name, title, blocks }, i) => ({
    parent,
    name,
    title,
    markdown: pieceTogether(blocks, markdown),
    block_pages: pages.length === 0 ? [] : blocks.flatMap(({ no }) => pages[no] ?? []),
    repeatsHead: blocks[0]?.repeatsHead ?? false,
    lines: linesOf(blocks),
    links: links[i] ?? [],
  }));

  function add(parent: number, section: Section): void {
    const at = parts.length;
    const { name, title } = section;
    parts.push({ parent, name, title, blocks: section.blocks });
    if (!section.isDivided || lengthOf(section.blocks) <= lengths.page) return;
    const { lead, sections } = sectionsOf(section, parent >= 0);
    const own = parts[at];
    if (!own || sections.length === 0) return;
    own.blocks = lead;
    const freeName = freeNames();
    for (const below of sections) add(at, { ...below, name: freeName(below.name) });
  }

  /** `isSection`: it begins with its own heading. */
  function sectionsOf({ blocks, ...section }: Section, isSection: boolean): { lead: Block[]; sections: Section[] } {
    let from = isSection || blocks[0]?.type === 'yaml' ? 1 : 0;
    let headings = headingsOf(blocks, from);
    // One heading above all others, with hardly anything before it, is what the document is called.
    for (;;) {
      const [only, another] = headings;
      if (only === undefined || another !== undefined || lengthOf(blocks.slice(0, only)) > lengths.preface) break;
      from = only + 1;
      headings = headingsOf(blocks, from);
    }
    const title = blocks[from - 1]?.words || section.title;
    const [first] = headings;
    const lead = blocks.slice(0, first);
    const sections = headings.map((start, i) => sectionOf(blocks.slice(start, headings[i + 1]), title, i));
    if (lengthOf(lead) <= lengths.page) return { lead, sections };
    const cut = cutBetweenBlocks(lead.slice(from), title);
    return { lead: cut.length === 0 ? lead : lead.slice(0, from), sections: [...cut, ...sections] };
  }

  function cutBetweenBlocks(blocks: readonly Block[], title: string): Section[] {
    const cut: Block[][] = [];
    let open: Block[] = [];
    let length = 0;
    for (const block of shortEnough(blocks, markdown, lengths.part, lengths.page)) {
      const last = open.at(-1);
      const isNewPage =
        pages.length === 0 || !last || (pages[last.no]?.last_page ?? 0) < (pages[block.no]?.first_page ?? 0);
      const own = block.end - block.start;
      const isTooLong = length + own > lengths.page || (length + own / 2 >= lengths.part && isNewPage);
      // Pieces of one block are as long as a page of them should be.
      if (last && (isTooLong || last.no === block.no)) {
        cut.push(open);
        open = [];
        length = 0;
      }
      open.push(block);
      length += own;
    }
    if (open.length > 0) cut.push(open);
    if (cut.length < 2) return [];
    return cut.map((each, i) => ({ ...calledByPages(each, pages, title, i), blocks: each, isDivided: false }));
  }
}

/** Without parts whose definitions were all that they had, and went to those that refer to them. */
function withoutEmpty(parts: readonly LongPart[]): LongPart[] {
  const parents = new Set(parts.map(({ parent }) => parent));
  const numbers = new Map<number, number>();
  return parts.flatMap((part, i) => {
    if (part.parent >= 0 && part.blocks.length === 0 && !parents.has(i)) return [];
    numbers.set(i, numbers.size);
    return [{ ...part, parent: numbers.get(part.parent) ?? -1 }];
  });
}

interface Section {
  name: string;
  title: string;
  blocks: Block[];
  /** Whether it may be divided further. */
  isDivided: boolean;
}

/** The headings from `from` on that are of the highest level there is; a level with one heading alone is only that one. */
function headingsOf(blocks: readonly Block[], from: number): number[] {
  const all = blocks.flatMap(({ depth }, i) => (depth > 0 && i >= from ? [i] : []));
  const highest = all.reduce((depth, i) => Math.min(depth, blocks[i]?.depth ?? depth), 6);
  return all.filter((i) => blocks[i]?.depth === highest);
}

/** A document has so many sections of the same title that each name is not looked for from the beginning. */
function freeNames(): (name: string) => string {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return (name) => {
    let free = name;
    let n = counts.get(name) ?? 1;
    while (taken.has(free)) free = numberedSlug(name, (n += 1));
    counts.set(name, n);
    taken.add(free);
    return free;
  };
}

function sectionOf(blocks: Block[], title: string, i: number): Section {
  const words = blocks[0]?.words || numbered(title, i + 1);
  return { name: slugFrom(words, 'section'), title: words, blocks, isDivided: true };
}

function calledByPages(blocks: readonly Block[], pages: readonly PageRange[], title: string, i: number) {
  const [first, last] = [pages[blocks[0]?.no ?? -1]?.first_page, pages[blocks.at(-1)?.no ?? -1]?.last_page];
  if (first === undefined || last === undefined) return { name: `part-${i + 1}`, title: numbered(title, i + 1) };
  if (first === last) return { name: `page-${first}`, title: `Page ${first}` };
  return { name: `pages-${first}-${last}`, title: `Pages ${first}–${last}` };
}

function numbered(title: string, n: number): string {
  const ending = ` (${n})`;
  return title.slice(0, TITLE_MAX - ending.length) + ending;
}

function lengthOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { start, end }) => sum + end - start + 2, 0);
}
