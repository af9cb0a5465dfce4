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

/** The name of an element that is a note. */
export const NOTE_ELEMENT = 'x-note';

/** The characters of the references to notes. */
export function countReferences(content: Root): number {
  let count = 0;
  visit(content, (element) => {
    if (element.tagName === 'a' && element.properties[NOTE] !== undefined) count += countCharacters(textOf(element));
  });
  return count;
}

/** Asciidoctor writes brackets around a reference to a note; Markdown has its own. */
export function dropBrackets(script: Element): void {
  const [open, link, close, ...others] = script.children;
  if (open?.type !== 'text' || link?.type !== 'element' || close?.type !== 'text' || others.length > 0) return;
  if (link.properties[NOTE] !== undefined && open.value === '[' && close.value === ']') script.children = [link];
}

/** Elements that are only the number of a note. */
const IN_LINE = /^(?:a|b|em|font|i|small|span|strong|sup)$/;

/** The notes by their elements, where what is known of some is the number that they begin with. */
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
      // A note of several paragraphs.
      const [first] = box?.children.filter((child) => child.type === 'element') ?? [];
      const isWhole = isFound && box?.type === 'element' && box.tagName === 'div' && first === element;
      return [isWhole && boxes.get(box)?.length === 1 ? box : element, label];
    }),
  );
}

/** Moves notes to the end and removes what leads back from them, which is returned. */
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
      // What stood around it: the brackets of its number.
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

/** A list or section of notes that are elsewhere now. */
function isEmptiedList({ tagName, children, properties }: Element): boolean {
  if (!/^(?:ol|ul|section|aside|dl)$/.test(tagName) || properties[TARGETS] !== undefined) return false;
  return children.every((child) => (child.type === 'text' ? child.value.trim() === '' : isEmptiedNode(child)));
}

/** What stood around notes: a line above them. */
function isEmptiedBox({ tagName, children }: Element): boolean {
  return tagName === 'div' && children.every((child) => isBlank(child) || isEmptiedNode(child) || isBreak(child));
}

function isEmptiedNode(node: Children[number]): boolean {
  if (node.type !== 'element') return node.type === 'comment';
  return node.tagName === 'hr' || node.properties.id === 'footnote-label' || isEmptiedList(node);
}

/** Asciidoctor's notes, and those of books, begin with a number that leads back, and a dot. */
function dropDotOfNumber({ children }: Element): void {
  const first = children.find((child) => !isBlank(child));
  if (first?.type === 'text') first.value = first.value.replace(/^\s*\.\s+/, '');
  else if (first?.type === 'element' && first.tagName === 'p') dropDotOfNumber(first);
}
