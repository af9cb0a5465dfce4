import { TITLE_MAX } from '@ibid/markdown/plain-text.ts';
import { numberedPageSlug, pageSlugFrom } from '@ibid/markdown/slugs/page-slug.ts';
import type { Extracted, PageRange } from '../formats/extracted.ts';
import type { LineRun } from '../source-lines.ts';
import { type FragmentLink, fragmentLinks } from './anchors.ts';
import { type Block, blocksOf } from './blocks.ts';
import { linesOfParts } from './part-lines.ts';
import { joinBlocks, splitLongBlocks } from './pieces.ts';
import { type LongPart, withReferences } from './references.ts';

/**
 * Documents with more Markdown than this, in UTF-16 units, are split. It is a sixth of the limit of a page, or 40,000
 * English words: a thesis stays one page, a book does not.
 */
const LONG_DOCUMENT = 250_000;

/** Lengths of Markdown, in UTF-16 units. */
interface Lengths {
  /** The maximum length of a page, unless a block cannot be split. */
  page: number;
  /** The target length of pages that are split without headings. */
  part: number;
  /** Text before the only heading of its level is a preface up to this length, and a section of its own beyond. */
  preface: number;
  /** The minimum length of a window for parsing. */
  window: number;
}

/**
 * The maximum number of subsections of one section that become parts. More are entries, as in a dictionary, and are
 * grouped into pages of the target length.
 */
const SECTIONS_MAX = 10_000;

/** A part is about forty pages of a book. A syntax tree takes a hundred times the memory of its text. */
const LENGTHS: Lengths = { page: LONG_DOCUMENT, part: 100_000, preface: 20_000, window: 2 ** 15 };

/** A page of a split document. The first one is the index; parents come before their children. */
export interface Part {
  /** The index of the parent part; -1 for the index page. */
  parent: number;
  /** A slug that is unique below its parent; "" for the index. */
  name: string;
  title: string;
  /** The part's text; if the part has children, only the text before the first child, which may be "". */
  markdown: string;
  block_pages: readonly PageRange[];
  /** Whether it begins with the repeated head of a table from the previous part. */
  repeatsHead: boolean;
  /** The lines of the file from which its Markdown was made. */
  lines: LineRun[];
  /** Links to headings that are in other parts, or have another id, after splitting. */
  links: FragmentLink[];
}

/** Tells whether a document is too long for one page. Tables are truncated instead. */
export function isLong({ kind, markdown }: Extracted): boolean {
  return kind !== 'csv' && markdown.length > LONG_DOCUMENT;
}

/**
 * Splits a document at its headings: at the first level with more than one heading; parts that are too long are split
 * again at the next level. Without headings it is split between blocks. Definitions and footnotes are added to each
 * part that refers to them. Calls `onWindow` with the length of each window before it is parsed.
 */
export function split(
  { markdown, block_pages = [], lines }: Pick<Extracted, 'markdown' | 'block_pages' | 'lines'>,
  title: string,
  onWindow: (length: number) => void = () => undefined,
  lengths = LENGTHS,
): Part[] {
  const blocks = blocksOf(markdown, lengths.window, onWindow);
  // If the counts differ, the page ranges belong to other blocks and are ignored.
  const pages = blocks.length === block_pages.length ? block_pages : [];
  const parts: LongPart[] = [];
  addParts(parts, -1, { name: '', title, blocks, isSplittable: true }, { markdown, pages, lengths });
  onWindow(markdown.length);
  const whole = removeEmptyParts(withReferences(parts, blocks, markdown));
  const links = fragmentLinks(whole, markdown);
  const linesOf = linesOfParts(markdown, lines);
  return whole.map(({ parent, name, title, blocks }, i) => ({
    parent,
    name,
    title,
    markdown: joinBlocks(blocks, markdown),
    block_pages: pages.length === 0 ? [] : blocks.flatMap(({ no }) => pages[no] ?? []),
    repeatsHead: blocks[0]?.repeatsHead ?? false,
    lines: linesOf(blocks),
    links: links[i] ?? [],
  }));
}

/** The document to split, and the lengths to split it by. */
interface Whole {
  markdown: string;
  /** The pages of each block; empty for documents without pages. */
  pages: readonly PageRange[];
  lengths: typeof LENGTHS;
}

/** Adds a section as a part below `parent`, and its subsections as parts below it. */
function addParts(parts: LongPart[], parent: number, section: Section, whole: Whole): void {
  const at = parts.length;
  const { name, title } = section;
  parts.push({ parent, name, title, blocks: section.blocks });
  if (!section.isSplittable || lengthOf(section.blocks) <= whole.lengths.page) return;
  const { lead, sections } = sectionsOf(section, parent >= 0, whole);
  const own = parts[at];
  if (!own || sections.length === 0) return;
  own.blocks = lead;
  const uniqueName = uniqueNames();
  for (const below of sections) addParts(parts, at, { ...below, name: uniqueName(below.name) }, whole);
}

/** Divides a section into its lead and subsections. `isSection`: it begins with its own heading. */
function sectionsOf(
  { blocks, ...section }: Section,
  isSection: boolean,
  whole: Whole,
): { lead: Block[]; sections: Section[] } {
  const { lengths } = whole;
  let from = isSection || blocks[0]?.type === 'yaml' || blocks[0]?.type === 'toml' ? 1 : 0;
  let headings = headingsOf(blocks, from);
  // A single heading above all others, with little text before it, is the title of the document.
  for (;;) {
    const [only, another] = headings;
    if (only === undefined || another !== undefined || lengthOf(blocks.slice(0, only)) > lengths.preface) break;
    from = only + 1;
    headings = headingsOf(blocks, from);
  }
  const title = blocks[from - 1]?.words || section.title;
  const [first] = headings;
  const lead = blocks.slice(0, first);
  const sections =
    headings.length > SECTIONS_MAX
      ? cutBetweenBlocks(blocks.slice(first), title, whole)
      : headings.map((start, i) => sectionOf(blocks.slice(start, headings[i + 1]), title, i));
  if (lengthOf(lead) <= lengths.page) return { lead, sections };
  const cut = cutBetweenBlocks(lead.slice(from), title, whole);
  return { lead: cut.length === 0 ? lead : lead.slice(0, from), sections: [...cut, ...sections] };
}

function cutBetweenBlocks(blocks: readonly Block[], title: string, { markdown, pages, lengths }: Whole): Section[] {
  const cut: Block[][] = [];
  let open: Block[] = [];
  let length = 0;
  for (const block of splitLongBlocks(blocks, markdown, lengths.part, lengths.page)) {
    const last = open.at(-1);
    const isNewPage =
      pages.length === 0 || !last || (pages[last.no]?.last_page ?? 0) < (pages[block.no]?.first_page ?? 0);
    const own = block.end - block.start;
    const isTooLong = length + own > lengths.page || (length + own / 2 >= lengths.part && isNewPage);
    // Pieces of one block have the target length already.
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
  return cut.map((each, i) => ({ ...calledByPages(each, pages, title, i), blocks: each, isSplittable: false }));
}

/** Drops parts that contained only definitions, which were moved to the parts that refer to them. */
function removeEmptyParts(parts: readonly LongPart[]): LongPart[] {
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
  /** Whether it may be split further. */
  isSplittable: boolean;
}

/** Returns the headings of the highest level from `from` on. */
function headingsOf(blocks: readonly Block[], from: number): number[] {
  const all = blocks.flatMap(({ depth }, i) => (depth > 0 && i >= from ? [i] : []));
  const highest = all.reduce((depth, i) => Math.min(depth, blocks[i]?.depth ?? depth), 6);
  return all.filter((i) => blocks[i]?.depth === highest);
}

/**
 * Returns a function that makes names unique. Keeps a counter per name: a document may have thousands of sections with
 * the same title.
 */
function uniqueNames(): (name: string) => string {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return (name) => {
    let free = name;
    let n = counts.get(name) ?? 1;
    while (taken.has(free)) free = numberedPageSlug(name, (n += 1));
    counts.set(name, n);
    taken.add(free);
    return free;
  };
}

function sectionOf(blocks: Block[], title: string, i: number): Section {
  const words = blocks[0]?.words || numbered(title, i + 1);
  return { name: pageSlugFrom(words, 'section'), title: words, blocks, isSplittable: true };
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
