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

/** The value of a property of the style attribute, in lower case; "" for none. `mso-bidi-font-weight` is no `font-weight`. */
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

/** Replaces each node below a parent with others, what is in it first. Code is not looked into: its text is as it is. */
export function rewrite(parent: HtmlParent, replace: (node: HtmlNode) => HtmlNode[]): void {
  parent.children = (parent.children as HtmlNode[]).flatMap((node) => {
    if (isElement(node) && node.tagName !== 'pre') rewrite(node, replace);
    return replace(node);
  }) as ElementContent[];
}

/** The first element below a parent, in the order of the text, of which something is so. */
export function findElement(parent: HtmlParent, is: (element: Element) => boolean): Element | undefined {
  for (const node of parent.children) {
    if (!isElement(node)) continue;
    const found = is(node) ? node : findElement(node, is);
    if (found) return found;
  }
  return undefined;
}

/** Elements that take lines of their own. */
const BLOCKS = new Set(
  (
    'address article aside blockquote body center details dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 ' +
    'h5 h6 head header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul ibid-callout'
  ).split(' '),
);

export const isBlock = (node: HtmlNode | undefined): node is Element => isElement(node) && BLOCKS.has(node.tagName);
