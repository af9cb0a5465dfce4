import type { Blockquote, List, Node, Nodes, Paragraph, RootContent } from 'mdast';
import { addDefinition } from './definition-lists.ts';
import { type Box, type Edit, FILLER } from './mask.ts';

declare module 'mdast' {
  interface BlockquoteData {
    /** Set if the callout is not written as a quote. */
    box?: Box;
  }
}

/** Converts the boxes of a mask to quotes, in place. Returns the groups of the boxes that were found in the tree. */
export function placeBoxes(tree: Nodes, boxes: ReadonlyMap<number, PlacedBox>): ReadonlySet<number> {
  const placed = new Set<number>();
  if (boxes.size > 0) placeIn(tree, boxes, placed);
  return placed;
}

type PlacedBox = Box & Pick<Edit, 'group'>;
type Boxes = ReadonlyMap<number, PlacedBox>;

function placeIn(parent: Nodes, boxes: Boxes, placed: Set<number>): void {
  if (!('children' in parent)) return;
  const children = parent.children as RootContent[];
  const made: RootContent[] = [];
  for (let i = 0; i < children.length; i += 1) {
    const child = children[i] as RootContent;
    const box = child.type === 'thematicBreak' ? boxes.get(child.position?.start.line ?? 0) : undefined;
    let end = i + 1;
    while (box && end < children.length && !isAt(children[end] as RootContent, box.closes)) end += 1;
    if (child.type === 'list') addItems(made, child, boxes, placed);
    else if (box && box.closes > 0 && end < children.length) {
      placed.add(box.group);
      made.push(quote(box, child, children.slice(i + 1, end)));
      i = end;
    } else made.push(child);
  }
  for (const child of made) placeIn(child as Nodes, boxes, placed);
  const shown = made.flatMap((child) => {
    const { box } = (child.type === 'blockquote' && child.data) || {};
    return box?.word === '' && child.type === 'blockquote'
      ? [...(box.title === '' ? [] : [titleOf(box, child)]), ...child.children]
      : [child];
  });
  children.splice(0, children.length, ...shown);
}

function isAt({ type, position }: Node, line: number): boolean {
  return type === 'thematicBreak' && position?.start.line === line;
}

function quote(box: Box, { position }: Node, children: RootContent[]): Blockquote {
  const last: Node | undefined = children.at(-1);
  const end = last?.position?.end ?? position?.end;
  return {
    type: 'blockquote',
    data: { box },
    children: children as Blockquote['children'],
    ...(position && end && { position: { start: position.start, end } }),
  };
}

/** Adds the items of a list: boxes as blocks of their own, and the items between them as lists. */
function addItems(made: RootContent[], list: List, boxes: Boxes, placed: Set<number>): void {
  let own: List | undefined;
  for (const item of list.children) {
    const found = boxes.get(item.position?.start.line ?? 0);
    if (found?.isDefinition && addDefinition(made, item)) {
      placed.add(found.group);
      own = undefined;
      continue;
    }
    const box = found && hasMark(item) ? found : undefined;
    if (box) {
      placed.add(box.group);
      own = undefined;
    }
    if (box?.word === '') {
      made.push(titleOf(box, item));
      for (const child of withoutMark(item.children))
        if (child.type === 'list') addItems(made, child, boxes, placed);
        else made.push(child);
    } else if (box?.closes === 0) made.push(quote(box, item, withoutMark(item.children)));
    else if (own) own.children.push(item);
    else {
      own = { ...list, children: [item] };
      made.push(own);
    }
  }
}

/** Returns the title of a tab, positioned on the tab's line. */
function titleOf({ title }: Box, { position }: Node): Paragraph {
  const start = position?.start;
  const text = { type: 'text', value: title, ...(start && { position: { start, end: start } }) } as const;
  return {
    type: 'paragraph',
    children: [{ type: 'strong', children: [text] }],
    ...(start && { position: { start, end: start } }),
  };
}

function hasMark({ children: [first] }: List['children'][number]): boolean {
  const head = first?.type === 'paragraph' ? first.children[0] : undefined;
  return head?.type === 'text' && head.value.startsWith(FILLER);
}

const MARK = new RegExp(`^${FILLER}+(?:\\n\\s*|[ \\t]*)`);

/** Removes the fillers that replaced the head of the box. */
function withoutMark([first, ...rest]: List['children'][number]['children']): RootContent[] {
  const head = first?.type === 'paragraph' ? first.children[0] : undefined;
  if (first?.type !== 'paragraph' || head?.type !== 'text') return first ? [first, ...rest] : rest;
  const value = head.value.replace(MARK, '');
  const children = [
    ...(value === '' ? [] : [{ ...head, value, ...(/^\S*\n/.test(head.value) && nextLine(head)) }]),
    ...first.children.slice(1),
  ];
  const left: Paragraph = { ...first, children };
  return children.length === 0 ? rest : [left, ...rest];
}

function nextLine({ position }: Pick<Paragraph, 'position'>): Pick<Paragraph, 'position'> {
  if (!position || position.start.line === position.end.line) return {};
  return { position: { ...position, start: { ...position.start, line: position.start.line + 1 } } };
}
