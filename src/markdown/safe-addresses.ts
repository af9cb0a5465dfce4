import { slug } from 'github-slugger';
import type { Element, Nodes, Properties, Root } from 'hast';
import { addressOfMedia, isMedia, nameOfAddress } from './raw-html/media-elements.ts';

/**
 * The prefix of all ids in a page's content. No global variable or property of `document` begins with it, so that a
 * heading ("cookie", "__proto__") cannot clobber one, and the page around the content does not use it.
 */
export const ID_PREFIX = 'h-';

const ID_MAX = 100;

/**
 * Schemes of links besides the web's, which open a program that asks before it does anything. Not `file:`, which makes Windows send a
 * password's hash to a host, nor those of other applications, which may run something at once.
 */
export const OTHER_SCHEMES = ['ftp', 'ftps', 'geo', 'irc', 'ircs', 'mailto', 'sftp', 'sms', 'tel', 'xmpp'];
const LINKS = new RegExp(`^(?:https?|${OTHER_SCHEMES.join('|')}):$`);

/** The base of relative addresses; on the reserved host name every other host is external. */
const PAGE = new URL('https://page.invalid/folder/page');

/**
 * Prefixes ids and makes them unique, adapts fragments of links within the wiki, and gives external links
 * `rel="nofollow noopener noreferrer"`. References to attachments become addresses in the wiki. Addresses with other
 * schemes than those of the web are removed.
 */
export function rewriteIdsAndAddresses(trees: readonly Root[], wiki_id = ''): void {
  const elements: Element[] = [];
  for (const tree of trees) collect(tree, elements, false);
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  for (const element of elements) rewriteId(element, ids, counts);
  for (const element of elements) rewriteAddresses(element, ids, wiki_id);
}

function collect(parent: Root | Element, elements: Element[], isInLink: boolean): void {
  // The checkboxes of task lists are the only form controls in a page.
  parent.children = (parent.children as Element['children']).filter(
    (child) => child.type !== 'element' || child.tagName !== 'input' || child.properties.type === 'checkbox',
  );
  for (const child of parent.children) {
    if (child.type !== 'element') continue;
    if (isMedia(child)) linkMedia(child);
    // The content of <template> is shown, because most often the tag is mentioned in the text rather than used.
    if (child.content) child.children = child.content.children as Element['children'];
    // An attribute without a value equals an empty one; it is always written the same way.
    for (const [name, value] of Object.entries(child.properties)) {
      if (value === true && name.startsWith('data')) child.properties[name] = '';
    }
    // Browsers end a link where another one begins.
    if (child.tagName === 'a' && isInLink) Object.assign(child, { tagName: 'span', properties: {} });
    if (child.tagName === 'pre') dropLeadingLineBreaks(child);
    elements.push(child);
    collect(child, elements, isInLink || child.tagName === 'a');
  }
}

/** Makes a link of an element that shows a file, with its fallback behind it, unless that has the link. */
function linkMedia(element: Element): void {
  const href = addressOfMedia(element);
  const fallback = element.children.filter((child) => child.type !== 'element' || child.tagName !== 'source');
  const words: Element['children'] = [{ type: 'text', value: nameOfAddress(href) }];
  const link: Element = { type: 'element', tagName: 'a', properties: { href }, children: words };
  if (element.position) link.position = element.position;
  const isLinked = href === '' || hasLink(fallback, href);
  Object.assign(element, { tagName: 'span', properties: {}, children: isLinked ? fallback : [link, ...fallback] });
}

function hasLink(nodes: Element['children'], href: string): boolean {
  return nodes.some(
    (node) =>
      node.type === 'element' &&
      (node.properties.href === href || node.properties.src === href || hasLink(node.children, href)),
  );
}

/**
 * HTML parsers drop a line break right after <pre>, so it is removed to get the same tree when the page is parsed
 * again.
 */
function dropLeadingLineBreaks({ children: [first] }: Element): void {
  if (first?.type === 'text') first.value = first.value.replace(/^[\r\n]+/, '');
}

function rewriteId(element: Element, ids: Set<string>, counts: Map<string, number>): void {
  const { properties, tagName } = element;
  // <a name> is the obsolete form of an id.
  const given = anchorOf(String(properties.id ?? (tagName === 'a' ? (properties.name ?? '') : '')));
  delete properties.name;
  delete properties.id;
  const base = given || (/^h[1-6]$/.test(tagName) ? headingId(element) : '');
  if (base !== '') properties.id = uniqueId(base, ids, counts);
  if (properties.ariaDescribedBy) {
    const described = properties.ariaDescribedBy;
    properties.ariaDescribedBy = (Array.isArray(described) ? described : [String(described)]).map((id) =>
      anchorOf(String(id)),
    );
  }
}

/** Returns `base`, numbered if the page has that id already, and reserves it. */
export function uniqueId(base: string, ids: Set<string>, counts: Map<string, number>): string {
  let id = base;
  let n = counts.get(base) ?? 0;
  while (ids.has(id)) {
    n += 1;
    id = `${base}-${n}`;
  }
  counts.set(base, n);
  ids.add(id);
  return id;
}

/** The id that links on GitHub expect for a heading, with the prefix. */
function headingId(heading: Element): string {
  return headingAnchor(wordsOf(heading));
}

/** The id of the first heading with these words. */
export function headingAnchor(words: string): string {
  return ID_PREFIX + (plainId(slug(words.replace(/\s+/g, ' '))) || 'section');
}

function wordsOf(node: Nodes): string {
  if (node.type === 'text') return node.data?.written ?? node.value;
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}

/** An id with the prefix, lower-case and without whitespace; "" for an empty one. */
export function anchorOf(id: string): string {
  const name = plainId(id);
  const bare = name.startsWith(ID_PREFIX) ? name.slice(ID_PREFIX.length) : name;
  return bare === '' ? '' : ID_PREFIX + bare;
}

function plainId(id: string): string {
  return id
    .toLowerCase()
    .replace(/[\s\p{Cc}]+/gu, '-')
    .slice(0, ID_MAX)
    .toWellFormed();
}

function rewriteAddresses({ tagName, properties }: Element, ids: ReadonlySet<string>, wiki_id: string): void {
  if (wiki_id !== '') resolveAttachment(properties, tagName === 'img' ? 'src' : 'href', wiki_id);
  if (tagName === 'img') {
    setAddress(properties, 'src', /^https?:$/);
    // A picture is loaded lazily and without a referrer, so that its host learns as little as possible about readers.
    properties.loading = 'lazy';
    properties.referrerPolicy = 'no-referrer';
    return;
  }
  if (tagName !== 'a') return;
  const url = setAddress(properties, 'href', LINKS);
  delete properties.rel;
  if (!url) return;
  const href = String(properties.href);
  const isExternal = url.host !== PAGE.host || /^[a-z]+:/.test(href);
  if (isExternal && /^https?:$/.test(url.protocol)) properties.rel = ['nofollow', 'noopener', 'noreferrer'];
  if (!isExternal && !href.startsWith('/')) properties.href = rewriteFragment(href, ids);
}

/** The format of newId; the attachment may not exist. */
const ATTACHMENT = /^attachment:(attachment_[0-9a-hjkmnp-tv-z]{26})$/;

function resolveAttachment(properties: Properties, name: 'href' | 'src', wiki_id: string): void {
  const [, attachment_id] = ATTACHMENT.exec(String(properties[name] ?? '')) ?? [];
  if (attachment_id !== undefined) properties[name] = `/v1/wikis/${wiki_id}/attachments/${attachment_id}`;
}

/**
 * Sets the address without the characters that browsers ignore and with its scheme in lower case; removes it if its
 * scheme is not allowed.
 */
function setAddress(properties: Properties, name: 'href' | 'src', schemes: RegExp): URL | undefined {
  // Browsers strip these characters (URL Standard, section 4.4).
  const address = String(properties[name] ?? '').replace(/^[\0-\x20]+|[\0-\x20]+$|[\t\n\r]+/g, '');
  const url = properties[name] === undefined ? null : URL.parse(address, PAGE.href);
  if (!url || !schemes.test(url.protocol)) {
    delete properties[name];
    return undefined;
  }
  properties[name] = address.replace(/^[a-zA-Z]+:/, (scheme) => scheme.toLowerCase());
  return url;
}

/** Prefixes a fragment, so that `#install` refers to the heading "Install" in this page or another one. */
function rewriteFragment(href: string, ids: ReadonlySet<string>): string {
  const at = href.indexOf('#');
  if (at < 0 || at === href.length - 1) return href;
  const name = plainId(decoded(href.slice(at + 1)));
  const isSamePage = at === 0;
  const id = isSamePage && !ids.has(name) && ids.has(ID_PREFIX + name) ? ID_PREFIX + name : anchorOf(name);
  if (isSamePage && !ids.has(id)) {
    const other = idOfLetters(name, ids);
    if (other !== undefined) return `#${encodeURIComponent(other)}`;
  }
  return id === '' ? href : `${href.slice(0, at)}#${encodeURIComponent(id)}`;
}

/** The first id with the same letters and digits: other generators of sites make other ids of the same heading. */
function idOfLetters(name: string, ids: ReadonlySet<string>): string | undefined {
  const letters = lettersOf(name.replace(/^id-(?=.)/i, ''));
  if (letters === '') return undefined;
  let known = lettersOfIds.get(ids);
  if (!known) {
    known = new Map();
    for (const id of ids) {
      const key = lettersOf(id.startsWith(ID_PREFIX) ? id.slice(ID_PREFIX.length) : id);
      if (!known.has(key)) known.set(key, id);
    }
    lettersOfIds.set(ids, known);
  }
  return known.get(letters);
}

/** Ids by their letters and digits, for each document that is rendered. */
const lettersOfIds = new WeakMap<ReadonlySet<string>, Map<string, string>>();

function lettersOf(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}

/** A fragment without percent-encoding. */
export function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // An invalid percent-encoding is kept as text.
    return fragment;
  }
}
