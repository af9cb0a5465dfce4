import type { List, PhrasingContent } from 'mdast';
import { readItem } from './marks/item-marks.ts';
import type { PdfBlock } from './pdf-block.ts';

/** How much further to the right an item begins than those of the list around it, in multiples of its font size. */
const NESTED = 0.9;

interface OpenList {
  list: List;
  indent: number;
  /** The number that the next item has. */
  next: number;
}

/** A list of the top level, with the items of all its lists in their order. */
export interface PlacedList {
  list: List;
  items: PdfBlock[];
}

/**
 * The lists of items that follow each other: nested as the structure tree says, else by where they begin; a number that
 * does not follow begins another list.
 */
export function listsOf(items: readonly PdfBlock[], contentOf: (item: PdfBlock) => PhrasingContent[]): PlacedList[] {
  const lists: PlacedList[] = [];
  const open: OpenList[] = [];
  for (const item of items) {
    const { ordered, start } = readItem(item.runs);
    closeDeeper(open, item);
    const around = item.isRest ? open[item.depth ?? 0]?.list.children.at(-1) : undefined;
    if (around) {
      around.children.push({ type: 'paragraph', children: contentOf(item) });
      // Below the list in it, and no part of that.
      around.spread = true;
      lists.at(-1)?.items.push(item);
      continue;
    }
    const last = open.at(-1);
    const isNested = last !== undefined && isDeeper(item, open);
    const continues = last && !isNested && last.list.ordered === ordered && (!ordered || start === last.next);
    if (!continues) {
      if (last && !isNested) open.pop();
      const list: List = { type: 'list', ordered, start, spread: false, children: [] };
      const around = open.at(-1);
      if (around) around.list.children.at(-1)?.children.push(list);
      else lists.push({ list, items: [] });
      open.push({ list, indent: item.indent ?? 0, next: start });
    }
    const current = open.at(-1) as OpenList;
    current.next = start + 1;
    const content = { type: 'paragraph' as const, children: contentOf(item) };
    current.list.children.push({ type: 'listItem', spread: false, children: [content] });
    lists.at(-1)?.items.push(item);
  }
  return lists;
}

function closeDeeper(open: OpenList[], { depth, indent = 0, size }: PdfBlock): void {
  if (depth !== undefined) open.length = Math.min(open.length, depth + 1);
  else while (open.length > 1 && (open.at(-1)?.indent ?? 0) > indent + NESTED * size) open.pop();
}

/** Whether an item begins a list in the last one that is open. */
function isDeeper({ depth, indent = 0, size }: PdfBlock, open: readonly OpenList[]): boolean {
  return depth === undefined ? indent > (open.at(-1)?.indent ?? 0) + NESTED * size : depth >= open.length;
}
