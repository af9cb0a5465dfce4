import type { Element, ElementContent, Root, RootContent } from 'hast';

const LEVEL = /mso-list:\s*l\d+\s+level(\d)/i;
const MARKER = /mso-list:\s*ignore/i;
/** What numbers a list: `1.`, `a)`, `iv.`. Anything else is a bullet. */
const NUMBER = /^\(?(?:\d+|[a-z]{1,4})[.)]/i;

const isElement = (node: RootContent | undefined): node is Element => node?.type === 'element';
const styleOf = (node: Element) => String(node.properties.style ?? '');

/**
 * Word writes lists as paragraphs with their markers as text, and notes to itself as comments and empty `o:p`: makes lists
 * of the former and drops the latter.
 */
export function cleanWordHtml() {
  return (tree: Root): void => clean(tree);
}

function clean(parent: Root | Element): void {
  const kept: RootContent[] = [];
  for (const node of parent.children) {
    if (node.type === 'comment') continue;
    if (isElement(node)) {
      if (['o:p', 'style', 'meta', 'link', 'xml', 'title'].includes(node.tagName) && node.children.length < 2) {
        if (node.tagName === 'o:p') kept.push(...node.children.filter(({ type }) => type === 'text'));
        continue;
      }
      clean(node);
    }
    kept.push(node);
  }
  parent.children = makeLists(kept) as ElementContent[];
}

/** Makes lists of paragraphs that Word marks as items. */
function makeLists(nodes: readonly RootContent[]): RootContent[] {
  const made: RootContent[] = [];
  let open: Element[] = [];
  for (const node of nodes) {
    const level = isElement(node) ? Number(LEVEL.exec(styleOf(node))?.[1] ?? 0) : 0;
    if (!isElement(node) || level === 0) {
      // What is between two items of a list is only the line breaks of the HTML.
      if (node.type === 'text' && node.value.trim() === '' && open.length > 0) continue;
      open = [];
      made.push(node);
      continue;
    }
    const { marker, content } = splitMarker(node);
    const tagName = NUMBER.test(marker) ? 'ol' : 'ul';
    open.length = Math.min(open.length, level);
    if (open.length === level && open.at(-1)?.tagName !== tagName) open.pop();
    while (open.length < level) {
      const list: Element = { type: 'element', tagName, properties: {}, children: [] };
      const item = open.at(-1)?.children.at(-1);
      if (open.length === 0) made.push(list);
      else if (item?.type === 'element') item.children.push(list);
      else open.at(-1)?.children.push({ type: 'element', tagName: 'li', properties: {}, children: [list] });
      open.push(list);
    }
    open.at(-1)?.children.push({ type: 'element', tagName: 'li', properties: {}, children: content });
  }
  return made;
}

function splitMarker({ children }: Element): { marker: string; content: ElementContent[] } {
  let marker = '';
  const without = (nodes: ElementContent[]): ElementContent[] =>
    nodes.flatMap((node): ElementContent[] => {
      if (node.type !== 'element') return [node];
      if (MARKER.test(styleOf(node))) {
        marker += textOf(node).trim();
        return [];
      }
      const inner = without(node.children);
      return inner.length === 0 && node.children.length > 0 ? [] : [{ ...node, children: inner }];
    });
  return { content: without(children), marker };
}

function textOf(node: ElementContent): string {
  if (node.type === 'text') return node.value;
  return node.type === 'element' ? node.children.map(textOf).join('') : '';
}
