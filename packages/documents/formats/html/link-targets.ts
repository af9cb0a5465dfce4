import { headingAnchor, ID_PREFIX, uniqueId } from '@ibid/markdown/safe-addresses.ts';
import type { Element, Root } from 'hast';
import type { Root as Markdown, Nodes as MarkdownNodes } from 'mdast';
import { countCharacters } from '../losses.ts';
import { BACK, type Children, NOTE, newElement, SYMBOL, TARGETS, textOf, visit } from './elements.ts';
import { blocksOfNotes, countReferences, dropBrackets, moveNotes } from './notes.ts';
import { placeOf, type References } from './references.ts';

/** The address of a link whose target has no id yet. */
const PENDING = /\]\(#target-(\d+)\.(?= "|\))/g;

/**
 * Marks the links, notes and targets of a part, in place: links within the document get the number of their target, and
 * note references the label of their note. Moves notes to the end. Returns the number of characters in note marks
 * (numbers and back links), which the page writes itself.
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
  // A document of one part has no links from other parts, so unused targets can be dropped.
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
  /** Whether the target is in the same part. */
  isOwn: boolean;
}

/** Marks a link and returns it; undefined if its target is not needed. */
function markLink(element: Element, path: string, references: References): MarkedLink | undefined {
  const place = placeOf(path, String(element.properties.href));
  if (place === undefined) return undefined;
  const label = references.notes.get(place);
  const target = references.targets.get(place);
  if (label !== undefined) element.properties[NOTE] = label;
  else if (target !== undefined) element.properties.href = `#target-${target}.`;
  if (references.noteReferences.has(place)) element.properties[BACK] = true;
  // Permalink symbols of headings are removed, so they need no target.
  const text = textOf(element).trim();
  if (target === undefined || label !== undefined || text === '' || SYMBOL.test(text)) return undefined;
  return { element, target, isOwn: place.startsWith(`${path}#`) };
}

/**
 * Places each target: on the heading that it is or begins with, else on an empty element before its first text. Returns
 * the placed targets.
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

/** Code becomes plain text in Markdown, so targets inside it move in front of it. */
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

/** The number of elements that a section may have before its heading, such as a permalink symbol. */
const BEFORE_HEADING_MAX = 6;

/** Returns the heading at the beginning of a section. */
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

/** Assigns addresses to the targets of a document, in the order of its parts. */
export function openTargets() {
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  const addresses = new Map<number, string>();
  return {
    /** Computes the ids of a part's headings as the page will, and writes ids for other targets. */
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
    /** Returns the Markdown with the links pointing to their targets. */
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
    /** The numbers of the link targets at a heading or an empty element. */
    targets?: number[];
  }
}
