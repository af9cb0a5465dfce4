import type { Heading, Node, Nodes, RootContent } from 'mdast';
import { parseMarkdown, TooComplexError, visit } from '../../markdown/parse-markdown.ts';
import { oneLine, TITLE_MAX } from '../../markdown/plain-text.ts';
import { anchorOf, headingAnchor } from '../../markdown/safe-addresses.ts';
import { windowsOf } from './windows.ts';

/** A block of a document that stands in no other one, with what dividing has to know of it. */
export interface Block {
  /** In the order of the document, from 0; pieces of one that was too long share it. */
  no: number;
  type: RootContent['type'] | 'piece';
  /** [start, end) of the Markdown, in UTF-16 units, from the beginning of a line. */
  start: number;
  end: number;
  /** Of a heading: 1 to 6, and its words; else 0 and "". */
  depth: number;
  words: string;
  /** Of a definition its label in lower case, of a footnote with ^ before; else "". */
  identifier: string;
  /** The ids that its headings and HTML have on a page, before those of a page are made unique. */
  ids: string[];
  /** What it may be cut into if it is too long, each beginning a line: items of a list, rows of a table, blocks of a quote. */
  items: BlockItem[];
  /** Of a numbered list its first number; else undefined. */
  first: number | undefined;
  /** What a piece of a block needs around it to be what the whole block is. */
  before: string;
  after: string;
  /** Where in the document `before` stands. */
  before_at: number;
  /** Whether `before` is the head of a table that begins in the part before. */
  repeatsHead: boolean;
}

export interface BlockItem extends Pick<Block, 'start' | 'ids'> {
  /** Whether it is a paragraph and nothing else. */
  isSimple: boolean;
}

/**
 * The outermost blocks of a document, as the parser of pages sees them: what looks like a heading in code, in a quote or in
 * HTML is none. It is parsed in pieces of about the length of `window`, so that its tree is never in memory as a whole, and
 * `onWindow` is told how long each is before. What is too complex to be parsed is one
 * block; a page will show it as it is.
 */
export function blocksOf(markdown: string, window: number, onWindow: (length: number) => void): Block[] {
  const blocks: Block[] = [];
  for (const { start, end, head } of windowsOf(markdown, window)) {
    onWindow(head.length + end - start);
    const from = start - head.length;
    const [first, ...others] = childrenOf(head + markdown.slice(start, end));
    const last = blocks.at(-1);
    if (first && last && goesOn(last, first, head)) append(last, blockOf(first, markdown, from, last.no));
    else if (first) blocks.push(blockOf(first, markdown, from, blocks.length));
    for (const node of others) blocks.push(blockOf(node, markdown, from, blocks.length));
  }
  return blocks;
}

/** Whether a window begins with more of the list, the table or the quote that the last one ended with. */
function goesOn(last: Block, first: RootContent, head: string): boolean {
  return (
    last.type === first.type &&
    (head === '' ? first.type === 'list' || first.type === 'blockquote' : first.type === 'table')
  );
}

function append(last: Block, more: Block): void {
  last.end = more.end;
  for (const id of more.ids) last.ids.push(id);
  // The head of a table was there before.
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
    // The marks of a quote stand before each of its lines.
    start: type === 'blockquote' ? markdown.lastIndexOf('\n', offset - 1) + 1 : lineStart(markdown, offset),
    ids: idsOf(item),
    isSimple:
      item.type === 'listItem' && item.children.length < 2 && (item.children[0]?.type ?? 'paragraph') === 'paragraph',
  };
}

/** The words of a heading, as a link to it on GitHub has them. */
function wordsOf(heading: Heading): string {
  let words = '';
  visit(heading, (node) => {
    if (node.type === 'text' || node.type === 'inlineCode' || node.type === 'inlineMath') words += node.value;
    if (node.type === 'wikiLink') words += node.text;
  });
  return words;
}

const HTML_COMMENT = /<!--[^]*?(?:-->|$)/g;
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
