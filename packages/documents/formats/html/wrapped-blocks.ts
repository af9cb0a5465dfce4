import type { Element, Root } from 'hast';
import { type Children, isBlank, newElement } from './elements.ts';

/** Inline elements that real HTML puts around whole blocks. */
const EMPHASIS = new Set('b big cite del em i ins mark s small strike strong u'.split(' '));

export const BLOCKS: ReadonlySet<string> = new Set(
  'address article aside blockquote center dd details div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6 hr li main ol p pre section table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);

/** Blocks that do not take emphasis: code has its own format, and a heading is emphasized as a whole. */
const PLAIN = /^(?:h[1-6]|hr|pre)$/;

/**
 * Opens inline elements and paragraphs that contain blocks, in place: a table in a paragraph, as in HTML without a
 * doctype, becomes its sibling, and emphasis around several paragraphs moves into each of them.
 */
export function openWrappedBlocks(content: Root): void {
  const around = new Set<Element>();
  findAround(content, around);
  if ([...around].some(isWrapper)) distribute(content, around, []);
}

/** Collects the elements that contain a block; returns whether the node has one. */
function findAround(node: Root | Element, around: Set<Element>): boolean {
  let hasBlock = false;
  for (const child of node.children) {
    if (child.type !== 'element') continue;
    const isAround = findAround(child, around);
    if (isAround) around.add(child);
    hasBlock ||= isAround || BLOCKS.has(child.tagName);
  }
  return hasBlock;
}

function isWrapper({ tagName }: Element): boolean {
  return tagName === 'p' || EMPHASIS.has(tagName);
}

/** Pushes emphasis down into the lines of a node. `names`: the elements that emphasize it. */
function distribute(node: Root | Element, around: ReadonlySet<Element>, names: readonly string[]): void {
  const children: Children = [];
  let line: Children = [];
  const endLine = () => {
    children.push(...(line.every(isBlank) ? line : emphasized(line, names)));
    line = [];
  };
  for (const child of node.children as Children) {
    if (child.type !== 'element' || !(around.has(child) || BLOCKS.has(child.tagName))) {
      line.push(child);
      continue;
    }
    endLine();
    const { tagName } = child;
    const isOpen = around.has(child) && isWrapper(child);
    if (isOpen) child.tagName = 'div';
    const isNew = isOpen && EMPHASIS.has(tagName) && !isNormal(child) && !names.includes(tagName);
    distribute(child, around, PLAIN.test(tagName) ? [] : isNew ? [...names, tagName] : names);
    children.push(child);
  }
  endLine();
  node.children = children;
}

function emphasized(line: Children, names: readonly string[]): Children {
  return names.reduce((inner, name) => [newElement(name, {}, inner)], line);
}

/** Google Docs wraps a whole document in such an element. */
function isNormal({ properties }: Element): boolean {
  return /font-weight\s*:\s*(?:normal|[1-4]00)\b/i.test(String(properties.style ?? ''));
}
