import type { Element, Root } from 'hast';
import { type Children, isBlank, newElement, visit } from './elements.ts';

/**
 * Makes every child of a list an item, in place, because real HTML has lists, paragraphs and texts between items.
 * Content after an item is shown below it, so it joins that item; other content becomes an item. Items inside another
 * element, or inside a list at the beginning, move into the list. A list without any items becomes plain blocks.
 */
export function prepareLists(content: Root): void {
  const lists: Element[] = [];
  visit(content, (element) => {
    if (/^(?:ul|ol)$/.test(element.tagName)) lists.push(element);
  });
  for (const list of lists.reverse()) {
    if (list.children.every(isItemOrBlank)) continue;
    if (onlyIndents(list.children)) list.tagName = 'div';
    else list.children = itemsOf(list.children);
  }
}

/** Whether a list has no items and does not begin with a nested list. */
function onlyIndents(children: Children): boolean {
  const first = children.find((child) => child.type !== 'comment' && !isBlank(child));
  const isList = first?.type === 'element' && /^(?:ul|ol)$/.test(first.tagName);
  return !isList && children.every((child) => ownItems(child, false).length === 0);
}

function isItemOrBlank(node: Children[number]): boolean {
  return node.type === 'element' ? node.tagName === 'li' : node.type !== 'text' || node.value.trim() === '';
}

function itemsOf(children: Children): Children {
  const items: Element[] = [];
  let behind: Element | undefined;
  for (const child of children) {
    const own = ownItems(child, items.length === 0);
    if (own.length > 0) {
      items.push(...own);
      behind = undefined;
    } else if (behind) behind.children.push(child);
    else if (!isItemOrBlank(child)) {
      behind = newElement('div', {}, [child]);
      append(items, behind);
    }
  }
  return items;
}

/**
 * Returns the items of a list's child: itself, or the items that it groups. A list after an item is nested in it
 * instead.
 */
function ownItems(child: Children[number], isFirst: boolean): Element[] {
  if (child.type !== 'element') return [];
  if (child.tagName === 'li') return [child];
  if (!isFirst && /^(?:ul|ol)$/.test(child.tagName)) return [];
  return child.children.filter((item) => item.type === 'element' && item.tagName === 'li') as Element[];
}

function append(items: Element[], block: Element): void {
  const last = items.at(-1);
  if (last) last.children.push(block);
  else items.push(newElement('li', {}, [block]));
}
