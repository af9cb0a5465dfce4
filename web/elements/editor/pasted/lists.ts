import type { Element, Root } from 'hast';
import { checkbox } from './blocks.ts';
import {
  findElement,
  type HtmlNode,
  hasClass,
  isBlank,
  isBlock,
  isElement,
  newElement,
  rewrite,
  textOf,
} from './hast.ts';
import { unwrap } from './marks.ts';

const isList = (node: HtmlNode | undefined): node is Element => isElement(node) && /^[ou]l$/.test(node.tagName);

/**
 * Shapes lists as Markdown needs them: nested in items, without paragraphs around single texts, and with task boxes
 * first.
 */
export function tidyLists() {
  return (tree: Root): void => {
    tree.children = joinLists(tree.children) as Root['children'];
    rewrite(tree, (node) => {
      if (!isElement(node)) return [node];
      node.children = joinLists(node.children) as Element['children'];
      if (isList(node)) nestItems(node);
      if (node.tagName === 'li') tidyItem(node);
      return [node];
    });
  };
}

/** Joins consecutive lists that continue each other's numbers. */
function joinLists(nodes: readonly HtmlNode[]): HtmlNode[] {
  const made: HtmlNode[] = [];
  for (const node of nodes) {
    const last = made.findLast((other) => !isBlank(other));
    if (isList(node) && isList(last) && last.tagName === node.tagName && goesOn(node)) {
      last.children.push(...node.children);
    } else made.push(node);
  }
  return made;
}

const goesOn = (list: Element) => list.tagName === 'ul' || Number(list.properties.start) > 1;

/** Moves nested lists into their items. Google Docs and Word write them after the item. */
function nestItems(list: Element): void {
  const items: Element[] = [];
  for (const node of list.children) {
    const last = items.at(-1);
    if (isList(node) && last) last.children.push(node);
    else if (isElement(node) && node.tagName === 'li') items.push(node);
    else if (!isBlank(node)) items.push(newElement('li', [node]));
  }
  list.children = items;
}

function tidyItem(item: Element): void {
  const paragraphs = item.children.filter((node) => isElement(node) && /^(?:p|div)$/.test(node.tagName));
  const others = item.children.filter((node) => !isBlank(node) && !paragraphs.includes(node));
  if (paragraphs.length === 1 && others.every((node) => isList(node) || !isBlock(node)))
    item.children = item.children.flatMap((node) =>
      isElement(node) && paragraphs.includes(node) ? node.children : [node],
    );
  const isTask = stateOf(item);
  if (isTask === undefined) return;
  item.children = [checkbox(isTask), ...item.children];
  if (isTask) for (const node of item.children) if (!isList(node) && isElement(node)) unwrapIn(item, node);
}

/** Removes strikethrough that only marks a task as done. */
function unwrapIn(item: Element, node: Element): void {
  unwrap(node, 'del');
  if (node.tagName === 'del') item.children.splice(item.children.indexOf(node), 1, ...node.children);
}

/**
 * Returns whether the task of an item is done, or undefined if the item is not a task. Removes the element that showed
 * the state.
 */
function stateOf(item: Element): boolean | undefined {
  const { role, ariaChecked, dataInlineTaskId } = item.properties;
  if (dataInlineTaskId !== undefined) return hasClass(item, 'checked');
  const own = newElement(
    'li',
    item.children.filter((node) => !isList(node)),
  );
  const box = findElement(own, ({ tagName, properties }) => tagName === 'input' && properties.type === 'checkbox');
  if (box) {
    removeFrom(item, box);
    return box.properties.checked === true;
  }
  const drawn = findElement(own, (element) => hasClass(element, 'checkbox'));
  if (drawn && textOf(drawn).trim() === '') {
    removeFrom(item, drawn);
    return hasClass(drawn, 'checkbox-on');
  }
  if (role === 'checkbox') return String(ariaChecked) === 'true';
  const [first] = item.children;
  const [mark] = first?.type === 'text' ? (/^\s*\[[ xX]?\]\s+/.exec(first.value) ?? []) : [];
  if (mark === undefined || first?.type !== 'text') return undefined;
  first.value = first.value.slice(mark.length);
  return /x/i.test(mark);
}

function removeFrom(item: Element, gone: Element): void {
  rewrite(item, (node) => (node === gone ? [] : [node]));
}
