import { ExtractError } from '../extract-error.ts';
import { attributesOf, decodeXml, isNested, localName, xmlTokens } from '../word/xml-tree.ts';

/**
 * An element with its texts and child elements in order. Names of elements and attributes lose their prefix, except
 * relationships (`r:id`).
 */
export interface XmlNode {
  name: string;
  attributes: Record<string, string>;
  children: (XmlNode | string)[];
}

/** Elements nested deeper than this are skipped. */
const DEPTH_MAX = 200;

/** Parses an XML file. Throws an ExtractError if its elements are not properly nested. */
export function parseNodes(xml: string): XmlNode {
  if (!isNested(xml)) throw damaged();
  const root: XmlNode = { name: '', attributes: {}, children: [] };
  const open = [root];
  let skipped = 0;
  for (const { type, name, source } of xmlTokens(xml)) {
    const parent = open.at(-1) as XmlNode;
    if (type === 'close') {
      if (skipped > 0) skipped -= 1;
      else if (open.length > 1) open.pop();
    } else if (skipped > 0 || open.length > DEPTH_MAX) {
      if (type === 'open') skipped += 1;
    } else if (type === 'text') parent.children.push(decodeXml(source));
    else {
      const node = { name: localName(name), attributes: withRelations(source), children: [] };
      parent.children.push(node);
      if (type === 'open') open.push(node);
    }
  }
  return root;
}

/** Reads attributes and keeps `r:id` under its prefixed name, because an element may also have an `id` of its own. */
function withRelations(source: string): Record<string, string> {
  const attributes = attributesOf(source);
  for (const [, name = '', double, single] of source.matchAll(/\s(r:(?:id|embed))\s*=\s*(?:"([^"]*)"|'([^']*)')/g))
    attributes[name] = decodeXml(double ?? single ?? '');
  return attributes;
}

export function damaged(): ExtractError {
  return new ExtractError('unreadable', 'the file is damaged and cannot be read; save it again and upload it again');
}

/** Returns the child elements, filtered by name if one is given. */
export function childrenOf(node: XmlNode | undefined, name?: string): XmlNode[] {
  return (node?.children ?? []).filter(
    (child): child is XmlNode => typeof child !== 'string' && (name === undefined || child.name === name),
  );
}

export function childOf(node: XmlNode | undefined, ...path: readonly string[]): XmlNode | undefined {
  return path.reduce<XmlNode | undefined>((at, name) => childrenOf(at, name)[0], node);
}

/** Returns all descendants with any of these names, in order, without looking inside a match. */
export function findAll(node: XmlNode | undefined, ...names: readonly string[]): XmlNode[] {
  return childrenOf(node).flatMap((child) => (names.includes(child.name) ? [child] : findAll(child, ...names)));
}

export function textOf(node: XmlNode | string | undefined): string {
  if (node === undefined || typeof node === 'string') return node ?? '';
  return node.children.map(textOf).join('');
}
