import type { Element, Root } from 'hast';
import { classesOf, isBlank, newElement, visit } from './elements.ts';

/**
 * Marks task items in place, whichever way a program writes them: as an HTML checkbox, or as Confluence (`li.checked`),
 * Notion (`checkbox-on`) and OneNote (`data-tag="to-do:completed"`) do.
 */
export function markTasks(content: Root): void {
  const items: [Element, boolean][] = [];
  visit(content, (element, parent) => {
    const state = stateOf(element, parent);
    if (state !== undefined) items.push([element, state]);
  });
  for (const [element, isDone] of items) {
    const box = newElement('input', { type: 'checkbox', disabled: true, ...(isDone && { checked: true }) }, []);
    if (element.tagName === 'li') element.children.unshift(box);
    else {
      const item = newElement('li', {}, [box, ...element.children]);
      Object.assign(element, { tagName: 'ul', properties: {}, children: [item] });
    }
  }
}

/** Whether a task is done; undefined if the element is not a task. Removes the checkbox from the element. */
function stateOf(element: Element, parent: Root | Element): boolean | undefined {
  const { tagName, properties } = element;
  const tag = /(?:^|,)to-do(:completed)?(?:,|$)/.exec(String(properties.dataTag ?? ''));
  if (tag && (tagName === 'li' || tagName === 'p')) return tag[1] !== undefined;
  if (tagName !== 'li') return undefined;
  const isConfluence = parent.type === 'element' && classesOf(parent).includes(' inline-task-list ');
  if (isConfluence) return classesOf(element).includes(' checked ');
  return takeBox(element);
}

const AROUND = new Set(['label', 'span', 'p', 'div']);

/** Removes the checkbox at the beginning of an element and returns whether it is checked; undefined without one. */
function takeBox(element: Element): boolean | undefined {
  const at = element.children.findIndex((child) => !isBlank(child) && child.type !== 'comment');
  const first = element.children[at];
  if (first?.type !== 'element') return undefined;
  const isInput = first.tagName === 'input' && first.properties.type === 'checkbox';
  if (isInput || classesOf(first).includes(' checkbox ')) {
    element.children.splice(0, at + 1);
    const checked = first.properties.checked;
    return isInput ? checked !== undefined && checked !== false : classesOf(first).includes(' checkbox-on ');
  }
  return AROUND.has(first.tagName) ? takeBox(first) : undefined;
}
