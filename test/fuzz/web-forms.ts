import type { Element, Nodes } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';

export interface WebForm {
  method: string;
  /** Address that the form is sent to. */
  path: string;
  isMultipart: boolean;
  /** Fields by name: the values that an unchanged form would send, or the options of a select. */
  fields: { name: string; values: string[] }[];
}

const documents = unified().use(rehypeParse).freeze();

export function elementsOf(html: string): Element[] {
  const found: Element[] = [];
  const walk = (node: Nodes) => {
    if (node.type === 'element') found.push(node);
    if (node.type === 'element' && node.tagName === 'template' && node.content) walk(node.content);
    if ('children' in node) for (const child of node.children) walk(child);
  };
  walk(documents.parse(html));
  return found;
}

export function formsOf(html: string, path: string): WebForm[] {
  return elementsOf(html)
    .filter(({ tagName }) => tagName === 'form')
    .map((form) => ({
      method: String(form.properties.method ?? 'get').toUpperCase(),
      path: new URL(String(form.properties.action ?? ''), `http://host${path}`).href.slice('http://host'.length),
      isMultipart: String(form.properties.encType ?? form.properties.enctype ?? '').startsWith('multipart'),
      fields: inside(form).flatMap(fieldOf),
    }));
}

/** Returns the addresses that a document links to within the application. */
export function linksOf(html: string): string[] {
  return elementsOf(html)
    .filter(({ tagName }) => tagName === 'a')
    .map(({ properties }) => String(properties.href ?? ''))
    .filter((href) => /^\/(?!\/)/.test(href));
}

function inside(element: Element): Element[] {
  return element.children.flatMap((child) => (child.type === 'element' ? [child, ...inside(child)] : []));
}

function fieldOf(element: Element): WebForm['fields'] {
  const name = element.properties.name;
  if (name === undefined || !['input', 'select', 'textarea', 'button'].includes(element.tagName)) return [];
  const values =
    element.tagName === 'select'
      ? inside(element)
          .filter(({ tagName }) => tagName === 'option')
          .map(({ properties }) => String(properties.value ?? ''))
      : [String(element.properties.value ?? '')];
  return [{ name: String(name), values }];
}
