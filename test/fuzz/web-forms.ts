import type { Element, Nodes } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';

/** A form of a page of the web application. */
export interface WebForm {
  method: string;
  /** The address that it is sent to. */
  path: string;
  isMultipart: boolean;
  /** Names with the values that a visitor would send who changes nothing, and the choices of a select. */
  fields: { name: string; values: string[] }[];
}

const documents = unified().use(rehypeParse).freeze();

/** All elements of an HTML document. */
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

/** The forms of the document at this path. */
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

/** The addresses that a document links to within the application. */
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
