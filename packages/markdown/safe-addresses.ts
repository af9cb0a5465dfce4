import { slug } from 'github-slugger';
import type { Element, Nodes, Properties, Root } from 'hast';
import { addressOfMedia, isMedia, nameOfAddress, playerOf, sourcesOf } from './raw-html/media-elements.ts';

/**
 * The prefix of all ids in a page's content. No global variable or property of `document` begins with it, so that a
 * heading ("cookie", "__proto__") cannot clobber one, and the page around the content does not use it.
 */
export const ID_PREFIX = 'h-';

const ID_MAX = 100;

/**
 * Link schemes other than the web's. They open a program that asks before it acts. Excluded are `file:`, which makes
 * Windows send a password hash to a host, and schemes of other applications, which may run code immediately.
 */
export const OTHER_SCHEMES = ['ftp', 'ftps', 'geo', 'irc', 'ircs', 'mailto', 'sftp', 'sms', 'tel', 'xmpp'];
const LINKS = new RegExp(`^(?:https?|${OTHER_SCHEMES.join('|')}):$`);

/** The base of relative addresses; on the reserved host name every other host is external. */
const PAGE = new URL('https://page.invalid/folder/page');

/**
 * Prefixes ids and makes them unique, adapts fragments of links within the wiki, and gives external links
 * `rel="nofollow noopener noreferrer"`. References to attachments become addresses in the wiki. Addresses with schemes
 * that are not allowed are removed.
 */
export function rewriteIdsAndAddresses(trees: readonly Root[], wiki_id = ''): void {
  const elements: Element[] = [];
  for (const tree of trees) collect(tree, elements, { wiki_id, isInLink: false });
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  for (const element of elements) rewriteId(element, ids, counts);
  for (const element of elements) rewriteAddresses(element, ids, wiki_id);
}

/** The wiki that attachments belong to, and whether an element is inside a link. */
interface Place {
  wiki_id: string;
  isInLink: boolean;
}

function collect(parent: Root | Element, elements: Element[], place: Place): void {
  // The checkboxes of task lists are the only form controls in a page.
  parent.children = (parent.children as Element['children']).filter(
    (child) => child.type !== 'element' || child.tagName !== 'input' || child.properties.type === 'checkbox',
  );
  for (const child of parent.children) {
    if (child.type !== 'element') continue;
    if (isMedia(child)) showMedia(child, place);
    // The content of <template> is shown, because most often the tag is mentioned in the text rather than used.
    if (child.content) child.children = child.content.children as Element['children'];
    // An attribute without a value equals an empty one; it is always written the same way.
    for (const [name, value] of Object.entries(child.properties)) {
      if (value === true && name.startsWith('data')) child.properties[name] = '';
    }
    // A browser ends a link where another link begins.
    if (child.tagName === 'a' && place.isInLink) Object.assign(child, { tagName: 'span', properties: {} });
    if (child.tagName === 'pre') dropLeadingLineBreaks(child);
    elements.push(child);
    collect(child, elements, { ...place, isInLink: place.isInLink || child.tagName === 'a' });
  }
}

/**
 * Converts an element that shows a sound or a film to a player, and an element that shows another file to a link. A
 * player contains the link as its fallback. Other content of the element follows the link, unless it contains the same
 * link.
 */
function showMedia(element: Element, { wiki_id, isInLink }: Place): void {
  const { tagName, properties, position } = element;
  const isPlayer = tagName === 'audio' || tagName === 'video';
  const written = tagName === 'img' ? String(properties.src) : addressOfMedia(element);
  const player = isPlayer ? tagName : playerOf(written);
  const sources = (
    player ? [String(properties.src || written), ...(properties.src ? [] : sourcesOf(element).slice(1))] : []
  )
    .filter((source) => isPlayable(source, wiki_id))
    .slice(0, SOURCES_MAX);
  const [first] = sources;
  const href = first === undefined ? written : first.replace(/#.*$/s, '');
  const fallback = element.children.filter((child) => child.type !== 'element' || child.tagName !== 'source');
  const words: Element['children'] = [{ type: 'text', value: String(properties.alt || '') || nameOfAddress(written) }];
  const link: Element = { type: 'element', tagName: 'a', properties: { href }, children: words };
  if (position) link.position = position;
  // A link inside a link would become text, and each further pass would add another link after it.
  const isLinked = href === '' || hasLink(fallback, href) || (isInLink && fallback.length > 0);
  const children = isLinked ? fallback : [link, ...fallback];
  if (player === undefined || first === undefined) {
    Object.assign(element, { tagName: 'span', properties: {}, children });
    return;
  }
  const { width, height, id, title, dir, lang } = properties;
  const size = player === 'video' ? { width, height } : {};
  const preload = sources.every(isAttachment) ? 'metadata' : 'none';
  const shown = { id, title, dir, lang, ...size, controls: true, preload };
  if (sources.length === 1) Object.assign(element, { properties: { ...shown, src: first }, children });
  else Object.assign(element, { properties: shown, children: [...sources.map(newSource), ...children] });
  element.tagName = player;
}

/** Limit of the alternative sources of one player. */
const SOURCES_MAX = 8;

function newSource(src: string): Element {
  return { type: 'element', tagName: 'source', properties: { src }, children: [] };
}

/** Tells whether a player may load an address. */
function isPlayable(address: string, wiki_id: string): boolean {
  if (address === '') return false;
  return (wiki_id !== '' && ATTACHMENT.test(address)) || /^https?:$/.test(urlOf(address)?.protocol ?? '');
}

/** Tells whether an address is a file of the wiki. Any other site would learn of each reader. */
function isAttachment(address: string): boolean {
  return ATTACHMENT.test(address) || /^\/v1\/wikis\/[^/]+\/attachments\/[^/]+$/.test(address);
}

function hasLink(nodes: Element['children'], href: string): boolean {
  const isIt = (address: unknown) => String(address ?? '').replace(/#.*$/s, '') === href;
  return nodes.some(
    (node) =>
      node.type === 'element' &&
      (isIt(node.properties.href) || isIt(node.properties.src) || hasLink(node.children, href)),
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

/** Returns the id of the first heading with these words. */
export function headingAnchor(words: string): string {
  return ID_PREFIX + (plainId(slug(words.replace(/\s+/g, ' '))) || 'section');
}

function wordsOf(node: Nodes): string {
  if (node.type === 'text') return node.data?.written ?? node.value;
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}

/** Returns an id with the prefix, in lower case and without whitespace; "" for an empty id. */
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
  if (wiki_id !== '') resolveAttachment(properties, LOADS.has(tagName) ? 'src' : 'href', wiki_id);
  if (LOADS.has(tagName) && tagName !== 'img') setAddress(properties, 'src', /^https?:$/);
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

/** Elements for which a browser loads a file. */
const LOADS = new Set('audio img source video'.split(' '));

/** An attachment id in the format of newId, and after `#` the name of the file. The attachment may not exist. */
const ATTACHMENT = /^attachment:(attachment_[0-9a-hjkmnp-tv-z]{26})(?:#.*)?$/s;

function resolveAttachment(properties: Properties, name: 'href' | 'src', wiki_id: string): void {
  const [, attachment_id] = ATTACHMENT.exec(String(properties[name] ?? '')) ?? [];
  if (attachment_id !== undefined) properties[name] = `/v1/wikis/${wiki_id}/attachments/${attachment_id}`;
}

/**
 * Sets the address without the characters that browsers ignore and with its scheme in lower case; removes it if its
 * scheme is not allowed.
 */
function setAddress(properties: Properties, name: 'href' | 'src', schemes: RegExp): URL | undefined {
  const address = trimmed(String(properties[name] ?? ''));
  const url = properties[name] === undefined ? null : urlOf(address);
  if (!url || !schemes.test(url.protocol)) {
    delete properties[name];
    return undefined;
  }
  properties[name] = address.replace(/^[a-zA-Z]+:/, (scheme) => scheme.toLowerCase());
  return url;
}

/** An address without the characters that browsers strip (URL Standard, section 4.4). */
function trimmed(address: string): string {
  return address.replace(/^[\0-\x20]+|[\0-\x20]+$|[\t\n\r]+/g, '');
}

function urlOf(address: string): URL | null {
  return URL.parse(trimmed(address), PAGE.href);
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

/**
 * Returns the first id with the same letters and digits, because other site generators derive other ids from the same
 * heading.
 */
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

/** Ids by their letters and digits, cached for each rendered document. */
const lettersOfIds = new WeakMap<ReadonlySet<string>, Map<string, string>>();

function lettersOf(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}

/** Decodes a fragment. Invalid percent-encoding is kept as text. */
export function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
