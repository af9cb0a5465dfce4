import type { Element, Root } from 'hast';
import { type HtmlNode, isBlank, isBlock, isElement, newElement, rewrite } from './hast.ts';

const isBreak = (node: HtmlNode | undefined): boolean => isElement(node) && node.tagName === 'br';
/** Elements that contain both text and blocks. */
const FLOW = /^(?:body|div|section|article|main|blockquote|li|ibid-callout|ibid-note-text|html|details)$/;

/**
 * Splits paragraphs at line breaks that stand for empty lines. Drops line breaks next to blocks and at the ends of
 * texts.
 */
export function splitParagraphs() {
  return (tree: Root): void => {
    rewrite(tree, (node) => {
      if (!isElement(node)) return [node];
      if (/^(?:p|h[1-6])$/.test(node.tagName)) {
        const parts = paragraphsOf(node.children);
        return parts.map((children) => newElement(node.tagName, children, node.properties));
      }
      if (FLOW.test(node.tagName)) node.children = dividedFlow(node.children) as Element['children'];
      return [node];
    });
    tree.children = dividedFlow(tree.children) as Root['children'];
  };
}

function dividedFlow(nodes: readonly HtmlNode[]): HtmlNode[] {
  const made: HtmlNode[] = [];
  let run: HtmlNode[] = [];
  const close = () => {
    const parts = paragraphsOf(run);
    made.push(...(parts.length > 1 ? parts.map((children) => newElement('p', children)) : (parts[0] ?? [])));
    run = [];
  };
  for (const node of nodes) {
    if (!isBlock(node)) run.push(node);
    else {
      close();
      made.push(node);
    }
  }
  close();
  return made;
}

/** Splits a run of text at double line breaks and drops the line breaks at its ends. */
function paragraphsOf(nodes: readonly HtmlNode[]): HtmlNode[][] {
  const parts: HtmlNode[][] = [[]];
  let breaks: HtmlNode[] = [];
  for (const node of nodes) {
    if (isBreak(node)) breaks.push(node);
    else if (isBlank(node) && breaks.length > 0) continue;
    else {
      if (breaks.length > 1 && parts.at(-1)?.length) parts.push([]);
      else if (parts.at(-1)?.some((other) => !isBlank(other))) parts.at(-1)?.push(...breaks);
      breaks = [];
      parts.at(-1)?.push(node);
    }
  }
  return parts.filter((part) => !part.every(isBlank));
}
