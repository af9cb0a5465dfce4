import type { Element, ElementContent, Root, RootContent } from 'hast';

export type HtmlNode = RootContent;
export type HtmlParent = Root | Element;

export const isElement = (node: HtmlNode | undefined): node is Element => node?.type === 'element';
export const isBlank = (node: HtmlNode) => node.type === 'text' && node.value.trim() === '';
export const newText = (value: string): HtmlNode => ({ type: 'text', value });

export function newElement(
  tagName: string,
  children: readonly HtmlNode[] = [],
  properties: Element['properties'] = {},
): Element {
  return { type: 'element', tagName, properties, children: children as ElementContent[] };
}

export function textOf(node: HtmlNode | Root): string {
  if (node.type === 'text') return node.value;
  return node.type === 'element' || node.type === 'root' ? node.children.map(textOf).join('') : '';
}

export function hasClass({ properties }: Element, name: string): boolean {
  const { className } = properties;
  return Array.isArray(className) && className.includes(name);
}

export function classesOf({ properties }: Element): string {
  return Array.isArray(properties.className) ? properties.className.join(' ') : '';
}

/**
 * Returns the value of a property of the style attribute in lower case, or "" without one. Names must match exactly:
 * `mso-bidi-font-weight` is not `font-weight`.
 */
export function styleOf({ properties }: Element, name: string): string {
  for (const declaration of String(properties.style ?? '').split(';')) {
    const colon = declaration.indexOf(':');
    if (declaration.slice(0, colon).trim().toLowerCase() === name)
      return declaration
        .slice(colon + 1)
        .trim()
        .toLowerCase();
  }
  return '';
}

/** Replaces each node below a parent, children first. Leaves the content of code untouched. */
export function rewrite(parent: HtmlParent, replace: (node: HtmlNode) => HtmlNode[]): void {
  parent.children = (parent.children as HtmlNode[]).flatMap((node) => {
    if (isElement(node) && node.tagName !== 'pre') rewrite(node, replace);
    return replace(node);
  }) as ElementContent[];
}

/** Returns the first element below a parent, in document order, that matches. */
export function findElement(parent: HtmlParent, is: (element: Element) => boolean): Element | undefined {
  for (const node of parent.children) {
    if (!isElement(node)) continue;
    const found = is(node) ? node : findElement(node, is);
    if (found) return found;
  }
  return undefined;
}

const BLOCKS = new Set(
  (
    'address article aside blockquote body center details dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 ' +
    'h5 h6 head header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul ibid-callout'
  ).split(' '),
);

export const isBlock = (node: HtmlNode | undefined): node is Element => isElement(node) && BLOCKS.has(node.tagName);
