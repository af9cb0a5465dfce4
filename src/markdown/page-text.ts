import type { Element, Root, Text } from 'hast';
import { DESCRIPTION_MAX, lineEndsIn, type OutlineEntry, oneLine, searchable, type TextBlock } from './plain-text.ts';
import { ID_PREFIX } from './safe-addresses.ts';

/** Elements that start and end a line of text; all others are inline. */
const BLOCKS = new Set(
  (
    'blockquote caption dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre section summary table ' +
    'tbody tfoot thead tr ul'
  ).split(' '),
);

/** Containers whose blocks are cited separately. */
const CONTAINERS = new Set('dl ol section table tbody tfoot thead ul'.split(' '));

const FOOTNOTE_LABEL = `${ID_PREFIX}footnote-label`;

/**
 * The text of a page for readers: one line per block, whitespace collapsed as in a browser, code unchanged; with the
 * offsets of its headings, its first paragraph, and the ranges of its blocks in the text and in the Markdown (items of
 * lists and rows of tables are blocks). References to footnotes are left out, because they are not part of a word.
 */
export function readPageText(tree: Root): {
  text: string;
  outline: OutlineEntry[];
  paragraph: string;
  blocks: TextBlock[];
} {
  const outline: OutlineEntry[] = [];
  const blocks: TextBlock[] = [];
  /** The number of top-level blocks that have begun. */
  let parts = 0;
  let text = '';
  let paragraph = '';
  /**
   * The whitespace before the next character: line breaks replace spaces, and neither is written at the beginning or
   * the end.
   */
  let gap = '';
  /** The current line of the Markdown; 0 if unknown. */
  let line = 0;
  /** The lines with words of the current block. */
  let first_line = 0;
  let last_line = 0;

  function add(words: string): void {
    if (words === '') return;
    text += (text === '' ? '' : gap) + searchable(words);
    gap = '';
  }

  function addInline(value: string): void {
    const words = value.replace(/[ \t\n\f\r]+/g, ' ');
    if (words.startsWith(' ') && gap === '') gap = ' ';
    add(words.trim() === '' ? '' : words.replace(/^ | $/g, ''));
    if (words.endsWith(' ') && gap === '') gap = ' ';
  }

  /** A piece of code; others may follow: a highlighted element may end at the end of a line or on the next line. */
  function addCode(value: string): void {
    const code = value.replace(/\n+$/, '');
    add(code);
    gap += value.slice(code.length);
  }

  /** Nodes with a position set the line; others, such as highlighted code, continue from the previous node. */
  function readText({ value, position }: Pick<Text, 'value' | 'position'>, isCode: boolean): void {
    (isCode ? addCode : addInline)(value);
    if (position) line = position.start.line;
    if (line === 0) return;
    const words = value.trim();
    const ends = position?.end.line ?? line + lineEndsIn(value);
    if (words !== '') {
      const from = value.indexOf(words);
      const first = ends === line ? line : line + lineEndsIn(value.slice(0, from));
      const last = ends === line ? line : ends - lineEndsIn(value.slice(from + words.length));
      first_line = first_line === 0 ? first : Math.min(first_line, first);
      last_line = Math.max(last_line, last);
    }
    line = ends;
  }

  /** Ends the block that began at `start`, unless it is empty. */
  function addBlock(start: number): void {
    if (text.length > start) blocks.push({ start, end: text.length, part: parts - 1, first_line, last_line });
    first_line = 0;
    last_line = 0;
  }

  /** `isOutermost`: the content is not part of a block yet. */
  function read(node: Element | Root, isCode: boolean, isOutermost: boolean): void {
    for (const child of node.children) {
      const start = nextOffset();
      if (child.type === 'text') readText(child, isCode);
      if (child.type === 'element') {
        if (node.type === 'root') parts += 1;
        readElement(child, isCode, isOutermost);
      }
      if (isOutermost && child.type === 'text') addBlock(start);
    }
  }

  function nextOffset(): number {
    return text === '' ? 0 : text.length + gap.length;
  }

  function readElement(element: Element, isCode: boolean, isOutermost: boolean): void {
    const { tagName, properties, position } = element;
    line = position?.start.line ?? line;
    if (properties.id === FOOTNOTE_LABEL) return;
    if (properties.dataFootnoteRef !== undefined || properties.dataFootnoteBackref !== undefined) return;
    if (tagName === 'br') gap = '\n';
    if (tagName === 'img') readText({ value: String(properties.alt ?? '') }, false);
    if (tagName === 'td' || tagName === 'th') gap ||= ' ';
    const isBlock = BLOCKS.has(tagName);
    if (isBlock) gap = '\n';
    const isContainer = isOutermost && CONTAINERS.has(tagName);
    const start = nextOffset();
    read(element, isCode || tagName === 'pre', isContainer);
    if (isOutermost && !isContainer) addBlock(start);
    if (/^h[1-6]$/.test(tagName)) {
      const heading = oneLine(text.slice(start), Number.POSITIVE_INFINITY);
      const anchor = String(properties.id ?? '');
      if (heading !== '') outline.push({ level: Number(tagName.slice(1)), text: heading, anchor, offset: start });
    }
    if (tagName === 'p' && paragraph === '') paragraph = oneLine(wordsOf(element), DESCRIPTION_MAX);
    if (isBlock) gap = '\n';
  }

  read(tree, false, true);
  const trimmed = text.trimEnd();
  const last = blocks.at(-1);
  if (last) last.end = Math.min(last.end, trimmed.length);
  return { text: trimmed, outline, paragraph, blocks };
}

/** The words of an element without its pictures, which at the top of a document are usually badges. */
function wordsOf(element: Element): string {
  let words = '';
  for (const child of element.children) {
    if (child.type === 'text') words += child.value;
    if (child.type === 'element' && child.properties.dataFootnoteRef === undefined) {
      words += child.tagName === 'br' ? '\n' : wordsOf(child);
    }
  }
  return words;
}
