import type { Root } from 'mdast';
import { lineOf, visit } from './parse-markdown.ts';
import type { WikiLinkTo } from './plain-text.ts';
import { pageSlugFrom } from './slugs/page-slug.ts';

/** The data about the wiki that rendering a page needs. */
export interface Wiki {
  /** The wiki of attachment references; "" without a wiki. */
  wiki_id: string;
  /** The path of the page, to which its links are relative. */
  page_path: string;
  /** The page that `[[target]]` refers to; undefined if it is missing. */
  findPage(target: string): { path: string } | undefined;
}

/** Finds no pages. */
export const NO_WIKI: Wiki = { wiki_id: '', page_path: '', findPage: () => undefined };

/** The targets of wiki links in a document, each once, in the order of the text. */
export function wikiLinksOf(tree: Root, wiki: Wiki): WikiLinkTo[] {
  const links = new Map<string, WikiLinkTo>();
  visit(tree, (node) => {
    if (node.type !== 'wikiLink' || node.target === '' || links.has(node.target)) return;
    const { target } = node;
    links.set(target, { target, path: wiki.findPage(target)?.path ?? '', line: lineOf(node) });
  });
  return [...links.values()];
}

/** The path that `[[Guide/Set up]]` names, if it is a path: guide/set-up. */
export function pathOfTarget(target: string): string {
  return target
    .split('/')
    .map((part) => pageSlugFrom(part, '-'))
    .join('/');
}

/** The relative address of a page from another page, as browsers resolve it. */
export function relativeAddress(from: string, to: string): string {
  const base = from.split('/').slice(0, -1);
  const target = to.split('/');
  let shared = 0;
  while (shared < base.length && shared < target.length - 1 && base[shared] === target[shared]) shared += 1;
  return [...base.slice(shared).map(() => '..'), ...target.slice(shared)].join('/');
}

/** The maximum length of a page's path, which the database enforces too. */
export const PATH_MAX = 1_024;

/** The address of a link without its query and fragment. */
export function addressOf(url: string): string {
  return /^[^?#]*/.exec(url)?.[0] ?? '';
}

/**
 * A segment of a path. Its two character sets are disjoint: otherwise a name that cannot be a path would take
 * exponential time.
 */
const SEGMENT = String.raw`(?:[a-z0-9-]|(?!\p{ASCII})[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}])+`;
const PATH = new RegExp(String.raw`^(?:\.{1,2}/)*${SEGMENT}(?:/${SEGMENT})*/?$`, 'u');

/** Decodes letters beyond ASCII in an address; encoded ASCII stays encoded, and broken encodings are left unchanged. */
function decoded(address: string): string {
  if (/^\p{ASCII}*$/u.test(address) && !/%[89a-f]/i.test(address)) return address;
  try {
    return address.replace(/(?:%[89a-f][0-9a-f])+/gi, decodeURIComponent).normalize('NFC');
  } catch {
    return address;
  }
}

/** Resolves a relative address from a folder to a path of the wiki; undefined if it leads elsewhere. */
export function pathOf(url: string, folder: string): string | undefined {
  const address = decoded(addressOf(url));
  // Schemes, absolute addresses and file names cannot be paths of pages.
  if (!PATH.test(address)) return undefined;
  const segments = folder === '' ? [] : folder.split('/');
  for (const segment of address.split('/')) {
    if (segment === '..' && segments.pop() === undefined) return undefined;
    if (segment !== '.' && segment !== '..' && segment !== '') segments.push(segment);
  }
  const path = segments.join('/');
  return path.length <= PATH_MAX ? path : undefined;
}
