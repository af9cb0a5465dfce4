import type { Root } from 'mdast';
import { DEAD } from './dead-link.ts';
import { lineOf, visit } from './parse-markdown.ts';
import type { WikiLinkTo } from './plain-text.ts';
import { wikiLinksIn } from './wiki-link-syntax.ts';
import { addressOf, pathOf, pathOfTarget, relativeAddress } from './wiki-links.ts';

/** A link of a page to a path of its wiki. */
export interface PageLink {
  /**
   * A path; or, since these cannot be paths, `[[target]]` as written for a wiki link to a missing page, and `<address>`
   * for an address that no page can have.
   */
  to_path: string;
  /** The first line of the Markdown that contains the link, from 1; 0 if unknown. */
  line: number;
  /** Title and path that the missing page of a wiki link would have. */
  wanted_title?: string;
  wanted_path?: string;
  /**
   * The ranges of addresses of that path in the Markdown: [start, end, start, end, …), in UTF-16 units, without ? and
   * #.
   */
  places: number[];
}

/** A link whose written address is no longer the path of its page. */
export interface MovedLink extends Pick<PageLink, 'to_path' | 'places'> {
  /** The current path of the page; null if the written address is still current. */
  path: string | null;
  /** Whether the page is hidden from the reader, so that wiki links to it look like links to a missing page. */
  is_hidden?: boolean;
}

/**
 * Limit per page: more links are not written by hand, and each link is a row. Further links are not updated when their
 * page moves.
 */
const LINKS_MAX = 2_000;

/** A wiki link to a missing page, as `page-elements.ts` and our serializer write it. */
const MISSING = /<a class="wiki missing( embed)?" data-target="([^"]*)"(?: data-fragment="(#[^"]*)")?>/g;

const COMMENT = /<!--[\s\S]*?(?:-->|$)/g;

/** The address of a picture, a sound or a film in handwritten HTML. */
const SRC = /<(?:img|audio|video|source|embed)(?:\s+[\w:-]+(?:="[^"]*")?)*?\s+src="([^"]*)"/gi;

/** `<a …href="` and the address, in HTML as our serializer writes it and in most handwritten HTML. */
const HREF = /(<a(?:\s+[\w:-]+(?:="[^"]*")?)*?\s+href=")([^"]*)"/gi;

/**
 * Returns the pages that a document links to by relative addresses, each path once, and the addresses of links and
 * pictures that cannot be pages. `page_path`: the path of the document.
 */
export function linksOf(tree: Root, markdown: string, page_path: string): PageLink[] {
  const folder = folderOf(page_path);
  const links = new Map<string, PageLink>();

  function add(to_path: string | undefined, line: number, place: readonly number[] = []): void {
    if (to_path === undefined) return;
    const link = links.get(to_path);
    if (link) link.places.push(...place);
    else if (links.size < LINKS_MAX) links.set(to_path, { to_path, places: [...place], line });
  }

  visit(tree, (node) => {
    const line = lineOf(node);
    if (node.type === 'html') {
      const text = node.value.replace(COMMENT, (comment) => comment.replace(/[^\n]/g, ' '));
      const lineAt = (at: number) => line + text.slice(0, at).split('\n').length - 1;
      for (const { 2: url = '', index } of text.matchAll(HREF)) add(pathOf(url, folder) ?? deadKey(url), lineAt(index));
      for (const { 1: url = '', index } of text.matchAll(SRC)) add(deadKey(url), lineAt(index));
    }
    if (node.type === 'image') add(deadKey(node.url), line);
    if (node.type !== 'link' && node.type !== 'definition') return;
    const [start, end] = node.data?.destination ?? [];
    const path = pathOf(node.url, folder);
    if (path === undefined) add(deadKey(node.url), line);
    if (start === undefined || end === undefined) return;
    const address = addressOf(node.url);
    // Addresses with escapes are not rewritten.
    const isUnescaped = markdown.slice(start, end).startsWith(address);
    add(path, line, isUnescaped ? [start, start + address.length] : []);
  });
  return [...links.values()];
}

/** Tells whether a link may lead to a page, now or later: `<address>` never does. */
export function mayLead({ to_path }: Pick<PageLink, 'to_path'>): boolean {
  return !to_path.startsWith(DEAD);
}

/** Longer addresses are truncated: they are keys of an index. */
const ADDRESS_MAX = 500;

/**
 * Returns the key of an address within the wiki that no page can have; undefined for external addresses and for
 * folders.
 */
function deadKey(url: string): string | undefined {
  const address = addressOf(url);
  if (/^(?:[a-z][a-z0-9+.-]*:|[\\/]{2}|(?:\.{1,2}(?:\/|$))*$)/i.test(address)) return undefined;
  return `${DEAD}${address.slice(0, ADDRESS_MAX)}>`;
}

/**
 * Returns a page with the current addresses of moved links; nothing else changes. `folder`: the folder that written
 * addresses are relative to; new addresses are relative to the path of the page.
 */
export function withCurrentLinks<T extends { path: string; markdown: string; html: string }>(
  page: T,
  folder: string,
  links: readonly MovedLink[],
): T {
  const hidden = new Set(links.flatMap(({ is_hidden, to_path }) => (is_hidden ? [to_path] : [])));
  const text = hidden.size === 0 ? page.html : withHiddenLinks(page, folder, (path) => hidden.has(path));
  const moved = links.flatMap(({ path, ...link }) => (path === null ? [] : [{ ...link, path }]));
  const present = new Map(moved.map((link) => [link.to_path, relativeAddress(page.path, link.path)]));
  const edits = moved
    .flatMap(({ to_path, places }) =>
      places.flatMap((start, i) => (i % 2 === 0 ? [{ start, end: places[i + 1] ?? start, to_path }] : [])),
    )
    .sort((a, b) => a.start - b.start);
  const arrivals = new Set(moved.filter(({ to_path, path }) => path !== to_path).map(({ to_path }) => to_path));
  const arrived = (target: string) => (arrivals.has(target) ? present.get(target) : undefined);
  let markdown = '';
  let from = 0;
  for (const { start, end, to_path } of edits) {
    markdown += page.markdown.slice(from, start) + present.get(to_path);
    from = end;
  }
  const html = text
    .replace(HREF, (whole, opening: string, url: string) => {
      const address = present.get(pathOf(url, folder) ?? '');
      return address === undefined ? whole : `${opening}${address}${url.slice(addressOf(url).length)}"`;
    })
    .replace(MISSING, (whole, embed: string | undefined, target: string, fragment = '') => {
      const address = arrived(
        missingTargetKey(target.replace(/&#x([0-9A-F]+);/gi, (_, hex) => String.fromCodePoint(parseInt(hex, 16)))),
      );
      return address === undefined ? whole : `<a class="wiki${embed ?? ''}" href="${address}${fragment}">`;
    });
  return { ...page, markdown: markdown + page.markdown.slice(from), html };
}

/** Adds wiki links, which have no places in the Markdown. */
export function withWikiLinks(links: readonly PageLink[], wikiLinks: readonly WikiLinkTo[]): PageLink[] {
  const all = new Map(links.map((link) => [link.to_path, link]));
  for (const { target, path, line } of wikiLinks) {
    const to_path = path === '' ? missingTargetKey(target) : path;
    if (all.has(to_path) || all.size >= LINKS_MAX) continue;
    const wanted = path === '' && { wanted_title: target, wanted_path: pathOfTarget(target) };
    all.set(to_path, { to_path, places: [], line, ...wanted });
  }
  return [...all.values()];
}

function missingTargetKey(target: string): string {
  return `[[${target}]]`;
}

/** Returns a path without its last segment; "" for a page at the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** A wiki link to an existing or missing page, as `page-elements.ts` and our serializer write it. */
const WIKI_LINK =
  /<a class="wiki( missing)?( embed)?"(?: href="([^"]*)")?(?: data-target="[^"]*")?(?: data-fragment="[^"]*")?>([^<]*)<\/a>/g;

interface ShownText {
  markdown: string;
  html: string;
}

/** Returns the paths that the wiki links of a text lead to. */
export function wikiLinkPaths(html: string, folder: string): string[] {
  const paths = new Set<string>();
  for (const { 3: url } of html.matchAll(WIKI_LINK)) {
    const path = url === undefined ? undefined : pathOf(url, folder);
    if (path !== undefined) paths.add(path);
  }
  return [...paths];
}

/**
 * Returns HTML in which wiki links to hidden pages look like links to missing pages. Other links stay: their address is
 * the author's own text, whether or not the page exists.
 */
export function withHiddenLinks(
  { markdown, html }: ShownText,
  folder: string,
  isHidden: (path: string) => boolean,
): string {
  const targetsOf = Map.groupBy(wikiLinksIn(markdown), ({ text }) => text);
  const seen = new Map<string, number>();
  return html.replace(
    WIKI_LINK,
    (whole, missing: string | undefined, embed = '', url: string | undefined, label: string) => {
      const text = decoded(label);
      const nth = seen.get(text) ?? 0;
      seen.set(text, nth + 1);
      if (missing || url === undefined) return whole;
      const path = pathOf(url, folder);
      if (path === undefined || !isHidden(path)) return whole;
      const targets = targetsOf.get(text) ?? [];
      const written = targets.find(({ target }) => pathOfTarget(target) === path) ?? targets[nth] ?? targets[0];
      const target = encoded(written?.target ?? text);
      const fragment = /#.*$/.exec(url)?.[0];
      return `<a class="wiki missing${embed}" data-target="${target}"${fragment ? ` data-fragment="${fragment}"` : ''}>${label}</a>`;
    },
  );
}

function decoded(text: string): string {
  return text.replace(/&#x([0-9A-F]+);/gi, (_, hex) => String.fromCodePoint(parseInt(hex, 16)));
}

/** Encodes a value as our serializer does between double quotes. */
function encoded(value: string): string {
  return value.replace(/["&'`]/g, (character) => `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`);
}
