import { type IndexedText, indexBody } from './analysis/document-terms.ts';
import { DESCRIPTION_MAX } from './analysis/page-terms.ts';
import { type ContextKeys, NO_CONTEXT } from './blocks/block-context.ts';
import { formOf, withoutMarks } from './blocks/block-form.ts';

/** A rendered page with the data for search and outline. Offsets and lengths are in UTF-16 units. */
export interface Rendered {
  /** A safe fragment of HTML: no content of the text can run in a reader's browser. */
  html: string;
  /** The text without markup, one line per block, code unchanged, without front matter. */
  text: string;
  outline: OutlineEntry[];
  /** The index data of the text. */
  indexed: IndexedText;
  /** The index data of the text alone, without headings and links, as sources are indexed. */
  text_indexed: IndexedText;
  word_count: number;
  /**
   * The title of the front matter, otherwise the first heading of level 1, otherwise a heading at the beginning of the
   * text, otherwise "". At most 255 characters.
   */
  title: string;
  /** The description of the front matter, otherwise the first paragraph, otherwise "". At most 300 characters. */
  description: string;
  /** `lang` of the front matter; "" if missing. */
  language: string;
  /** The tags of the front matter, each once, at most 50 of at most 100 characters. */
  tags: string[];
  /** The other fields of the front matter. */
  properties: Property[];
  /** The ranges of blocks in `text`, in order. */
  blocks: TextBlock[];
  /** The targets of wiki links, each once, in the order of the text. */
  wiki_links: WikiLinkTo[];
}

/** A paragraph, a heading, an item of a list, a row of a table: [start, end) in the text. */
export interface TextBlock {
  start: number;
  end: number;
  /** The index of the top-level block that contains this block, from 0. */
  part: number;
  /** The lines of the Markdown with the block's first and last word, counted from 1; 0 if unknown. */
  first_line: number;
  last_line: number;
  /**
   * The index of the block's element among the block elements of the page, including empty ones, from 0; -1 for text
   * outside of them.
   */
  element: number;
  /** The statement of the block, for comparison: see block-form.ts. */
  form: string;
  /** The headings and place of the block: see block-context.ts. */
  context: ContextKeys;
  /** Its links and pictures as written: see block-targets.ts. */
  targets: string[];
}

/** A field of the front matter; the values of a list are joined by commas. */
export interface Property {
  name: string;
  value: string;
}

export interface WikiLinkTo {
  /** As written, with whitespace collapsed. */
  target: string;
  /** The path of the target page; "" if it is missing. */
  path: string;
  /** The line of its first occurrence, from 1; 0 if unknown. */
  line: number;
}

export interface OutlineEntry {
  /** 1 to 6. */
  level: number;
  text: string;
  /** The heading's id in `html`. */
  anchor: string;
  /** The offset of the heading in `text`. */
  offset: number;
}

/**
 * The reason why a page is shown as plain text: it exceeds the limits of depth and size, of time or of memory, or
 * rendering failed. "" for a rendered page.
 */
export type PlainReason = '' | 'too_complex' | 'too_slow' | 'out_of_memory' | 'failed';

export const TITLE_MAX = 255;

/** Renders a text as <pre>, if it cannot be rendered within the limits of time, depth or memory. */
export function renderPlainText(text: string): Rendered {
  const [paragraph = ''] = text.trimStart().split(/\n[ \t]*\n/, 1);
  const shown = searchable(text);
  const text_indexed = indexBody(shown);
  return {
    // HTML parsers drop a line break right after <pre>, so this one protects a leading line break of the text.
    html: `<pre>\n${escapeHtml(text)}</pre>`,
    text: shown,
    outline: [],
    indexed: text_indexed,
    text_indexed,
    word_count: countWords(text),
    title: '',
    description: oneLine(paragraph.slice(0, 10 * DESCRIPTION_MAX), DESCRIPTION_MAX),
    language: '',
    tags: [],
    properties: [],
    blocks: [
      {
        start: 0,
        end: shown.length,
        part: 0,
        element: 0,
        form: formOf([withoutMarks(shown)]),
        context: NO_CONTEXT,
        targets: [],
        ...linesOfWords(shown),
      },
    ],
    wiki_links: [],
  };
}

function linesOfWords(text: string): Pick<TextBlock, 'first_line' | 'last_line'> {
  const words = text.trim();
  const first_line = 1 + lineEndsIn(text.slice(0, text.indexOf(words)));
  return { first_line, last_line: first_line + lineEndsIn(words) };
}

/** The number of line endings in a text. */
export function lineEndsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Removes the two control characters that mark matches in search passages, so that a text cannot forge marks. */
export function searchable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes control characters
  return /[\u0002\u0003]/.test(text) ? text.replace(/[\u0002\u0003]/g, '') : text;
}

/**
 * Collapses whitespace, removes changes of direction, and truncates to `length` UTF-16 units without splitting a
 * character.
 */
export function oneLine(text: string, length: number): string {
  const line = text.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
  return line
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd();
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&#x26;').replaceAll('<', '&#x3C;');
}

/** Chinese and Japanese are counted by character, other scripts by the spaces between words. */
const BY_CHARACTER = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
const WORD = new RegExp(String.raw`${BY_CHARACTER}|[\p{L}\p{N}](?:(?!${BY_CHARACTER})[\p{L}\p{N}\p{M}_'’\-])*`, 'gu');

/** WORD for lines of ASCII characters only. */
const ASCII_WORD = /[A-Za-z0-9][\w'-]*/g;
const ASCII = /^[\x20-\x7e\t\r]*$/;

/** Counts the words of a text: close to a human count, and a hundred times as fast as Intl.Segmenter. */
export function countWords(text: string): number {
  let words = 0;
  // No word spans a line end. Most lines are ASCII, for which the simpler pattern is much faster.
  for (const line of text.split('\n')) {
    const word = ASCII.test(line) ? ASCII_WORD : WORD;
    word.lastIndex = 0;
    while (word.test(line)) words += 1;
  }
  return words;
}
