import type { Element, Root, RootContent } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';

/** The unit of a page that has a source: a paragraph, a heading, an item of a list, a row of a table. */
export interface Block {
  text: string;
  isHeading: boolean;
}

/** A top-level element of a page's HTML, with the blocks in it. */
export interface Part {
  /** As in the API's HTML. */
  html: string;
  /** The index of its first block in the page. */
  firstBlock: number;
  blocks: Block[];
}

/** Elements that contain blocks, as the API counts them; every other element is one block. */
const CONTAINERS = new Set('dl ol section table tbody tfoot thead ul'.split(' '));

const parser = unified().use(rehypeParse, { fragment: true });

/**
 * Splits a page's HTML into parts, in order. `web/elements/passages.ts` must count blocks in the same way in the
 * browser.
 */
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

/** Returns the text of a node without footnote marks and with the alternative texts of images. */
function textOf(node: RootContent | Element): string {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return '';
  const { tagName, properties, children } = node;
  if (properties.dataFootnoteRef !== undefined || properties.dataFootnoteBackref !== undefined) return '';
  if (tagName === 'img') return String(properties.alt ?? '');
  return children.map(textOf).join('');
}
