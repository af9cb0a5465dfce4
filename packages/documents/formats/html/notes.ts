import type { Element, Root } from 'hast';
import { countCharacters } from '../losses.ts';
import {
  BACK,
  type Children,
  isBlank,
  isBreak,
  NOTE,
  newElement,
  rolesOf,
  TARGETS,
  textOf,
  visit,
} from './elements.ts';

/** The tag name of an element that holds a note. */
export const NOTE_ELEMENT = 'x-note';

/** Counts the characters of all note references. */
export function countReferences(content: Root): number {
  let count = 0;
  visit(content, (element) => {
    if (element.tagName === 'a' && element.properties[NOTE] !== undefined) count += countCharacters(textOf(element));
  });
  return count;
}

/** Removes the brackets that Asciidoctor writes around a note reference; Markdown has its own. */
export function dropBrackets(script: Element): void {
  const [open, link, close, ...others] = script.children;
  if (open?.type !== 'text' || link?.type !== 'element' || close?.type !== 'text' || others.length > 0) return;
  if (link.properties[NOTE] !== undefined && open.value === '[' && close.value === ']') script.children = [link];
}

/** Inline elements that may wrap the number of a note. */
const IN_LINE = /^(?:a|b|em|font|i|small|span|strong|sup)$/;

/** Maps each note to its block: a marked number is replaced by the block that it begins. */
export function blocksOfNotes(
  bodies: ReadonlyMap<Element, string>,
  parents: ReadonlyMap<Element, Root | Element>,
): Map<Element, string> {
  const blocks = [...bodies].map(([element, label]) => {
    let block: Root | Element | undefined = element;
    while (block?.type === 'element' && IN_LINE.test(block.tagName)) block = parents.get(block);
    return { element: block?.type === 'element' ? block : element, label, isFound: block !== element };
  });
  const boxes = Map.groupBy(blocks, ({ element }) => parents.get(element));
  return new Map(
    blocks.map(({ element, label, isFound }) => {
      const box = parents.get(element);
      // A note of several paragraphs fills its <div>.
      const [first] = box?.children.filter((child) => child.type === 'element') ?? [];
      const isWhole = isFound && box?.type === 'element' && box.tagName === 'div' && first === element;
      return [isWhole && boxes.get(box)?.length === 1 ? box : element, label];
    }),
  );
}

/** Moves notes to the end of the content, and removes and returns their back links. */
export function moveNotes(content: Root, bodies: ReadonlyMap<Element, string>): Set<Element> {
  const removed = new Set<Element>();
  if (bodies.size === 0) return removed;
  const moved: Element[] = [];
  const walk = (parent: Root | Element, isInNote: boolean): void => {
    parent.children = (parent.children as Children).filter((child) => {
      if (child.type !== 'element') return true;
      const label = isInNote ? undefined : bodies.get(child);
      const before = moved.length;
      walk(child, isInNote || label !== undefined);
      if (isInNote && isBackReference(child)) {
        removed.add(child);
        return false;
      }
      // Drop the brackets that a removed number leaves.
      if (isInNote && /^\s*\[\s*\]\s*$/.test(textOf(child))) return false;
      if (label === undefined) return !isEmptiedList(child) && !(moved.length > before && isEmptiedBox(child));
      dropDotOfNumber(child);
      moved.push(newElement(NOTE_ELEMENT, { [NOTE]: label }, child.children));
      return false;
    });
  };
  walk(content, false);
  content.children.push(...moved);
  return removed;
}

function isBackReference(element: Element): boolean {
  const { properties, children } = element;
  if (/cite-backlink/.test(String(properties.className))) return true;
  if (element.tagName !== 'a') return false;
  if (properties[BACK]) return true;
  if (rolesOf(element).includes('backlink') || /note-?back/.test(String(properties.className))) return true;
  if (/note-ref-\d+$/.test(String(properties.href ?? ''))) return true;
  const [only] = children;
  return children.length === 1 && only?.type === 'text' && /^\s*[↩↑^←⏎]\ufe0e?\s*$/.test(only.value);
}

/** Whether a list or section is empty because its notes were moved. */
function isEmptiedList({ tagName, children, properties }: Element): boolean {
  if (!/^(?:ol|ul|section|aside|dl)$/.test(tagName) || properties[TARGETS] !== undefined) return false;
  return children.every((child) => (child.type === 'text' ? child.value.trim() === '' : isEmptiedNode(child)));
}

/** Whether only the separator above moved notes is left. */
function isEmptiedBox({ tagName, children }: Element): boolean {
  return tagName === 'div' && children.every((child) => isBlank(child) || isEmptiedNode(child) || isBreak(child));
}

function isEmptiedNode(node: Children[number]): boolean {
  if (node.type !== 'element') return node.type === 'comment';
  return node.tagName === 'hr' || node.properties.id === 'footnote-label' || isEmptiedList(node);
}

/** Removes the dot after the number of a note, as in Asciidoctor and books; the number itself was a back link. */
function dropDotOfNumber({ children }: Element): void {
  const first = children.find((child) => !isBlank(child));
  if (first?.type === 'text') first.value = first.value.replace(/^\s*\.\s+/, '');
  else if (first?.type === 'element' && first.tagName === 'p') dropDotOfNumber(first);
}
