import { addressOfMedia, nameOfAddress } from '@ibid/markdown/raw-html/media-elements.ts';
import type { Element, Root } from 'hast';
import type { LossList } from '../loss-list.ts';
import { countCharacters, type LossKind } from '../losses.ts';
import { type Children, findElement, NOTE, newElement, newText, SYMBOL, TARGETS, textOf, visit } from './elements.ts';
import { BLOCKS } from './wrapped-blocks.ts';

/** Elements that are not part of the readable text, with the kind of loss to list for them. */
const CHROME: ReadonlyMap<string, LossKind> = new Map([
  ...eachAs('embedded_object', 'applet audio canvas embed frame frameset iframe object video'),
  ...eachAs('form_field', 'button input option select textarea'),
  ...eachAs('hidden_text', 'dialog noscript template'),
  ...eachAs('metadata', 'base link meta title'),
  ...eachAs('navigation', 'nav'),
  ...eachAs('picture', 'svg'),
  ...eachAs('script', 'script style'),
]);

function eachAs(kind: LossKind, names: string): [string, LossKind][] {
  return names.split(' ').map((name) => [name, kind]);
}

/** Elements that embed a file, with fallback content. */
const FALLBACKS = new Set('audio canvas object video'.split(' '));

/** Emphasis is dropped if it is empty: the Markdown serializer takes quadratic time for a run of empty emphasis. */
const EMPHASIS = new Set('b big del em i mark s small strike strong u'.split(' '));

/** Elements besides blocks that are kept if they are empty, because they show something or give structure. */
const KEPT_EMPTY = new Set('body br caption col colgroup footer form header hgroup img input legend wbr'.split(' '));

/** WAI-ARIA landmark roles of navigation and of parts that repeat on every page of a site. */
const CHROME_ROLES = new Set(['navigation', 'search', 'banner', 'contentinfo', 'menu', 'menubar', 'toolbar']);

/** Returns the content of a document: its only <main>, else <body>. Lists everything outside <main> as navigation. */
export function mainContent(document: Root, losses: LossList): Root {
  const mains: Element[] = [];
  let body: Element | undefined;
  // The content of a page that Confluence exported as HTML.
  let marked: Element | undefined;
  let isExported = false;
  visit(document, (element) => {
    if (element.tagName === 'main' || element.properties.role === 'main') mains.push(element);
    if (element.properties.id === 'main-content') marked = element;
    if (element.properties.id === 'breadcrumb-section' || element.properties.id === 'title-heading') isExported = true;
    if (element.tagName === 'body') body ??= element;
  });
  const [main, ...others] = isExported && marked ? [marked] : mains;
  if (main && others.length === 0 && hasWords(main)) {
    if (body) addBeside(body, main, losses);
    return { type: 'root', children: main.children };
  }
  return { type: 'root', children: body?.children ?? [] };
}

/** Lists everything outside the content as losses. */
function addBeside(node: Element, content: Element, losses: LossList): void {
  for (const child of node.children) {
    if (child === content) continue;
    if (child.type === 'element' && contains(child, content)) addBeside(child, content, losses);
    else {
      const kind = child.type === 'element' ? CHROME.get(child.tagName) : undefined;
      const text = visibleText(child);
      if (kind && child.type === 'element') addLoss(child, kind, losses);
      else if (text.trim() !== '') losses.sum('navigation', text);
    }
  }
}

function contains(node: Element, searched: Element): boolean {
  return node.children.some((child) => child === searched || (child.type === 'element' && contains(child, searched)));
}

/**
 * Removes navigation and similar parts in place, and lists them. Removes headers and footers of the site, and keeps
 * them inside an article.
 */
export function removeChrome(content: Root, losses: LossList): void {
  removeFrom(content, true, losses);
}

function removeFrom(parent: Root | Element, isOutermost: boolean, losses: LossList): void {
  const items = parent.type === 'element' && parent.tagName === 'li';
  const kept = (parent.children as Children).flatMap((child, i): Children => {
    if (child.type === 'comment') return [];
    if (child.type !== 'element') return [child];
    const loss = chromeKind(child, isOutermost);
    if (loss === undefined) {
      // HTML defines <menu> as a list.
      if (child.tagName === 'menu') child.tagName = 'ul';
      // A summary may contain headings.
      if (child.tagName === 'summary') child.tagName = 'div';
      removeFrom(child, false, losses);
      // The whitespace minifier takes quadratic time for a run of empty elements.
      if (isNothing(child)) return [];
      return EMPHASIS.has(child.tagName) ? emphasized(child) : [child];
    }
    if (isCheckbox(child)) return items && i === 0 ? [child] : [newText(child.properties.checked ? '☑ ' : '☐ ')];
    if (FALLBACKS.has(child.tagName)) return fallbackOf(child, losses);
    const places = placesIn(child);
    const picture = child.tagName === 'svg' ? pictureIn(child) : undefined;
    if (picture) return [...places, picture];
    addLoss(child, loss, losses);
    return places;
  });
  parent.children = withJoinedPlaces(kept);
}

/** Returns the fallback content of an embedded file, after a link to the file unless the fallback links to it. */
function fallbackOf(element: Element, losses: LossList): Children {
  const address = addressOfMedia(element);
  removeFrom(element, false, losses);
  if (address !== '') losses.addThing('embedded_object', address);
  const fallback = element.children.filter((child) => child.type !== 'element' || child.tagName !== 'source');
  const own = element.properties[TARGETS];
  const places = own === undefined ? [] : [newElement('a', { [TARGETS]: own }, [])];
  let isLinked = address === '';
  visit(element, ({ properties }) => {
    isLinked ||= properties.href === address || properties.src === address;
  });
  const link = isLinked ? [] : [newElement('a', { href: address }, [newText(nameOfAddress(address))])];
  return [...places, ...link, ...fallback];
}

function isNothing({ tagName, children, properties }: Element): boolean {
  if (children.length > 0 || properties[TARGETS] !== undefined || properties[NOTE] !== undefined) return false;
  return tagName === 'details' || (!BLOCKS.has(tagName) && !KEPT_EMPTY.has(tagName));
}

/** Merges adjacent link targets into one element: the Markdown serializer takes quadratic time for a run of them. */
function withJoinedPlaces(children: Children): Children {
  let place: Element | undefined;
  return children.filter((child) => {
    const targets = child.type === 'element' && child.tagName === 'a' ? child.properties[TARGETS] : undefined;
    if (targets === undefined || child.type !== 'element') {
      if (child.type !== 'text' || child.value.trim() !== '') place = undefined;
      return true;
    }
    if (place) place.properties[TARGETS] = [place.properties[TARGETS], targets].flat() as number[];
    else place = child;
    return place === child;
  });
}

/** Moves white space at the edges out of emphasis, because Markdown's marks cannot have it inside. */
function emphasized(element: Element): Children {
  const { children } = element;
  const [first, last] = [children[0], children.at(-1)];
  const before = first?.type === 'text' ? (/^\s+/.exec(first.value)?.[0] ?? '') : '';
  if (first?.type === 'text') first.value = first.value.slice(before.length);
  const after = last?.type === 'text' ? (/(?<!\s)\s+$/.exec(last.value)?.[0] ?? '') : '';
  if (last?.type === 'text') last.value = last.value.slice(0, last.value.length - after.length);
  element.children = children.filter((child) => child.type !== 'text' || child.value !== '');
  const words = element.children.length === 0 ? [] : [element];
  return [...(before ? [newText(before)] : []), ...words, ...(after ? [newText(after)] : [])];
}

/** Returns an element that keeps the link targets of a removed element. */
function placesIn(removed: Element): Children {
  const targets: unknown[] = [];
  visit(removed, ({ properties }) => {
    if (properties[TARGETS] !== undefined) targets.push(properties[TARGETS]);
  });
  return targets.length === 0 ? [] : [newElement('a', { [TARGETS]: targets.flat() as number[] }, [])];
}

/** Returns the kind of loss for an element to remove; undefined for an element to keep. */
function chromeKind(element: Element, isOutermost: boolean): LossKind | undefined {
  const { tagName, properties, children } = element;
  const chrome = CHROME.get(tagName);
  if (chrome !== undefined) return chrome;
  if (isOutermost && tagName === 'footer') return 'navigation';
  if (properties.role !== undefined && CHROME_ROLES.has(String(properties.role))) return 'navigation';
  // A caption that repeats the alternative text may be hidden from screen readers only, so it stays.
  const isHidden = properties.ariaHidden === 'true' && tagName !== 'figcaption';
  if (properties.hidden !== undefined || isHidden) return 'hidden_text';
  if (properties.style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(String(properties.style))) {
    return 'hidden_text';
  }
  // The permalink symbol of a heading.
  const [only, ...more] = children;
  const isSymbol = tagName === 'a' && more.length === 0 && only?.type === 'text' && SYMBOL.test(only.value.trim());
  return isSymbol ? 'navigation' : undefined;
}

function isCheckbox({ tagName, properties }: Element): boolean {
  return tagName === 'input' && properties.type === 'checkbox' && properties.disabled !== undefined;
}

/** Returns the picture of an SVG that only wraps it, as on covers of books. */
function pictureIn(svg: Element): Element | undefined {
  const image = findElement(svg, 'image');
  const src = image?.properties.xLinkHref ?? image?.properties.href;
  return src === undefined || textOf(svg).trim() !== '' ? undefined : newElement('img', { src, alt: '' }, []);
}

function addLoss(element: Element, kind: LossKind, losses: LossList): void {
  const { properties, tagName } = element;
  const text = visibleText(element);
  const hasText = text.trim() !== '';
  if (kind === 'script') losses.sum(kind, '');
  else if (kind === 'navigation' || kind === 'hidden_text') {
    if (hasText) losses.sum(kind, text);
  } else if (hasText) losses.add(kind, text);
  else if (/^(?:audio|embed|frame|iframe|input|object|video)$/.test(tagName) && properties.type !== 'hidden') {
    losses.addThing(kind, String(properties.src ?? properties.data ?? properties.value ?? ''));
  }
}

const WITHOUT_TEXT = new Set(['script', 'style', 'annotation', 'annotation-xml']);

/** Returns the text of an element without scripts, styles and annotations. */
function visibleText(node: Children[number] | Root): string {
  if (node.type === 'text') return node.value;
  if (!('children' in node)) return '';
  if (node.type === 'element' && WITHOUT_TEXT.has(node.tagName)) return '';
  if (node.type === 'element' && node.content) return visibleText(node.content);
  return node.children.map((child) => (child.type === 'doctype' ? '' : visibleText(child))).join(' ');
}

/** Counts the characters of an element's text nodes without white space; scripts, styles and annotations count as 0. */
export function countText(node: Children[number] | Root): number {
  if (node.type === 'text') return countCharacters(node.value);
  if (!('children' in node) || (node.type === 'element' && WITHOUT_TEXT.has(node.tagName))) return 0;
  if (node.type === 'element' && node.content) return countText(node.content);
  let count = 0;
  for (const child of node.children) if (child.type !== 'doctype') count += countText(child);
  return count;
}

function hasWords(node: Root | Element): boolean {
  return node.children.some((child) => {
    if (child.type === 'text') return child.value.trim() !== '';
    return child.type === 'element' && !CHROME.has(child.tagName) && hasWords(child);
  });
}

/** Clears an alternative text that equals the caption, because the caption is visible to everyone. */
export function dropRepeatedAlternatives(content: Root): void {
  visit(content, (figure) => {
    if (figure.tagName !== 'figure') return;
    const inside = elementsIn(figure);
    const caption = inside.find(({ tagName }) => tagName === 'figcaption');
    // A picture may be in a link or a paragraph. Search no deeper, so that the time for nested figures stays linear.
    const pictures = [...inside, ...inside.flatMap(elementsIn)].filter(({ tagName }) => tagName === 'img');
    if (!caption || pictures.length === 0) return;
    const words = inOneLine(textOf(caption));
    for (const { properties } of pictures) {
      if (inOneLine(String(properties.alt ?? '')) === words) properties.alt = '';
    }
  });
}

function elementsIn({ children }: Element): Element[] {
  return children.filter((child) => child.type === 'element');
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
