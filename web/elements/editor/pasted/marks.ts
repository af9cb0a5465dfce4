import type { Element, Root } from 'hast';
import { codeBlock, isMonospaced } from './blocks.ts';
import {
  findElement,
  type HtmlNode,
  isBlank,
  isElement,
  newElement,
  newText,
  rewrite,
  styleOf,
  textOf,
} from './hast.ts';

const INLINE = new Set('b bdi bdo big cite del dfn em font i ins label s small span strike strong tt u var'.split(' '));
const MARKS = new Set('a code del em mark strong sub sup'.split(' '));
/** A space between two of these belongs to neither. */
const SHORT = /^(?:code|sub|sup)$/;
/** Link addresses that work for others. Fragments refer to the document that was copied. */
const ADDRESS = /^(?:https?:|mailto:|tel:|ftp:|(?!#)[^:]*(?:[/?#]|$))/i;

/** Converts inline styles to the elements `strong`, `em`, `del`, `code`, `mark`, `sub` and `sup`. */
export function readStyles() {
  return (tree: Root): void => {
    rewrite(tree, (node) => {
      if (!isElement(node)) return [node];
      if (node.tagName === 'a' && !ADDRESS.test(String(node.properties.href ?? '#'))) return node.children;
      // Programs add tooltips to links, authors do not.
      if (node.tagName === 'a') {
        delete node.properties.title;
        if (node.properties.href) node.properties.href = behindRedirect(String(node.properties.href));
      }
      if (!INLINE.has(node.tagName)) return [node];
      return marksOf(node).reduceRight((inside: HtmlNode[], mark) => [newElement(mark, inside)], node.children);
    });
    rewrite(tree, (node) => {
      // A heading is bold already.
      if (isElement(node) && /^h[1-6]$/.test(node.tagName)) unwrap(node, 'strong');
      if (isElement(node) && MARKS.has(node.tagName)) unwrap(node, node.tagName);
      if (isElement(node) && node.tagName === 'a') unwrap(node, 'mark');
      return [node];
    });
  };
}

/** Redirect pages that Google Docs, Gmail, Outlook and Slack put into copied links. */
const REDIRECTS =
  /^https:\/\/(?:www\.google\.com\/url|[\w.]+\.safelinks\.protection\.outlook\.com\/|slack-redir\.net\/link)\?/;

/** Returns the target of a redirect page; any other address unchanged. */
function behindRedirect(address: string): string {
  if (!REDIRECTS.test(address)) return address;
  const { searchParams } = new URL(address);
  const target = searchParams.get('q') ?? searchParams.get('url') ?? '';
  return /^https?:\/\//.test(target) ? target : address;
}

function marksOf(element: Element): string[] {
  const { tagName } = element;
  const weight = styleOf(element, 'font-weight');
  const isBold =
    weight === '' || weight === 'inherit' ? /^(?:b|strong)$/.test(tagName) : /^(?:bold|[6-9]00)/.test(weight);
  const slant = styleOf(element, 'font-style');
  const isItalic = slant === '' || slant === 'inherit' ? /^(?:i|em|cite|dfn|var)$/.test(tagName) : slant !== 'normal';
  const lines = `${styleOf(element, 'text-decoration')} ${styleOf(element, 'text-decoration-line')}`;
  const raised = styleOf(element, 'vertical-align');
  return [
    ...(isBold ? ['strong'] : []),
    ...(isItalic ? ['em'] : []),
    ...(/^(?:s|strike|del)$/.test(tagName) || lines.includes('line-through') ? ['del'] : []),
    ...(styleOf(element, 'mso-highlight') !== '' ? ['mark'] : []),
    ...(raised === 'super' ? ['sup'] : raised === 'sub' ? ['sub'] : []),
    ...(tagName === 'tt' || isMonospaced(element) ? ['code'] : []),
  ];
}

export function unwrap(parent: Element, tagName: string): void {
  rewrite(parent, (node) => (isElement(node) && node.tagName === tagName ? node.children : [node]));
}

/**
 * Joins marks that programs write in pieces, moves spaces out of their ends, and replaces non-breaking spaces that only
 * keep a space from collapsing.
 */
export function joinMarks() {
  return (tree: Root): void => {
    rewrite(tree, (node) => {
      // A non-breaking space between two words is intended. At the end of a run it only keeps a space from collapsing.
      if (node.type === 'text') return [newText(node.value.replace(/(?<!\S)\u00a0|\u00a0(?!\S)/g, ' '))];
      return [node];
    });
    rewrite(tree, (node) => {
      if (!isElement(node)) return [node];
      node.children = joined(node.children) as Element['children'];
      return MARKS.has(node.tagName) ? trimmed(node) : [node];
    });
    tree.children = joinCode(joined(tree.children));
    rewrite(tree, (node) => {
      if (isElement(node)) node.children = joinCode(node.children) as Element['children'];
      return [node];
    });
  };
}

const hasContent = (element: Element) =>
  textOf(element).trim() !== '' || findElement(element, ({ tagName }) => /^(?:img|input)$/.test(tagName)) !== undefined;

/** Returns a mark with the spaces and line breaks at its ends moved out of it. */
function trimmed(mark: Element): HtmlNode[] {
  if (!hasContent(mark)) return mark.children;
  const before: HtmlNode[] = [];
  const after: HtmlNode[] = [];
  const isBreak = (node: HtmlNode | undefined) => isElement(node) && node.tagName === 'br';
  while (isBreak(mark.children[0]) || (mark.children[0] && isBlank(mark.children[0])))
    before.push(mark.children.shift() as HtmlNode);
  while (isBreak(mark.children.at(-1)) || (mark.children.length > 0 && isBlank(mark.children.at(-1) as HtmlNode)))
    after.unshift(mark.children.pop() as HtmlNode);
  const [first, last] = [mark.children[0], mark.children.at(-1)];
  if (first?.type === 'text' && /^\s/.test(first.value)) {
    before.push(newText(' '));
    first.value = first.value.trimStart();
  }
  if (last?.type === 'text' && /\s$/.test(last.value)) {
    after.unshift(newText(' '));
    last.value = last.value.trimEnd();
  }
  return [...before, mark, ...after];
}

/** Joins consecutive equal marks, including marks separated by a space. */
function joined(nodes: readonly HtmlNode[]): HtmlNode[] {
  const made: HtmlNode[] = [];
  for (const node of nodes) {
    const last = made.at(-1);
    const isSpace = last !== undefined && last.type === 'text' && last.value !== '' && last.value.trim() === '';
    const previous = isSpace ? made.at(-2) : last;
    if (
      isElement(node) &&
      isElement(previous) &&
      isSameMark(node, previous) &&
      !(isSpace && SHORT.test(node.tagName))
    ) {
      if (isSpace) previous.children.push(made.pop() as Element['children'][number]);
      previous.children = joined([...previous.children, ...node.children]) as Element['children'];
    } else if (node.type === 'text' && last?.type === 'text') made[made.length - 1] = newText(last.value + node.value);
    else made.push(node);
  }
  return made;
}

function isSameMark(one: Element, other: Element): boolean {
  return one.tagName === other.tagName && MARKS.has(one.tagName) && one.properties.href === other.properties.href;
}

/** Joins consecutive paragraphs that contain only code into a block of code. */
function joinCode(nodes: readonly HtmlNode[]): HtmlNode[] {
  const made: HtmlNode[] = [];
  let lines: HtmlNode[] = [];
  const close = () => {
    if (lines.length > 1) made.push(codeBlock(lines.map((line) => textOf(line)).join('\n'), ''));
    else made.push(...lines);
    lines = [];
  };
  for (const node of nodes) {
    const parts =
      isElement(node) && /^(?:p|div)$/.test(node.tagName) ? node.children.filter((part) => !isBlank(part)) : [];
    const [only] = parts;
    if (parts.length === 1 && isElement(only) && only.tagName === 'code') lines.push(node);
    else if (!isBlank(node) || lines.length === 0) {
      close();
      made.push(node);
    }
  }
  close();
  return made;
}
