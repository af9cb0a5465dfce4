import type { Heading, Nodes, Parents, Text } from 'mdast';
import { anchorOf, headingAnchor } from '../safe-addresses.ts';

/** Obsidian's `^id` at the end of a block. An id contains a letter: `10 ^6` is a number. */
const BLOCK_ID = /(?:^|[ \t\n])\^(?=[\d-]*[a-z])([a-z\d-]{2,64})[ \t]*$/i;

/** Moves the ids at the ends of blocks and headings to their elements, in place: `[[page#^id]]` links there. */
export function takeBlockIds(parent: Parents, markdown: string): void {
  for (const node of parent.children as Nodes[]) {
    if (node.type !== 'paragraph' && node.type !== 'heading') {
      if ('children' in node && node.type !== 'table') takeBlockIds(node, markdown);
      continue;
    }
    if (node.type === 'heading') takeAttributes(node, markdown);
    const last = node.children.at(-1);
    const [written = '', id] = (last?.type === 'text' && BLOCK_ID.exec(last.value)) || [];
    if (last?.type !== 'text' || id === undefined || isEscaped(last, written, markdown)) continue;
    const before = node.children.at(-2);
    // `[a link](…)^id` has no space.
    if (written.startsWith('^') && before !== undefined && before.type !== 'break') continue;
    last.value = last.value.slice(0, -written.length);
    if (last.value === '') node.children.pop();
    const isAlone = node.children.length === 0;
    if (node.type === 'heading') {
      addAnchor(node, `^${id}`);
      continue;
    }
    // The paragraph of an item may have no element of its own. An id alone in a paragraph belongs to the previous
    // block.
    const owner = parent.type === 'listItem' && !isAlone ? parent : node;
    owner.data = { ...owner.data, ...(isAlone && { hName: 'a' }), hProperties: { id: `^${id}` } };
  }
}

/**
 * `{#id}`, `{ #id .class key="value" }` or `{: #id}` after a heading: Docusaurus, Hugo, MkDocs, kramdown and Pandoc.
 */
const ATTRIBUTES =
  /(?:(?<![ \t])[ \t]+|(?<=\S))\{:?[ \t]*([#.][\w:.-]{1,100}(?:[ \t]+(?:[#.][\w:.-]+|[\w-]+=(?:"[^"{}]*"|[^\s"{}]+)))*)[ \t]*\}[ \t]*$/;

/** Removes the attributes from a heading and gives it their id. */
function takeAttributes(heading: Heading, markdown: string): void {
  const last = heading.children.at(-1);
  const [written, attributes] = (last?.type === 'text' && ATTRIBUTES.exec(last.value)) || [];
  if (last?.type !== 'text' || written === undefined || attributes === undefined) return;
  if (isEscaped(last, written, markdown)) return;
  last.value = last.value.slice(0, -written.length);
  const id = attributes.split(/[ \t]+/).find((each) => each.startsWith('#'));
  if (id !== undefined && anchorOf(id.slice(1)) !== headingAnchor(wordsOf(heading))) addAnchor(heading, id.slice(1));
}

/** Tells whether the source ends differently from the text: `\^id` is no id. */
function isEscaped({ position }: Text, end: string, markdown: string): boolean {
  if (position?.end.offset === undefined) return false;
  const source = markdown.slice(0, position.end.offset).trimEnd();
  const written = end.trim();
  return !source.endsWith(written) || source.at(-written.length - 1) === '\\';
}

function wordsOf(node: Nodes): string {
  if ('value' in node) return node.value;
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}

/** Adds an anchor to a heading, which also keeps the id derived from its words. */
function addAnchor(heading: Heading, id: string): void {
  heading.children.push({ type: 'emphasis', children: [], data: { hName: 'a', hProperties: { id } } });
}
