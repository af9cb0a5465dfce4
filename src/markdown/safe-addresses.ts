import { slug } from 'github-slugger';
import type { Element, Nodes, Properties, Root } from 'hast';

/**
 * What every id of a page's content begins with. No global and no property of a document begins so, so that no heading
 * ("cookie", "__proto__") can stand in for one, and no page around the content uses it for its own ids.
 */
export const ID_PREFIX = 'h-';

const ID_MAX = 100;

/** Stands for the page that an address is resolved against; the reserved name makes every other host another one. */
const PAGE = new URL('https://page.invalid/folder/page');

/**
 * Puts ids under the prefix and makes them unique, has fragments of links within the wiki follow, and says of links to
 * other places that we do not vouch for them. References to attachments become addresses in the wiki. Addresses that are
 * not of the web lose their attribute.
 */
export function settleIdsAndAddresses(tree: Root, wiki_id = ''): void {
  const elements: Element[] = [];
  collect(tree, elements, false);
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  for (const element of elements) settleId(element, ids, counts);
  for (const element of elements) settleAddresses(element, ids, wiki_id);
}

function collect(parent: Root | Element, elements: Element[], isInLink: boolean): void {
  // A checkbox of a task list is the only control that a page has.
  parent.children = (parent.children as Element['children']).filter(
    (child) => child.type !== 'element' || child.tagName !== 'input' || child.properties.type === 'checkbox',
  );
  for (const child of parent.children) {
    if (child.type !== 'element') continue;
    // What <template> holds is shown rather than lost: most often it is a tag that somebody wrote about.
    if (child.content) child.children = child.content.children as Element['children'];
    // An attribute without a value is the same as an empty one, and is written in one way only.
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

/** Whoever parses <pre> loses a line break right behind it, so that there must be none for the same tree to come out. */
function dropLeadingLineBreaks({ children: [first] }: Element): void {
  if (first?.type === 'text') first.value = first.value.replace(/^[\r\n]+/, '');
}

function settleId(element: Element, ids: Set<string>, counts: Map<string, number>): void {
  const { properties, tagName } = element;
  // Old anchors, <a name>, are ids by another name.
  const given = anchorOf(String(properties.id ?? (tagName === 'a' ? (properties.name ?? '') : '')));
  delete properties.name;
  delete properties.id;
  const base = given || (/^h[1-6]$/.test(tagName) ? headingId(element) : '');
  if (base !== '') properties.id = freeId(base, ids, counts);
  if (properties.ariaDescribedBy) {
    const described = properties.ariaDescribedBy;
    properties.ariaDescribedBy = (Array.isArray(described) ? described : [String(described)]).map((id) =>
      anchorOf(String(id)),
    );
  }
}

/** `base`, or numbered where the page has that id already; it is then taken. */
export function freeId(base: string, ids: Set<string>, counts: Map<string, number>): string {
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

/** The id that links on GitHub expect a heading to have, under the prefix. */
function headingId(heading: Element): string {
  return headingAnchor(wordsOf(heading));
}

/** The id of the first heading of these words. */
export function headingAnchor(words: string): string {
  return ID_PREFIX + (plainId(slug(words.replace(/\s+/g, ' '))) || 'section');
}

function wordsOf(node: Nodes): string {
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}

/** An id under the prefix, lower-case and without whitespace; "" for an empty one. */
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

function settleAddresses({ tagName, properties }: Element, ids: ReadonlySet<string>, wiki_id: string): void {
  if (wiki_id !== '') resolveAttachment(properties, tagName === 'img' ? 'src' : 'href', wiki_id);
  if (tagName === 'img') {
    setAddress(properties, 'src', /^https?:$/);
    // A reader's visit is not told to whoever keeps the picture more than loading it does.
    properties.loading = 'lazy';
    properties.referrerPolicy = 'no-referrer';
    return;
  }
  if (tagName !== 'a') return;
  const url = setAddress(properties, 'href', /^(?:https?|mailto):$/);
  delete properties.rel;
  if (!url) return;
  const href = String(properties.href);
  const isElsewhere = url.host !== PAGE.host || /^[a-z]+:/.test(href);
  if (isElsewhere && url.protocol !== 'mailto:') properties.rel = ['nofollow', 'noopener', 'noreferrer'];
  if (!isElsewhere && !href.startsWith('/')) properties.href = settleFragment(href, ids);
}

/** As newId writes them; whether there is one of that id is not looked up. */
const ATTACHMENT = /^attachment:(attachment_[0-9a-hjkmnp-tv-z]{26})$/;

function resolveAttachment(properties: Properties, name: 'href' | 'src', wiki_id: string): void {
  const [, attachment_id] = ATTACHMENT.exec(String(properties[name] ?? '')) ?? [];
  if (attachment_id !== undefined) properties[name] = `/v1/wikis/${wiki_id}/attachments/${attachment_id}`;
}

/** The address without what browsers ignore in it, its scheme in lower case; removed if it is none of these schemes. */
function setAddress(properties: Properties, name: 'href' | 'src', schemes: RegExp): URL | undefined {
  // These are what browsers take off or overlook (URL Standard, 4.4).
  const address = String(properties[name] ?? '').replace(/^[\0-\x20]+|[\0-\x20]+$|[\t\n\r]+/g, '');
  const url = properties[name] === undefined ? null : URL.parse(address, PAGE.href);
  if (!url || !schemes.test(url.protocol)) {
    delete properties[name];
    return undefined;
  }
  properties[name] = address.replace(/^[a-zA-Z]+:/, (scheme) => scheme.toLowerCase());
  return url;
}

/** Points `#install` at the heading "Install", in this page or in another one, whose ids are under the prefix too. */
function settleFragment(href: string, ids: ReadonlySet<string>): string {
  const at = href.indexOf('#');
  if (at < 0 || at === href.length - 1) return href;
  const name = plainId(decoded(href.slice(at + 1)));
  const isHere = at === 0;
  const id = isHere && !ids.has(name) && ids.has(ID_PREFIX + name) ? ID_PREFIX + name : anchorOf(name);
  return id === '' ? href : `${href.slice(0, at)}#${encodeURIComponent(id)}`;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // A percent sign that encodes nothing is a percent sign.
    return fragment;
  }
}
