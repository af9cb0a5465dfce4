import type { Element, Nodes, Root } from 'hast';

export type Children = Element['children'];

/** Calls `each` for every element, parents first, then visits the children that the element has after the call. */
export function visit(node: Root | Element, each: (element: Element, parent: Root | Element) => void): void {
  for (const child of node.children) {
    if (child.type !== 'element') continue;
    each(child, node);
    visit(child, each);
  }
}

/**
 * Internal properties that mark elements until they become Markdown: link targets, the label of a note, a back link of
 * a note.
 */
export const TARGETS = 'dataTargets';
export const NOTE = 'dataNote';
export const BACK = 'dataBack';

/** The text of a link from a heading to itself: a sign, or a glyph of an icon font (Read the Docs). */
export const SYMBOL = /^[¶#§🔗\ue000-\uf8ff]\ufe0f?$/u;

/** Returns the text of a node, with `<br>` as a line feed. */
export function textOf(node: Nodes | undefined): string {
  if (node?.type === 'text') return node.value;
  if (node?.type === 'element' && node.tagName === 'br') return '\n';
  return node && 'children' in node ? node.children.map(textOf).join('') : '';
}

export function findElement(node: Root | Element, name: string): Element | undefined {
  for (const child of node.children) {
    if (child.type !== 'element') continue;
    const found = child.tagName === name ? child : findElement(child, name);
    if (found) return found;
  }
  return undefined;
}

/** Returns the classes of an element, each surrounded by spaces. */
export function classesOf({ properties }: Element): string {
  const { className } = properties;
  return Array.isArray(className) ? ` ${className.join(' ')} ` : '';
}

/** Returns the role and `epub:type` of an element, each surrounded by spaces. */
export function rolesOf({ properties }: Element): string {
  if (properties.role === undefined && properties['epub:type'] === undefined) return '';
  return ` ${[properties.role, properties['epub:type']].flat().join(' ')} `;
}

export function newElement(tagName: string, properties: Element['properties'], children: Children): Element {
  return { type: 'element', tagName, properties, children };
}

export function newText(value: string): Children[number] {
  return { type: 'text', value };
}

/** Removes source positions: nothing reads them, and the converter would copy them with each node. */
export function dropPositions(node: Root | Element): void {
  for (const child of node.children) {
    child.position = undefined;
    if (child.type === 'element') dropPositions(child);
  }
}

const IN_LINES = /^(?:a|abbr|b|big|cite|del|em|font|i|ins|s|small|span|strike|strong|sub|sup|u)$/;

/** Moves line breaks from the edges of emphasized text out of it: Markdown's marks cannot have white space inside. */
export function moveBreaksOut(node: Root | Element): void {
  node.children = (node.children as Children).flatMap((child): Children => {
    if (child.type !== 'element') return [child];
    moveBreaksOut(child);
    const { children } = child;
    if (!IN_LINES.test(child.tagName) || !children.some(isBreak)) return [child];
    const isInner = (part: Children[number]) => !isBreak(part) && !isBlank(part);
    const [first, last] = [children.findIndex(isInner), children.findLastIndex(isInner)];
    // Keep an empty element, which may be a link target.
    if (first < 0) return [{ ...child, children: [] }, ...children];
    const start = children.slice(0, first).findLastIndex(isBreak) + 1;
    const length = children.slice(last + 1).findIndex(isBreak);
    const end = length < 0 ? children.length : last + 1 + length;
    return [...children.slice(0, start), { ...child, children: children.slice(start, end) }, ...children.slice(end)];
  });
}

export function isBreak(node: Children[number]): boolean {
  return node.type === 'element' && node.tagName === 'br';
}

export function isBlank(node: Children[number]): boolean {
  return node.type === 'text' && node.value.trim() === '';
}

/** Turns blocks in a heading into inline text, separated by spaces so that their words do not join. */
export function separateBlocksInHeadings(content: Root): void {
  visit(content, (heading) => {
    if (!/^h[1-6]$/.test(heading.tagName)) return;
    visit(heading, (block) => {
      if (!/^(?:div|p|section|ul|ol|li)$/.test(block.tagName)) return;
      block.tagName = 'span';
      block.children = [newText(' '), ...block.children, newText(' ')];
    });
  });
}
