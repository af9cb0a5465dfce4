import type { Element, Root } from 'hast';
import type { Root as Markdown, Nodes as MarkdownNodes } from 'mdast';
import { headingAnchor, ID_PREFIX, uniqueId } from '../../../markdown/safe-addresses.ts';
import { type Children, newElement, rolesOf, textOf, visit } from './elements.ts';
import { placeOf, type References } from './references.ts';

/** Properties of elements, between here and the Markdown. */
export const TARGETS = 'dataTargets';
export const NOTE = 'dataNote';
const BACK = 'dataBack';

/** The address of a link whose target is not written yet. */
const PENDING = /\]\(#target-(\d+)\.(?= "|\))/g;

/** The name of an element that is a note. */
export const NOTE_ELEMENT = 'x-note';

/**
 * Marks the links and notes of a part, in place: links to places of the document get the number of their target,
 * references to notes the label of the note, and what they lead to is marked likewise. Notes come last.
 */
export function markReferences(content: Root, path: string, references: References): void {
  const { targets, notes } = references;
  if (targets.size === 0 && notes.size === 0) return;
  const wanted = new Map<Element, number[]>();
  const links: MarkedLink[] = [];
  const bodies = new Map<Element, string>();
  const seen = new Set<string>();
  visit(content, (element) => {
    const { properties, tagName } = element;
    for (const id of [properties.id, tagName === 'a' ? properties.name : undefined]) {
      if (id === undefined || seen.has(String(id))) continue;
      seen.add(String(id));
      const place = `${path}#${id}`;
      const target = targets.get(place);
      const label = notes.get(place);
      if (target !== undefined) wanted.set(element, [...(wanted.get(element) ?? []), target]);
      if (label !== undefined) bodies.set(element, label);
    }
    const link = tagName === 'a' && properties.href !== undefined && markLink(element, path, references);
    if (link) links.push(link);
  });
  const removed = moveNotes(content, bodies);
  const kept = links.filter(({ element }) => !removed.has(element));
  const linked = new Set(kept.map(({ target }) => target));
  // Of one part all links are known; those to places in others are in other parts.
  if (path === '')
    for (const [element, numbers] of wanted)
      wanted.set(
        element,
        numbers.filter((no) => linked.has(no)),
      );
  const start = targets.get(path);
  const placed = placeTargets(content, wanted, start === undefined ? [] : [start]);
  for (const { element, target, isOwn } of kept) if (isOwn && !placed.has(target)) element.properties.href = '';
}

interface MarkedLink {
  element: Element;
  target: number;
  /** Whether it leads to a place of its own part. */
  isOwn: boolean;
}

/** Marks a link; returns it if its target is needed. */
function markLink(element: Element, path: string, references: References): MarkedLink | undefined {
  const place = placeOf(path, String(element.properties.href));
  if (place === undefined) return undefined;
  const label = references.notes.get(place);
  const target = references.targets.get(place);
  if (label !== undefined) element.properties[NOTE] = label;
  else if (target !== undefined) element.properties.href = `#target-${target}.`;
  if (references.noteReferences.has(place)) element.properties[BACK] = true;
  // Of a symbol beside a heading nothing is left.
  if (target === undefined || label !== undefined || /^\s*[¶#§]?\s*$/.test(textOf(element))) return undefined;
  return { element, target, isOwn: place.startsWith(`${path}#`) };
}

/**
 * A target is the heading that it is or begins with, else an empty element in front of its first text. Returns those that
 * are there.
 */
function placeTargets(content: Root, wanted: ReadonlyMap<Element, number[]>, start: number[]): Set<number> {
  const placed = new Set(start);
  let pending = start;
  const walk = (parent: Root | Element, heading: Element | undefined): void => {
    const children: Children = [];
    for (const child of parent.children as Children) {
      if (child.type === 'element') {
        const targets = wanted.get(child) ?? [];
        for (const target of targets) placed.add(target);
        const first = targets.length > 0 ? headingOf(child) : undefined;
        if (first) addTargets(first, targets);
        else pending = pending.concat(targets);
      }
      if (pending.length > 0 && isShown(child)) {
        if (heading) addTargets(heading, pending);
        else children.push(newElement('a', { [TARGETS]: pending }, []));
        pending = [];
      }
      children.push(child);
      if (child.type === 'element') walk(child, /^h[1-6]$/.test(child.tagName) ? child : heading);
    }
    parent.children = children;
  };
  walk(content, undefined);
  if (pending.length > 0) content.children.push(newElement('a', { [TARGETS]: pending }, []));
  return placed;
}

function isShown(node: Children[number]): boolean {
  if (node.type === 'text') return node.value.trim() !== '';
  return node.type === 'element' && /^(?:img|hr|pre)$/.test(node.tagName);
}

function addTargets(heading: Element, targets: readonly number[]): void {
  heading.properties[TARGETS] = [...((heading.properties[TARGETS] as number[] | undefined) ?? []), ...targets];
}

/** How many elements a section has at most before its heading: a symbol, a link to itself. */
const BEFORE_HEADING_MAX = 6;

/** The heading that a section begins with. */
function headingOf(section: Element): Element | undefined {
  const open: Children = [section];
  for (let i = 0; i <= BEFORE_HEADING_MAX; i += 1) {
    const node = open.shift();
    if (node?.type !== 'element' || /^(?:p|li|td)$/.test(node.tagName)) return undefined;
    if (/^h[1-6]$/.test(node.tagName)) return node;
    open.unshift(...node.children.filter((child) => child.type === 'element').slice(0, BEFORE_HEADING_MAX));
  }
  return undefined;
}

/** Moves notes to the end and removes what leads back from them, which is returned. */
function moveNotes(content: Root, bodies: ReadonlyMap<Element, string>): Set<Element> {
  const removed = new Set<Element>();
  if (bodies.size === 0) return removed;
  const moved: Element[] = [];
  const walk = (parent: Root | Element, isInNote: boolean): void => {
    parent.children = (parent.children as Children).filter((child) => {
      if (child.type !== 'element') return true;
      const label = isInNote ? undefined : bodies.get(child);
      walk(child, isInNote || label !== undefined);
      if (isInNote && isBackReference(child)) {
        removed.add(child);
        return false;
      }
      if (label === undefined) return !isEmptiedList(child);
      moved.push(newElement(NOTE_ELEMENT, { [NOTE]: label }, child.children));
      return false;
    });
  };
  walk(content, false);
  content.children.push(...moved);
  return removed;
}

function isBackReference(element: Element): boolean {
  if (element.tagName !== 'a') return false;
  const { properties, children } = element;
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

function isEmptiedNode(node: Children[number]): boolean {
  return node.type === 'comment' || (node.type === 'element' && (node.tagName === 'hr' || isEmptiedList(node)));
}

/** Gives the targets of a document their addresses, in the order of its parts. */
export function openTargets() {
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  const addresses = new Map<number, string>();
  return {
    /** Takes the ids of a part's headings as its page will have them, and writes the ids of other targets. */
    place(tree: Markdown): void {
      each(tree, (node) => {
        const targets = node.data?.targets;
        if (node.type !== 'heading' && targets === undefined) return;
        const base =
          node.type === 'heading' ? headingAnchor(wordsOf(node).trim()) : `${ID_PREFIX}place-${targets?.[0]}`;
        const id = uniqueId(base, ids, counts).slice(ID_PREFIX.length);
        if (node.type === 'html') node.value = `<a id="${id}"></a>`;
        for (const target of targets ?? []) addresses.set(target, id);
      });
    },
    /** The Markdown with the addresses of the links' targets. */
    resolve(markdown: string): string {
      if (!markdown.includes('](#target-')) return markdown;
      return markdown.replace(PENDING, (_link, target) => `](#${encodeFragment(addresses.get(Number(target)) ?? '')}`);
    },
  };
}

function encodeFragment(id: string): string {
  return encodeURIComponent(id.toWellFormed()).replace(/[()]/g, (mark) => (mark === '(' ? '%28' : '%29'));
}

function each(node: MarkdownNodes, call: (node: MarkdownNodes) => void): void {
  call(node);
  if ('children' in node) for (const child of node.children) each(child, call);
}

function wordsOf(node: MarkdownNodes): string {
  if (node.type === 'text' || node.type === 'inlineCode' || node.type === 'inlineMath') return node.value;
  if (node.type === 'break') return ' ';
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}

declare module 'mdast' {
  interface Data {
    /** The numbers of the targets that a heading or an empty element is. */
    targets?: number[];
  }
}
