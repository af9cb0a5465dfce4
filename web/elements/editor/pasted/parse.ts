import type { Element, ElementContent, Properties, Root, RootContent } from 'hast';

/** Attributes with different property names; `data-` and `aria-` attributes become camel case. */
const NAMES: Record<string, string> = {
  'aria-roledescription': 'ariaRoleDescription',
  class: 'className',
  'data-pasted-style': 'style',
  colspan: 'colSpan',
  datetime: 'dateTime',
  for: 'htmlFor',
  itemprop: 'itemProp',
  nowrap: 'noWrap',
  rowspan: 'rowSpan',
};
const BOOLEANS = new Set(['checked', 'controls', 'disabled', 'hidden', 'multiple', 'noWrap', 'selected']);
const NUMBERS = new Set(['colSpan', 'rowSpan', 'size', 'start']);
const LISTS = new Set(['className', 'headers', 'itemProp', 'rel']);

const TAG = /<[a-z](?:[^>"']|"[^"]*"|'[^']*')*>/gi;
const REFUSED_OR_VALUE = /"[^"]*"|'[^']*'|\b(style|on[a-z]+)(?=\s*=)/gi;

/**
 * Renames attributes that the page's policy refuses, because the browser would report each of them. Styles are read
 * under the new name.
 */
function renameRefused(tag: string): string {
  return tag.replace(REFUSED_OR_VALUE, (found, name) => (name === undefined ? found : `data-pasted-${name}`));
}

/**
 * Parses HTML with the browser's parser, which follows the same rules as the parser that servers need and costs no
 * download. The template element runs and loads nothing.
 */
export function parseInBrowser(html: string): Root {
  const template = document.createElement('template');
  template.innerHTML = html.replace(TAG, renameRefused);
  return { type: 'root', children: convertAll(template.content.childNodes) };
}

function convertAll(nodes: NodeListOf<ChildNode>): RootContent[] {
  return [...nodes].flatMap((node) => convert(node) ?? []);
}

function convert(node: ChildNode): RootContent | undefined {
  if (node instanceof Text) return { type: 'text', value: node.data };
  if (node instanceof Comment) return { type: 'comment', value: node.data };
  if (node.nodeType === Node.DOCUMENT_TYPE_NODE) return { type: 'doctype' };
  if (node.nodeType !== Node.ELEMENT_NODE) return undefined;
  const { localName: tagName, attributes, childNodes } = node as unknown as globalThis.Element;
  const properties: Properties = {};
  for (const { name, value } of attributes) setProperty(properties, name, value);
  const children = convertAll(childNodes) as ElementContent[];
  return { type: 'element', tagName, properties, children } satisfies Element;
}

function setProperty(properties: Properties, attribute: string, value: string): void {
  const name =
    NAMES[attribute] ??
    (/^(?:data|aria)-/.test(attribute) ? attribute.replace(/-(\w)/g, (_, letter) => letter.toUpperCase()) : attribute);
  if (BOOLEANS.has(name)) properties[name] = true;
  else if (LISTS.has(name)) properties[name] = value.split(/\s+/).filter((word) => word !== '');
  else if (NUMBERS.has(name) && value.trim() !== '' && Number.isFinite(Number(value))) properties[name] = Number(value);
  else properties[name] = value;
}
