import type { Element, Root } from 'hast';
import { toHtml } from 'hast-util-to-html';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';

const parser = unified().use(rehypeParse).freeze();

/** Landmarks of WAI-ARIA that are no content. */
const ROLES = /^(?:navigation|menu|menubar|toolbar|search|banner|contentinfo)$/;

/**
 * A page without what the file itself says is no content: <nav>, landmarks beside it, and what stands beside its only
 * <main>. pandoc reads all of it as lists and headings.
 */
export function contentOfHtml(html: string): string {
  const document = parser.parse(html);
  const mains: Element[] = [];
  const walk = (node: Root | Element): void => {
    node.children = (node.children as Element[]).filter((child) => {
      if (child.type !== 'element') return true;
      const role = String(child.properties.role ?? '');
      if (child.tagName === 'nav' || ROLES.test(role)) return false;
      if (child.tagName === 'main' || role === 'main') mains.push(child);
      walk(child);
      return true;
    });
  };
  walk(document);
  const [main, ...others] = mains;
  return toHtml(main && others.length === 0 ? { type: 'root', children: main.children } : document);
}
