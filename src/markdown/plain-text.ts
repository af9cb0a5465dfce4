import { type IndexedText, indexBody } from '../analysis/document-terms.ts';

/** What a page shows, and what search and the tree of pages need of it. Offsets and lengths are in UTF-16 units. */
export interface Rendered {
  /** A safe fragment: nothing that the text holds can run in a reader's browser. */
  html: string;
  /** Without markup, each block on a line of its own, code as it is, front matter left out. */
  text: string;
  outline: OutlineEntry[];
  /** What searches need of the text. */
  indexed: IndexedText;
  word_count: number;
  /** The title in the front matter, else the first heading, else "". At most 255 characters. */
  title: string;
  /** The description in the front matter, else the first paragraph, else "". At most 300 characters. */
  description: string;
  /** The front matter's `lang`, else "". */
  language: string;
  /** Where its blocks stand in `text`, in its order. */
  blocks: TextBlock[];
  /** The pages that it links to as `[[Target]]`, each target once, in the order of the text. */
  wiki_links: WikiLinkTo[];
}

/** A paragraph, a heading, an item of a list, a row of a table: [start, end) in the text. */
export interface TextBlock {
  start: number;
  end: number;
  /** Which of the blocks that the document itself consists of it belongs to, from 0. */
  part: number;
  /** The lines of the Markdown on which its first and its last word are, counted from 1; 0 where that is not known. */
  first_line: number;
  last_line: number;
}

export interface WikiLinkTo {
  /** As the author wrote it, with single spaces. */
  target: string;
  /** The path of the page that was found; "" where there is none, and the link is shown as missing. */
  path: string;
}

export interface OutlineEntry {
  /** 1 to 6. */
  level: number;
  text: string;
  /** The heading's id in `html`. */
  anchor: string;
  /** Where the heading starts in `text`. */
  offset: number;
}

/**
 * Why a page shows its text as it is: what the text asks for is beyond the bounds of depth and size, of time or of memory,
 * or rendering it failed. "" where the page shows what the text says.
 */
export type PlainReason = '' | 'too_complex' | 'too_slow' | 'out_of_memory' | 'failed';

export const TITLE_MAX = 255;
export const DESCRIPTION_MAX = 300;

/** Shows a text as it is, in <pre>: for what cannot be rendered within its bounds of time, depth or memory. */
export function renderPlainText(text: string): Rendered {
  const [paragraph = ''] = text.trimStart().split(/\n[ \t]*\n/, 1);
  const shown = searchable(text);
  return {
    // A line break right behind <pre> is not shown, so the text's own one would be lost without it.
    html: `<pre>\n${escapeHtml(text)}</pre>`,
    text: shown,
    outline: [],
    indexed: indexBody(shown),
    word_count: countWords(text),
    title: '',
    description: oneLine(paragraph.slice(0, 10 * DESCRIPTION_MAX), DESCRIPTION_MAX),
    language: '',
    blocks: [{ start: 0, end: shown.length, part: 0, ...linesOfWords(shown) }],
    wiki_links: [],
  };
}

function linesOfWords(text: string): Pick<TextBlock, 'first_line' | 'last_line'> {
  const words = text.trim();
  const first_line = 1 + lineEndsIn(text.slice(0, text.indexOf(words)));
  return { first_line, last_line: first_line + lineEndsIn(words) };
}

/** How many lines a text ends. */
export function lineEndsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Without the two control characters that a search marks its passages with, so that no text can set such marks. */
export function searchable(text: string): string {
  return /[\u0002\u0003]/.test(text) ? text.replace(/[\u0002\u0003]/g, '') : text;
}

/** `text` with every run of whitespace as one space, cut to `length`, never in the middle of a character. */
export function oneLine(text: string, length: number): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd();
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&#x26;').replaceAll('<', '&#x3C;');
}

/** Chinese and Japanese are counted by the character; every other script by what stands between spaces. */
const BY_CHARACTER = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
const WORD = new RegExp(String.raw`${BY_CHARACTER}|[\p{L}\p{N}](?:(?!${BY_CHARACTER})[\p{L}\p{N}\p{M}_'’\-])*`, 'gu');

/** How many words a text has: close to what people count, and a hundred times as fast as Intl.Segmenter. */
export function countWords(text: string): number {
  let words = 0;
  WORD.lastIndex = 0;
  while (WORD.test(text)) words += 1;
  return words;
}
