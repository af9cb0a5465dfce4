import type { Root } from 'mdast';
import { visit } from './parse-markdown.ts';
import type { WikiLinkTo } from './plain-text.ts';
import { pathOfTarget, relativeAddress } from './wiki-links.ts';

/** The maximum length of a page's path, which the database enforces too. */
export const PATH_MAX = 1_024;

/** A path of the wiki that a page links to. */
export interface PageLink {
  /** For a wiki link to a missing page: `[[target]]` as written, which cannot be a path. */
  to_path: string;
  /** For such a link: the title and the path that the missing page may have. */
  wanted_title?: string;
  wanted_path?: string;
  /**
   * The ranges of addresses of that path in the Markdown: [start, end, start, end, …), in UTF-16 units, without ? and
   * #.
   */
  places: number[];
}

/** A link whose written address is no longer the path of its page. */
export interface MovedLink extends PageLink {
  /** The current path of the page. */
  path: string;
}

/**
 * More links are not written by hand, and each is a row. Links beyond the limit are not updated when their page moves.
 */
const LINKS_MAX = 2_000;

/** A wiki link to a missing page, as `page-elements.ts` and our serializer write it. */
const MISSING = /<a class="wiki missing" data-target="([^"]*)"(?: data-fragment="(#[^"]*)")?>/g;

/** `<a …href="` and the address, in HTML as our serializer writes it and in most handwritten HTML. */
const HREF = /(<a(?:\s+[\w:-]+(?:="[^"]*")?)*?\s+href=")([^"]*)"/gi;

/** The pages that a document links to by relative addresses, each path once. `page_path`: the path of the document. */
export function linksOf(tree: Root, markdown: string, page_path: string): PageLink[] {
  const folder = folderOf(page_path);
  const links = new Map<string, number[]>();

  function add(url: string, place: number[]): void {
    const to_path = pathOf(url, folder);
    if (to_path === undefined) return;
    const places = links.get(to_path);
    if (places) places.push(...place);
    else if (links.size < LINKS_MAX) links.set(to_path, place);
  }

  visit(tree, (node) => {
    if (node.type === 'html') for (const [, , url = ''] of node.value.matchAll(HREF)) add(url, []);
    if (node.type !== 'link' && node.type !== 'definition') return;
    const [start, end] = node.data?.destination ?? [];
    if (start === undefined || end === undefined) return;
    const address = addressOf(node.url);
    // An address with escapes is not rewritten.
    const isUnescaped = markdown.slice(start, end).startsWith(address);
    add(node.url, isUnescaped ? [start, start + address.length] : []);
  });
  return [...links].map(([to_path, places]) => ({ to_path, places }));
}

/**
 * A page's text with the current addresses of moved links; nothing else changes. `folder`: the folder that written
 * addresses are relative to; the new ones are relative to the path of the page.
 */
export function withCurrentLinks<T extends { path: string; markdown: string; html: string }>(
  page: T,
  folder: string,
  moved: readonly MovedLink[],
): T {
  const present = new Map(moved.map((link) => [link.to_path, relativeAddress(page.path, link.path)]));
  const edits = moved
    .flatMap(({ to_path, places }) =>
      places.flatMap((start, i) => (i % 2 === 0 ? [{ start, end: places[i + 1] ?? start, to_path }] : [])),
    )
    .sort((a, b) => a.start - b.start);
  const arrived = (target: string) =>
    moved.some((link) => link.to_path === target && link.path !== target) ? present.get(target) : undefined;
  let markdown = '';
  let from = 0;
  for (const { start, end, to_path } of edits) {
    markdown += page.markdown.slice(from, start) + present.get(to_path);
    from = end;
  }
  const html = page.html
    .replace(HREF, (whole, opening: string, url: string) => {
      const address = present.get(pathOf(url, folder) ?? '');
      return address === undefined ? whole : `${opening}${address}${url.slice(addressOf(url).length)}"`;
    })
    .replace(MISSING, (whole, target: string, fragment = '') => {
      const address = arrived(
        missingTargetKey(target.replace(/&#x([0-9A-F]+);/gi, (_, hex) => String.fromCodePoint(parseInt(hex, 16)))),
      );
      return address === undefined ? whole : `<a class="wiki" href="${address}${fragment}">`;
    });
  return { ...page, markdown: markdown + page.markdown.slice(from), html };
}

/** Adds the wiki links; they have no places in the Markdown. */
export function withWikiLinks(links: readonly PageLink[], wikiLinks: readonly WikiLinkTo[]): PageLink[] {
  const all = new Map(links.map((link) => [link.to_path, link]));
  for (const { target, path } of wikiLinks) {
    const to_path = path === '' ? missingTargetKey(target) : path;
    if (all.has(to_path) || all.size >= LINKS_MAX) continue;
    const wanted = path === '' && { wanted_title: target, wanted_path: pathOfTarget(target) };
    all.set(to_path, { to_path, places: [], ...wanted });
  }
  return [...all.values()];
}

function missingTargetKey(target: string): string {
  return `[[${target}]]`;
}

/** The path without its last segment; "" for a page at the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

function addressOf(url: string): string {
  return /^[^?#]*/.exec(url)?.[0] ?? '';
}

/** Resolves a relative address from a folder to a path of the wiki; undefined if it leads elsewhere. */
function pathOf(url: string, folder: string): string | undefined {
  const address = addressOf(url);
  // Schemes, absolute addresses and file names cannot be paths of pages.
  if (!/^(?:\.{1,2}\/)*[a-z0-9-]+(?:\/[a-z0-9-]+)*$/.test(address)) return undefined;
  const segments = folder === '' ? [] : folder.split('/');
  for (const segment of address.split('/')) {
    if (segment === '..' && segments.pop() === undefined) return undefined;
    if (segment !== '.' && segment !== '..') segments.push(segment);
  }
  const path = segments.join('/');
  return path.length <= PATH_MAX ? path : undefined;
}
