import { headingAnchor, ID_PREFIX, uniqueId } from '@ibid/markdown/safe-addresses.ts';
import type { Element, Root } from 'hast';
import type { Root as Markdown, Nodes as MarkdownNodes } from 'mdast';
import { countCharacters } from '../losses.ts';
import { BACK, type Children, NOTE, newElement, SYMBOL, TARGETS, textOf, visit } from './elements.ts';
import { blocksOfNotes, countReferences, dropBrackets, moveNotes } from './notes.ts';
import { placeOf, type References } from './references.ts';

/** The address of a link whose target is not written yet. */
const PENDING = /\]\(#target-(\d+)\.(?= "|\))/g;

/**
 * Marks the links and notes of a part, in place: links to places of the document get the number of their target,
 * references to notes the label of the note, and what they lead to is marked likewise. Notes come last. Returns how many
 * characters the marks of notes had, which the page writes itself: numbers, and what leads back.
 */
export function markReferences(content: Root, path: string, references: References): number {
  const { targets, notes } = references;
  if (targets.size === 0 && notes.size === 0) return 0;
  const before = countCharacters(textOf(content));
  const wanted = new Map<Element, number[]>();
  const links: MarkedLink[] = [];
  const bodies = new Map<Element, string>();
  const seen = new Set<string>();
  const scripts: Element[] = [];
  const parents = new Map<Element, Root | Element>();
  visit(content, (element, parent) => {
    const { properties, tagName } = element;
    if (notes.size > 0) parents.set(element, parent);
    if (tagName === 'sup') scripts.push(element);
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
  for (const script of scripts) dropBrackets(script);
  const removed = moveNotes(content, blocksOfNotes(bodies, parents));
  const marks = before - countCharacters(textOf(content)) + countReferences(content);
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
  return marks;
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
  const text = textOf(element).trim();
  if (target === undefined || label !== undefined || text === '' || SYMBOL.test(text)) return undefined;
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
        const targets = isCode(child) ? targetsWithin(child, wanted) : (wanted.get(child) ?? []);
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
      if (child.type === 'element' && !isCode(child)) walk(child, /^h[1-6]$/.test(child.tagName) ? child : heading);
    }
    parent.children = children;
  };
  walk(content, undefined);
  if (pending.length > 0) content.children.push(newElement('a', { [TARGETS]: pending }, []));
  return placed;
}

function isShown(node: Children[number]): boolean {
  if (node.type === 'text') return node.value.trim() !== '';
  return node.type === 'element' && (isCode(node) || /^(?:img|hr)$/.test(node.tagName));
}

/** Code is only its text in Markdown, so that the targets in it stand before it. */
function isCode({ tagName }: Element): boolean {
  return /^(?:code|kbd|pre|samp|tt|var)$/.test(tagName);
}

function targetsWithin(code: Element, wanted: ReadonlyMap<Element, number[]>): number[] {
  const targets = [...(wanted.get(code) ?? [])];
  visit(code, (element) => targets.push(...(wanted.get(element) ?? [])));
  return targets;
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
