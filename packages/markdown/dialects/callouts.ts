import type { Element, ElementContent, Text as Words } from 'hast';
import type { Blockquote, PhrasingContent, Text } from 'mdast';
import type { State } from 'mdast-util-to-hast';
import { lineEndsIn } from '../plain-text.ts';
import { EMOJI, emojiNamed, mayHaveEmoji } from './emoji.ts';

/** The five styles of callouts are GitHub's. Each lists the words for it in Obsidian, MkDocs and Docusaurus. */
const KINDS: Record<string, readonly string[]> = {
  note: ['note', 'info', 'abstract', 'summary', 'tldr', 'todo', 'example', 'quote', 'cite', 'seealso'],
  tip: ['tip', 'hint', 'success', 'check', 'done'],
  important: ['important', 'question', 'help', 'faq'],
  warning: ['warning', 'attention'],
  caution: ['caution', 'danger', 'error', 'failure', 'fail', 'missing', 'bug'],
};

const kindOf = new Map(Object.entries(KINDS).flatMap(([kind, words]) => words.map((word) => [word, kind])));

export const CALLOUT_CLASS = new RegExp(`^callout(?:-title)?$|^(?:${Object.keys(KINDS).join('|')})$`);

/** `[!NOTE]`, `[!info]-` (folded) or `[!info]+` (foldable, open). */
const HEAD = /^\[!([a-z][a-z-]{0,30})\]([+-]?)(?=\s|$)[ \t]*/i;

/**
 * Returns the callout for a quote, with its title and its kind as a class; foldable callouts become <details>. Returns
 * undefined for other quotes.
 */
export function calloutOf(state: State, node: Blockquote): Element | undefined {
  const { box } = node.data ?? {};
  if (box) {
    const title: ElementContent[] = [{ type: 'text', value: box.title || nameOf(box.word) }];
    return callout(state, node, { kind: kindOf.get(box.word) ?? 'note', fold: box.fold, title, body: node.children });
  }
  const [first, ...rest] = node.children;
  const head = first?.type === 'paragraph' ? first.children[0] : undefined;
  if (first?.type !== 'paragraph' || head?.type !== 'text') return undefined;
  const [written, word = '', fold] = HEAD.exec(head.value) ?? [];
  const kind = kindOf.get(word.toLowerCase()) ?? (word === '' ? undefined : 'note');
  if (written === undefined || kind === undefined) return undefined;
  const { title, text } = splitLine([shortened(head, written.length), ...first.children.slice(1)]);
  const words: ElementContent[] = title.length > 0 ? phrasing(state, title) : [{ type: 'text', value: nameOf(word) }];
  const body = [...(text.length > 0 ? [{ ...first, children: text }] : []), ...rest];
  return callout(state, node, { kind, fold, title: words, body });
}

/** Tells whether a word names a kind of callout, in syntax where other words may mean something else. */
export function isKind(word: string): boolean {
  return kindOf.has(word) || word === 'details';
}

function nameOf(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase().replaceAll('-', ' ');
}

function callout(
  state: State,
  node: Blockquote,
  { kind, fold, title, body }: { kind: string; fold?: string; title: ElementContent[]; body: Blockquote['children'] },
): Element {
  const content = state.wrap(state.all({ ...node, children: body }), true) as ElementContent[];
  const isFolding = fold === '-' || fold === '+';
  const titleElement: Element = {
    type: 'element',
    tagName: isFolding ? 'summary' : 'p',
    properties: { className: ['callout-title'] },
    children: title,
  };
  if (node.position) {
    const { start } = node.position;
    titleElement.position = { start, end: start };
  }
  return {
    type: 'element',
    tagName: isFolding ? 'details' : 'blockquote',
    properties: { className: ['callout', kind], ...(fold === '+' && { open: true }) },
    children: [{ type: 'text', value: '\n' }, titleElement, ...content],
  };
}

function phrasing(state: State, children: PhrasingContent[]): ElementContent[] {
  return state.all({ type: 'paragraph', children }) as ElementContent[];
}

/** Splits content after its first line. */
function splitLine(content: readonly PhrasingContent[]): { title: PhrasingContent[]; text: PhrasingContent[] } {
  for (const [i, node] of content.entries()) {
    if (node.type === 'break') return { title: content.slice(0, i).filter(isShown), text: content.slice(i + 1) };
    const at = node.type === 'text' ? node.value.indexOf('\n') : -1;
    if (node.type !== 'text' || at < 0) continue;
    const title = [...content.slice(0, i), { ...node, value: node.value.slice(0, at) }];
    return {
      title: title.filter(isShown),
      text: [shortened(node, at + 1), ...content.slice(i + 1)],
    };
  }
  return { title: content.filter(isShown), text: [] };
}

function isShown(node: PhrasingContent): boolean {
  return node.type !== 'text' || node.value.trim() !== '';
}

/** Cuts the beginning of a text and moves its start position to the line of the remaining text. */
function shortened(node: Text, from: number): Text {
  const { value, position } = node;
  const lines = value.slice(0, from).split('\n').length - 1;
  const start = position && { ...position.start, line: position.start.line + lines };
  return { ...node, value: value.slice(from), ...(position && start && { position: { ...position, start } }) };
}

/** Obsidian's `==highlight==`: around words, not within a word. */
const MARKED = /(?<![\p{L}\p{N}=])==(?=[^\s=])([^=\n]*[^\s=])==(?![\p{L}\p{N}=])/gu;
const NAMED = new RegExp(EMOJI, 'gu');

/** The source of an emoji, from which its heading's id is derived. */
interface Written {
  written?: string;
}

declare module 'hast' {
  interface TextData extends Written {}
}

/** Renders a text: highlights become <mark>, names of emoji become emoji, and spaces at line ends are dropped. */
export function markedText(node: Text): ElementContent[] {
  const text = { ...node, value: node.value.replace(/(?<![ \t])[ \t]*(\r?\n|\r)[ \t]*/g, '$1') };
  const { value } = text;
  return mayHaveEmoji(value) ? withEmoji(text) : highlights(text);
}

/** Splits a text so that each emoji is a separate piece. */
function withEmoji(text: Text): ElementContent[] {
  const { value } = text;
  const pieces: ElementContent[] = [];
  let from = 0;
  for (const { 0: written, 1: name = '', index } of value.matchAll(NAMED)) {
    const emoji = emojiNamed(name);
    if (emoji === undefined) continue;
    if (index > from) pieces.push(...highlights(asText(piece(text, from, index))));
    from = index + written.length;
    pieces.push({ ...piece(text, index, from), value: emoji, data: { written } });
  }
  if (from < value.length || pieces.length === 0) pieces.push(...highlights(asText(piece(text, from, value.length))));
  return pieces;
}

function asText({ value, position }: Words): Text {
  return { type: 'text', value, ...(position && { position }) };
}

function highlights(text: Text): ElementContent[] {
  const { value } = text;
  if (!value.includes('==')) return [piece(text, 0, value.length)];
  const pieces: ElementContent[] = [];
  let from = 0;
  for (const match of value.matchAll(MARKED)) {
    const [whole] = match;
    if (match.index > from) pieces.push(piece(text, from, match.index));
    from = match.index + whole.length;
    const words = piece(text, match.index + 2, from - 2);
    const { position } = words;
    pieces.push({ type: 'element', tagName: 'mark', properties: {}, children: [words], ...(position && { position }) });
  }
  if (from < value.length || pieces.length === 0) pieces.push(piece(text, from, value.length));
  return pieces;
}

/** Returns a part of a text, positioned on its own lines. */
function piece({ value, position }: Text, start: number, end: number): Words {
  const words = value.slice(start, end);
  if (!position) return { type: 'text', value: words };
  const line = position.start.line + lineEndsIn(value.slice(0, start));
  const last = line + lineEndsIn(words);
  return {
    type: 'text',
    value: words,
    position: { start: { ...position.start, line }, end: { ...position.end, line: last } },
  };
}
