import type { Element, Root, RootContent } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';

/** A block of a page that has a source of its own: a paragraph, a heading, an item of a list, a row of a table. */
export interface Block {
  text: string;
  isHeading: boolean;
}

/** One of the elements that a page's text consists of, with the blocks in it. */
export interface Part {
  /** As the API wrote it. */
  html: string;
  /** The number of its first block in the page. */
  firstBlock: number;
  blocks: Block[];
}

/** What holds blocks, as the API counts them; every other element at the top of a text is a block. */
const CONTAINERS = new Set('dl ol section table tbody tfoot thead ul'.split(' '));

const parser = unified().use(rehypeParse, { fragment: true });

/** The parts of a page's HTML in their order. `web/elements/passages.ts` counts blocks in the browser in the same way. */
export function splitIntoParts(html: string): Part[] {
  const parts: Part[] = [];
  let firstBlock = 0;
  for (const node of (parser.parse(html) as Root).children) {
    const [start, end] = [node.position?.start.offset ?? 0, node.position?.end.offset ?? 0];
    const blocks = node.type === 'element' ? blocksIn(node) : [];
    if (node.type === 'element' || textOf(node).trim() !== '')
      parts.push({ html: html.slice(start, end), firstBlock, blocks });
    firstBlock += blocks.length;
  }
  return parts;
}

function blocksIn(element: Element): Block[] {
  if (!CONTAINERS.has(element.tagName)) {
    return [{ text: textOf(element).trim(), isHeading: /^h[1-6]$/.test(element.tagName) }];
  }
  return element.children.flatMap((child) => (child.type === 'element' ? blocksIn(child) : []));
}

/** Marks of footnotes are part of no word, and of a picture its description is read. */
function textOf(node: RootContent | Element): string {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return '';
  const { tagName, properties, children } = node;
  if (properties.dataFootnoteRef !== undefined || properties.dataFootnoteBackref !== undefined) return '';
  if (tagName === 'img') return String(properties.alt ?? '');
  return children.map(textOf).join('');
}
