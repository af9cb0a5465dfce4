import { parseMarkdown, TooComplexError, visit } from '@ibid/markdown/parse-markdown.ts';
import { oneLine, TITLE_MAX } from '@ibid/markdown/plain-text.ts';
import { anchorOf, headingAnchor } from '@ibid/markdown/safe-addresses.ts';
import type { Heading, Node, Nodes, RootContent } from 'mdast';
import { windowsOf } from './windows.ts';

/** A top-level block of a document, with the data for splitting. */
export interface Block {
  /** The index in the order of the document; the pieces of a block that was too long share it. */
  no: number;
  type: RootContent['type'] | 'piece';
  /** [start, end) of the Markdown, in UTF-16 units, from the beginning of a line. */
  start: number;
  end: number;
  /** Level (1 to 6) and words of a heading; otherwise 0 and "". */
  depth: number;
  words: string;
  /** The label of a definition in lower case, or of a footnote with a leading ^; otherwise "". */
  identifier: string;
  /** The ids of its headings and HTML on a page, before they are made unique. */
  ids: string[];
  /**
   * The pieces that the block may be split into if it is too long, each beginning a line: list items, table rows,
   * blocks of a quote.
   */
  items: BlockItem[];
  /** The first number of a numbered list; otherwise undefined. */
  first: number | undefined;
  /** The text that a piece needs before and after it to have the same meaning. */
  before: string;
  after: string;
  /** The offset of `before` in the document. */
  before_at: number;
  /** Whether `before` is the head of a table that starts in the previous part. */
  repeatsHead: boolean;
}

export interface BlockItem extends Pick<Block, 'start' | 'ids'> {
  /** Whether it consists of a single paragraph. */
  isSimple: boolean;
}

/**
 * Returns the top-level blocks of a document, by the same parser as pages, so that heading markers in code, quotes or
 * HTML are ignored. Parses windows of about `window` UTF-16 units, so that the whole tree is never in memory, and calls
 * `onWindow` with the length of each before parsing. A window that is too complex to parse is one block, which its page
 * shows as plain text.
 */
export function blocksOf(markdown: string, window: number, onWindow: (length: number) => void): Block[] {
  const blocks: Block[] = [];
  for (const { start, end, head } of windowsOf(markdown, window)) {
    onWindow(head.length + end - start);
    const from = start - head.length;
    const [first, ...others] = childrenOf(head + markdown.slice(start, end));
    const last = blocks.at(-1);
    if (first && last && continuesBlock(last, first, head)) append(last, blockOf(first, markdown, from, last.no));
    else if (first) blocks.push(blockOf(first, markdown, from, blocks.length));
    for (const node of others) blocks.push(blockOf(node, markdown, from, blocks.length));
  }
  return blocks;
}

/** Tells whether a window continues the list, table or quote that the last window ended with. */
function continuesBlock(last: Block, first: RootContent, head: string): boolean {
  return (
    last.type === first.type &&
    (head === '' ? first.type === 'list' || first.type === 'blockquote' : first.type === 'table')
  );
}

function append(last: Block, more: Block): void {
  last.end = more.end;
  for (const id of more.ids) last.ids.push(id);
  // The repeated head of a table is skipped.
  for (const item of more.type === 'table' ? more.items.slice(1) : more.items) last.items.push(item);
}

function childrenOf(markdown: string): RootContent[] {
  try {
    return parseMarkdown(markdown).children;
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error;
    const at = (offset: number) => ({ line: 1, column: 1, offset });
    return [{ type: 'html', value: '', position: { start: at(0), end: at(markdown.length) } }];
  }
}

function blockOf(node: RootContent, markdown: string, from: number, no: number): Block {
  const place = (offset = 0) => lineStart(markdown, from + offset);
  const { position } = node as Node;
  const items = node.type === 'list' || node.type === 'table' || node.type === 'blockquote' ? node.children : [];
  return {
    no,
    type: node.type,
    start: place(position?.start.offset),
    end: from + (position?.end.offset ?? 0),
    depth: node.type === 'heading' ? node.depth : 0,
    words: node.type === 'heading' ? oneLine(wordsOf(node), TITLE_MAX) : '',
    identifier: identifierOf(node),
    ids: idsOf(node),
    items: items.map((item) => itemOf(item, node, markdown, from)),
    first: node.type === 'list' && node.ordered ? (node.start ?? 1) : undefined,
    before: '',
    before_at: 0,
    repeatsHead: false,
    after: '',
  };
}

function identifierOf(node: RootContent): string {
  if (node.type === 'footnoteDefinition') return `^${node.identifier.toLowerCase()}`;
  return node.type === 'definition' ? node.identifier.toLowerCase() : '';
}

function lineStart(markdown: string, offset: number): number {
  const start = markdown.lastIndexOf('\n', offset - 1) + 1;
  return markdown.slice(start, offset).trim() === '' ? start : offset;
}

function itemOf(item: RootContent, { type }: RootContent, markdown: string, from: number): BlockItem {
  const offset = from + ((item as Node).position?.start.offset ?? 0);
  return {
    // Quote markers precede each line of a block.
    start: type === 'blockquote' ? markdown.lastIndexOf('\n', offset - 1) + 1 : lineStart(markdown, offset),
    ids: idsOf(item),
    isSimple:
      item.type === 'listItem' && item.children.length < 2 && (item.children[0]?.type ?? 'paragraph') === 'paragraph',
  };
}

/** Returns the words of a heading, from which its id is derived as on GitHub. */
function wordsOf(heading: Heading): string {
  let words = '';
  visit(heading, (node) => {
    if (node.type === 'text' || node.type === 'inlineCode' || node.type === 'inlineMath') words += node.value;
    if (node.type === 'wikiLink') words += node.text;
  });
  return words;
}

const HTML_COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
const HTML_ID = /<[a-z][^<>]*?\s(?:id|name)\s*=\s*["']?([^\s"'<>]+)/gi;

function idsOf(block: Nodes): string[] {
  const ids: string[] = [];
  visit(block, (node) => {
    if (node.type === 'heading') ids.push(headingAnchor(wordsOf(node)));
    if (node.type !== 'html') return;
    for (const [, id = ''] of node.value.replace(HTML_COMMENT, '').matchAll(HTML_ID)) ids.push(anchorOf(id));
  });
  return ids;
}
