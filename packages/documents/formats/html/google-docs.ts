import type { Element, Root } from 'hast';
import { type Children, classesOf, findElement, newElement, textOf, visit } from './elements.ts';

/** CSS declarations with an equivalent element. */
const MEANINGS: readonly [declaration: RegExp, tagName: string][] = [
  [/font-weight:\s*(?:bold|[6-9]00)/, 'strong'],
  [/font-style:\s*italic/, 'em'],
  [/text-decoration:[^;]*line-through/, 'del'],
  [/vertical-align:\s*super/, 'sup'],
  [/vertical-align:\s*sub/, 'sub'],
];

const LIST_LEVEL = / lst-([\w-]+)-(\d) /;

/**
 * Replaces classes of Google Docs by elements, in place: bold, italics and the like, the title and nested lists.
 * Removes the redirect over google.com from links. Does nothing to other documents.
 */
export function readGoogleDocs(document: Root): void {
  const body = findElement(document, 'body');
  if (!body || !isGoogleDocs(document, body)) return;
  const meanings = meaningsOf(textOf(findElement(document, 'style')));
  nestLists(body);
  visit(body, (element) => {
    const { tagName, properties } = element;
    const classes = classesOf(element);
    if (tagName === 'a') properties.href = withoutDetour(String(properties.href ?? ''));
    else if (tagName === 'p' && classes.includes(' title ')) element.tagName = 'h1';
    else if (tagName === 'span' && textOf(element).trim() !== '') {
      const names = new Set(classes.split(' ').flatMap((name) => meanings.get(name) ?? []));
      for (const name of names) element.children = [newElement(name, {}, element.children)];
    }
  });
  for (const level of ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']) visit(body, (element) => unemphasize(element, level));
}

function isGoogleDocs(document: Root, body: Element): boolean {
  return (
    classesOf(body).includes(' doc-content ') ||
    textOf(findElement(document, 'style')).includes('themes.googleusercontent')
  );
}

/** Maps each class to its equivalent elements. */
function meaningsOf(style: string): Map<string, string[]> {
  const meanings = new Map<string, string[]>();
  for (const [, name = '', declarations = ''] of style.matchAll(/\.(c\d+)\{([^}]*)\}/g)) {
    const names = MEANINGS.flatMap(([declaration, tagName]) => (declaration.test(declarations) ? tagName : []));
    if (names.length > 0) meanings.set(name, names);
  }
  return meanings;
}

/** Headings are bold already, so they do not need <strong>. */
function unemphasize(heading: Element, level: string): void {
  if (heading.tagName !== level) return;
  visit(heading, (element) => {
    if (element.tagName === 'strong') element.tagName = 'span';
  });
}

/**
 * Nests lists: Google Docs writes each level as a sibling list. A deeper list continues the last item of the level
 * above.
 */
function nestLists(parent: Root | Element): void {
  /** Open lists by level. */
  let open: { id: string; list: Element }[] = [];
  const kept: Children = [];
  for (const child of parent.children as Children) {
    const [, id = '', digit = ''] =
      child.type === 'element' && /^[ou]l$/.test(child.tagName) ? (LIST_LEVEL.exec(classesOf(child)) ?? []) : [];
    if (child.type === 'text' && child.value.trim() === '') {
      kept.push(child);
      continue;
    }
    if (child.type !== 'element' || id === '') {
      if (child.type === 'element') nestLists(child);
      open = [];
      kept.push(child);
      continue;
    }
    const level = Number(digit);
    open.length = Math.min(open.length, level + 1);
    const same = open[level];
    const above = open[level - 1];
    const item = above?.list.children.findLast((each) => each.type === 'element');
    if (same?.id === id && same.list.tagName === child.tagName) same.list.children.push(...child.children);
    else if (item?.type === 'element') {
      item.children.push(child);
      open[level] = { id, list: child };
    } else {
      kept.push(child);
      open = [];
      open[level] = { id, list: child };
    }
  }
  parent.children = kept;
}

/** Unwraps the address in `https://www.google.com/url?q=…`. */
function withoutDetour(href: string): string {
  const url = URL.parse(href);
  if (url?.hostname !== 'www.google.com' || url.pathname !== '/url') return href;
  return url.searchParams.get('q') || href;
}
