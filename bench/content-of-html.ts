import type { Element, Root } from 'hast';
import { toHtml } from 'hast-util-to-html';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';

const parser = unified().use(rehypeParse).freeze();

/** Landmarks of WAI-ARIA that are no content. */
const ROLES = /^(?:navigation|menu|menubar|toolbar|search|banner|contentinfo)$/;

/** The class of a table with a cell that is a head: pandoc's tree only knows heads that are whole rows at the beginning. */
export const HAS_HEADS = 'has-heads';

/**
 * A page without what the file itself says is no content: <nav>, landmarks beside it, buttons, hidden elements, and what stands beside
 * its only <main>. pandoc reads all of it as text, lists and headings. What it cannot read as a browser shows it is written as it can:
 * lists between items, beside which it drops others, are below the item before them, and headings have no blocks in them.
 */
export function contentOfHtml(html: string): string {
  const document = parser.parse(html);
  const mains: Element[] = [];
  const walk = (node: Root | Element): void => {
    node.children = (node.children as Element[]).filter((child) => {
      if (child.type !== 'element') return true;
      const role = String(child.properties.role ?? '');
      // pandoc takes a table to have as many columns as these, and drops the others.
      if (/^col(?:group)?$/.test(child.tagName)) return false;
      if (/^(?:nav|button)$/.test(child.tagName) || ROLES.test(role) || child.properties.hidden !== undefined)
        return false;
      if (child.tagName === 'main' || role === 'main') mains.push(child);
      if (isList(child)) child.children = withListsInItems(child.children as Element[]);
      if (/^h[1-6]$/.test(child.tagName)) withoutBlocks(child);
      if (child.tagName === 'table' && hasHead(child))
        child.properties.className = [...[child.properties.className ?? []].flat().map(String), HAS_HEADS];
      walk(child);
      return true;
    });
  };
  walk(document);
  const [main, ...others] = mains;
  return toHtml(main && others.length === 0 ? { type: 'root', children: main.children } : document);
}

function isList({ tagName }: Element): boolean {
  return tagName === 'ul' || tagName === 'ol';
}

function withListsInItems(children: readonly Element[]): Element[] {
  const items: Element[] = [];
  for (const child of children) {
    const last = items.findLast(({ tagName }) => tagName === 'li');
    if (child.type !== 'element' || !isList(child)) items.push(child);
    else if (last) last.children.push(child);
    else items.push(...(child.children as Element[]));
  }
  return items;
}

/** pandoc takes a heading with a block in it for text. */
function withoutBlocks(node: Element): void {
  for (const child of node.children) {
    if (child.type !== 'element') continue;
    if (/^(?:div|p|section)$/.test(child.tagName)) child.tagName = 'span';
    withoutBlocks(child);
  }
}

function hasHead(node: Element): boolean {
  return (node.children as Element[]).some(
    (child) => child.type === 'element' && child.tagName !== 'table' && (child.tagName === 'th' || hasHead(child)),
  );
}
