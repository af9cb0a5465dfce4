import type { List, PhrasingContent } from 'mdast';
import { readItem } from './marks/item-marks.ts';
import type { PdfBlock } from './pdf-block.ts';

/** The indent of a nested item relative to the outer list, in font sizes. */
const NESTED = 0.9;

interface OpenList {
  list: List;
  indent: number;
  /** The number of the next item. */
  next: number;
}

/** A top-level list, with the items of all nested lists in order. */
export interface PlacedList {
  list: List;
  items: PdfBlock[];
}

/**
 * Builds lists from consecutive items, nested by the structure tree or else by indentation. A number out of sequence
 * starts another list.
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
      // The text follows the nested list and is not part of it.
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

/** Whether an item starts a list nested in the innermost open list. */
function isDeeper({ depth, indent = 0, size }: PdfBlock, open: readonly OpenList[]): boolean {
  return depth === undefined ? indent > (open.at(-1)?.indent ?? 0) + NESTED * size : depth >= open.length;
}
