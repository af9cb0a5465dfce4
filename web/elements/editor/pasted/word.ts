import type { Element, Root } from 'hast';
import {
  classesOf,
  findElement,
  type HtmlNode,
  hasClass,
  isBlank,
  isElement,
  newElement,
  rewrite,
  styleOf,
  textOf,
} from './hast.ts';

const LEVEL = /\blevel(\d)/;
/** Markers of numbered lists: `1.`, `a)`, `iv.`. Any other marker is a bullet. */
const NUMBER = /^\(?(?:\d+|[a-z]{1,4})[.)]/i;

/**
 * Converts the HTML of Word, which writes titles and list items as paragraphs, item markers as text, and notes as
 * links.
 */
export function readWord() {
  return (tree: Root): void => {
    rewrite(tree, (node) => {
      if (!isElement(node)) return [node];
      if (hasClass(node, 'MsoTitle')) node.tagName = 'h1';
      if (node.tagName === 'p' && /\bMso(?:Intense)?Quote\b/.test(classesOf(node)))
        return [newElement('blockquote', [node])];
      return readNote(node);
    });
    tree.children = makeLists(tree.children);
    rewrite(tree, (node) => {
      if (isElement(node)) node.children = makeLists(node.children) as Element['children'];
      return [node];
    });
  };
}

/** Converts a footnote or its mark, which link to each other. */
function readNote(node: Element): HtmlNode[] {
  const [, label] = /^#_(?:ftn|edn)(\d+)$/.exec(String(node.properties.href ?? '')) ?? [];
  if (node.tagName === 'a' && label) return [newElement('ibid-note', [], { label })];
  if (node.tagName === 'a' && /^#_(?:ftn|edn)ref/.test(String(node.properties.href ?? ''))) return [];
  const element = styleOf(node, 'mso-element');
  // A rule precedes the notes.
  if (/^(?:foot|end)note-list$/.test(element))
    return node.children.filter((child) => !isElement(child) || child.tagName !== 'hr');
  if (!/^(?:foot|end)note$/.test(element)) return [node];
  return [newElement('ibid-note-text', node.children, { label: /\d+$/.exec(String(node.properties.id))?.[0] ?? '' })];
}

interface Item {
  level: number;
  isOrdered: boolean;
  children: HtmlNode[];
}

/** Builds lists from the paragraphs that Word marks as items. */
function makeLists(nodes: readonly HtmlNode[]): Root['children'] {
  const made: HtmlNode[] = [];
  let open: Element[] = [];
  for (const node of nodes) {
    const items = isElement(node) ? itemsOf(node) : [];
    if (items.length === 0) {
      // Only whitespace of the HTML source separates two items.
      if (isBlank(node) && open.length > 0) continue;
      open = [];
      made.push(node);
    }
    for (const item of items) addItem(made, open, item);
  }
  return made;
}

function itemsOf(node: Element): Item[] {
  const level = Number(LEVEL.exec(styleOf(node, 'mso-list'))?.[1] ?? 0);
  if (level > 0) {
    const { marker, children } = splitMarker(node);
    return [{ level, isOrdered: NUMBER.test(marker), children }];
  }
  // Slack: a list for each depth.
  if (/^[ou]l$/.test(node.tagName) && node.properties.dataIndent !== undefined) {
    const isOrdered = node.tagName === 'ol';
    return node.children
      .filter(isElement)
      .map(({ children }) => ({ level: Number(node.properties.dataIndent) + 1, isOrdered, children }));
  }
  // Word on the web: each item has its own list, which states its depth.
  if (!hasClass(node, 'ListContainerWrapper')) return [];
  const list = findElement(node, ({ tagName }) => /^[ou]l$/.test(tagName));
  return (list?.children ?? []).filter(isElement).map(({ properties, children }) => ({
    level: Number(properties.dataAriaLevel ?? 1),
    isOrdered: list?.tagName === 'ol',
    children,
  }));
}

/** Adds an item to the list of its level. `open`: the lists that the item may continue, outermost first. */
function addItem(made: HtmlNode[], open: Element[], { level, isOrdered, children }: Item): void {
  const tagName = isOrdered ? 'ol' : 'ul';
  open.length = Math.min(open.length, level);
  if (open.length === level && open.at(-1)?.tagName !== tagName) open.pop();
  while (open.length < level) {
    const list = newElement(tagName);
    const item = open.at(-1)?.children.at(-1);
    if (open.length === 0) made.push(list);
    else if (item?.type === 'element') item.children.push(list);
    else open.at(-1)?.children.push(newElement('li', [list]));
    open.push(list);
  }
  open.at(-1)?.children.push(newElement('li', children));
}

function splitMarker({ children }: Element): { marker: string; children: HtmlNode[] } {
  let marker = '';
  const without = (nodes: readonly HtmlNode[]): HtmlNode[] =>
    nodes.flatMap((node): HtmlNode[] => {
      if (!isElement(node)) return [node];
      if (styleOf(node, 'mso-list') === 'ignore') {
        marker += textOf(node).trim();
        return [];
      }
      const inner = without(node.children);
      return inner.length === 0 && node.children.length > 0 ? [] : [newElement(node.tagName, inner, node.properties)];
    });
  return { children: without(children), marker };
}
