import type { Html, Root } from 'mdast';
import { visit } from '../../markdown/parse-markdown.ts';
import { relativeAddress } from '../../markdown/wiki-links.ts';
import type { CompileInput } from '../compile-input.ts';
import { fragmentId } from '../split/anchors.ts';
import { applied, type Edit } from './edit-text.ts';

/** What a file that is no page is mapped to: the reference that stands in Markdown for it, with its id behind. */
export const ATTACHMENT = 'attachment:';

/** What stands before the name of a file that came with an earlier upload: no name begins with it. */
export const EARLIER = '/';

interface Target {
  /** As the upload names it: a file, or a folder without a file that is its page; "" for another page of the same file. */
  filename: string;
  address: string;
  /** Of an address that has another one now, with its #. */
  fragment?: string;
}

/** The file that a text is from, and where its page is. */
type Linking = Pick<CompileInput, 'filename' | 'page_path' | 'fragments'>;

/**
 * Points relative links between uploaded files at their pages, as relative addresses from this page's path, the way a
 * browser resolves them; a fragment stays, a query, which means nothing to a page, does not. Only addresses change:
 * every other character of `markdown` stays, and a link to no uploaded file stays as it is. `tree`, which is
 * `markdown` parsed, gets the new addresses. `pages` maps files and folders of the upload to the paths of their pages, or to `attachment:<id>`.
 * Answers what is to be changed in the Markdown (by `editText`), and the files that it links to, each once, in the order of
 * the text.
 */
export function relink(
  markdown: string,
  tree: Root,
  file: Linking,
  pages: ReadonlyMap<string, string>,
): { edits: Edit[]; links: string[] } {
  const edits: Edit[] = [];
  const links = new Set<string>();

  function find(url: string): Target | undefined {
    const target = url.startsWith('#') ? findFragment(url, file) : findTarget(url, file, pages);
    if (target && target.filename !== '') links.add(target.filename);
    return target;
  }

  visit(tree, (node) => {
    if (node.type === 'html') edits.push(...relinkHtml(markdown, node, find));
    if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') return;
    const [start, end] = node.data?.destination ?? [];
    if (start === undefined || end === undefined) return;
    const target = find(node.url);
    if (!target) return;
    const fragment = fragmentOf(node.url, target);
    node.url = target.address + fragment;
    edits.push({ start, end, text: target.address + asWritten(fragment, markdown.slice(start, end)) });
  });
  return { edits, links: [...links] };
}

/** A fragment as it was written, where it reads as it is written; else with what ends or escapes an address encoded. */
function asWritten(fragment: string, source: string): string {
  if (source.endsWith(fragment) && !/[\\&]/.test(source)) return fragment;
  return fragment.replace(/[\s\p{Cc}\\<>()&]/gu, (character) => {
    if (character === '&') return '&amp;';
    return character === '(' || character === ')'
      ? `%${character.charCodeAt(0).toString(16)}`
      : encodeURIComponent(character);
  });
}

/** The links of HTML inside Markdown. Addresses with entities, which only stand in queries, are left alone. */
function relinkHtml(markdown: string, node: Html, find: (url: string) => Target | undefined): Edit[] {
  const start = node.position?.start.offset ?? 0;
  const source = markdown.slice(start, node.position?.end.offset ?? start);
  // Inside a quote or a list the source has markers that the value has not, so each is searched for itself.
  node.value = applied(htmlEdits(node.value, find), node.value);
  return htmlEdits(source, find).map((edit) => ({ ...edit, start: start + edit.start, end: start + edit.end }));
}

/** The tag up to the value of its href, past other attributes and whatever they say. */
const LINK_TAG =
  /(<a(?:\s+[a-z][\w:-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>=`]+))?)*?\s+href\s*=\s*(["']))([^"'<>&\s]+)\2/gi;

function htmlEdits(html: string, find: (url: string) => Target | undefined): Edit[] {
  const edits: Edit[] = [];
  for (const match of html.matchAll(LINK_TAG)) {
    const [, opening = '', , url = ''] = match;
    const target = find(url);
    if (!target) continue;
    const start = match.index + opening.length;
    edits.push({ start, end: start + url.length, text: target.address + fragmentOf(url, target) });
  }
  return edits;
}

function fragmentOf(url: string, target: Target): string {
  if (target.fragment !== undefined) return target.fragment;
  const hash = url.indexOf('#');
  return hash < 0 ? '' : url.slice(hash);
}

/** Where a link to a place of the document leads that is on another page now. */
function findFragment(url: string, { fragments }: Linking): Target | undefined {
  const place = fragments?.get(fragmentId(url.slice(1)));
  if (place === undefined) return undefined;
  const [address = '', fragment = ''] = place.split('#', 2);
  return { filename: '', address, fragment: `#${fragment}` };
}

function findTarget(url: string, file: Linking, pages: ReadonlyMap<string, string>): Target | undefined {
  const path = /^[^?#]*/.exec(url)?.[0].replaceAll('\\', '/') ?? '';
  if (path === '' || path.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(path)) return undefined;
  // A name may hold a percent sign of its own, so the address is first taken as it is.
  for (const candidate of new Set([path, decoded(path)])) {
    const name = joined(file.filename, candidate);
    const filename = namedFile(name, pages) ?? namedFile(EARLIER + name, pages);
    const page = filename === undefined ? undefined : pages.get(filename);
    if (filename !== undefined && page !== undefined) {
      const address = page.startsWith(ATTACHMENT) ? page : relativeAddress(file.page_path, page);
      return { filename, address };
    }
  }
  return undefined;
}

/** The name that an address means from inside a file; a leading slash means the top of the upload. */
function joined(filename: string, address: string): string {
  const segments = address.startsWith('/') ? [] : filename.split('/').slice(0, -1);
  for (const segment of address.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  return segments.join('/');
}

const looseNames = new WeakMap<ReadonlyMap<string, string>, Map<string, string | undefined>>();

/** The file of that name; else the only one that differs in case or in how its accents are encoded (macOS) alone. */
function namedFile(name: string, pages: ReadonlyMap<string, string>): string | undefined {
  if (pages.has(name)) return name === '' ? undefined : name;
  let loose = looseNames.get(pages);
  if (!loose) {
    loose = new Map();
    for (const filename of pages.keys()) {
      const key = looseName(filename);
      loose.set(key, loose.has(key) ? undefined : filename);
    }
    looseNames.set(pages, loose);
  }
  return loose.get(looseName(name));
}

function looseName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that encodes nothing is a percent sign.
    return text;
  }
}
