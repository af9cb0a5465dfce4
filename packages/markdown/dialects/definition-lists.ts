import type { Element, ElementContent } from 'hast';
import type { Blockquote, ListItem, Paragraph, PhrasingContent, RootContent, Text } from 'mdast';
import type { State } from 'mdast-util-to-hast';

const IS_DEFINITION = /^:[ \t]+(?=\S)/;
const HAS_DEFINITION = /[\r\n]:[ \t]+\S/;

/**
 * Converts a paragraph to a definition list as in PHP Markdown Extra, Pandoc and MkDocs: lines with terms, then
 * definitions that begin with `: ` and may continue on further lines. Returns undefined for other paragraphs.
 */
export function definitionList(state: State, node: Paragraph): Element | undefined {
  if (!node.children.some((child) => child.type === 'text' && HAS_DEFINITION.test(child.value))) return undefined;
  const items: { tagName: 'dt' | 'dd'; children: PhrasingContent[] }[] = [];
  for (const line of linesOf(node.children)) {
    const [first, ...rest] = line;
    const last = items.at(-1);
    const colon = first?.type === 'text' ? IS_DEFINITION.exec(first.value)?.[0] : undefined;
    if (first?.type === 'text' && colon !== undefined) {
      if (!last) return undefined;
      items.push({ tagName: 'dd', children: [{ ...first, value: first.value.slice(colon.length) }, ...rest] });
    } else if (last?.tagName === 'dd') last.children.push({ type: 'text', value: '\n' }, ...line);
    else items.push({ tagName: 'dt', children: line });
  }
  const children = items.flatMap((item): ElementContent[] => [{ type: 'text', value: '\n' }, made(state, item)]);
  return { type: 'element', tagName: 'dl', properties: {}, children: [...children, { type: 'text', value: '\n' }] };
}

/**
 * Adds a list item that is a definition to the definition list at the end of `before`, or makes the paragraph at its
 * end the terms of a new list. Returns false if `before` ends with neither.
 */
export function addDefinition(before: RootContent[], { children, position }: ListItem): boolean {
  const last = before.at(-1);
  const [only, ...others] = children;
  const isWords = only?.type === 'paragraph' && others.length === 0;
  const definition: Paragraph | Blockquote = isWords
    ? { ...only, data: { hName: 'dd' } }
    : { type: 'blockquote', data: { hName: 'dd' }, children: children as Blockquote['children'], position };
  if (last?.type === 'blockquote' && last.data?.hName === 'dl') {
    last.children.push(definition);
    if (last.position && position) last.position = { ...last.position, end: position.end };
    return true;
  }
  if (last?.type !== 'paragraph') return false;
  const terms = linesOf(last.children).map((line): Paragraph => {
    const at = placesOf(line);
    return { type: 'paragraph', data: { hName: 'dt' }, children: line, ...(at && { position: at }) };
  });
  const place = last.position && position && { start: last.position.start, end: position.end };
  before[before.length - 1] = {
    type: 'blockquote',
    data: { hName: 'dl' },
    children: [...terms, definition],
    ...(place && { position: place }),
  };
  return true;
}

function made(state: State, { tagName, children }: { tagName: string; children: readonly PhrasingContent[] }): Element {
  const words = state.all({ type: 'paragraph', children: [...children] }) as ElementContent[];
  const position = placesOf(children);
  return {
    type: 'element',
    tagName,
    properties: {},
    children: words,
    ...(position && { position }),
  };
}

function placesOf(children: readonly PhrasingContent[]): Text['position'] {
  const places = children.map((child) => (child as Text).position).filter((position) => position !== undefined);
  const [from, to] = [places[0], places.at(-1)];
  return from && to && { start: from.start, end: to.end };
}

/** Splits content into lines, and gives each text the position of its line. */
function linesOf(content: readonly PhrasingContent[]): PhrasingContent[][] {
  const lines: PhrasingContent[][] = [[]];
  for (const node of content) {
    if (node.type !== 'text') {
      lines.at(-1)?.push(node);
      continue;
    }
    for (const [i, value] of node.value.split(/\r\n|\r|\n/).entries()) {
      if (i > 0) lines.push([]);
      const { position } = node;
      const line = (position?.start.line ?? 0) + i;
      const at = position && { start: { ...position.start, line }, end: { ...position.end, line } };
      if (value !== '') lines.at(-1)?.push({ type: 'text', value, ...(at && { position: at }) });
    }
  }
  return lines.filter((line) => line.length > 0);
}
