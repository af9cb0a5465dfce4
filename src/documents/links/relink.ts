import type { Html, Image, Link, Node, Root } from 'mdast';
import { visit } from '../../markdown/parse-markdown.ts';
import type { WikiLink } from '../../markdown/wiki-link-syntax.ts';
import { relativeAddress } from '../../markdown/wiki-links.ts';
import type { CompileInput } from '../compile-input.ts';
import { fragmentId } from '../split/anchors.ts';
import { applyEdits, type Edit } from './edit-text.ts';

/** The prefix of the references that files map to which are not pages, followed by the id of the attachment. */
export const ATTACHMENT_PREFIX = 'attachment:';

/** The prefix of files of an earlier upload: names do not begin with it. */
export const EARLIER_UPLOAD_PREFIX = '/';

/** The prefix of references that are wiki links. */
const WIKI_REFERENCE = '[[';

interface Target {
  /** The name in the upload: a file, or a folder without a file as its page; "" for another page of the same file. */
  filename: string;
  address: string;
  /** The new fragment if it has changed, with its #. */
  fragment?: string;
}

/** The file of a text, and the path of its page. */
type Linking = Pick<CompileInput, 'filename' | 'page_path' | 'fragments'>;

/**
 * Rewrites relative links between uploaded files to links to their pages: relative addresses from this page's path,
 * resolved as by a browser. The fragment is kept; a query is dropped, because pages have none. Only addresses change,
 * and links to files outside the upload are kept. `tree`, the parsed `markdown`, gets the new addresses. `pages` maps
 * files and folders of the upload to the paths of their pages, or to `attachment:<id>`. Returns the edits of the
 * Markdown (for `editText`) and the files that it links to, each once, in the order of the text; and all references that
 * may lead to files, whether there are such files or not, for `pageOfReference`.
 */
export function relink(
  markdown: string,
  tree: Root,
  file: Linking,
  pages: ReadonlyMap<string, string>,
): { edits: Edit[]; links: string[]; references: string[] } {
  const edits: Edit[] = [];
  const references = new Set<string>();
  const links = new Set<string>();

  function find(url: string): Target | undefined {
    const path = localPath(url);
    if (path !== undefined) references.add(path);
    const target = url.startsWith('#') ? findFragment(url, file) : findTarget(url, file, pages);
    if (target && target.filename !== '') links.add(target.filename);
    return target;
  }

  visit(tree, (node) => {
    if (node.type === 'html') edits.push(...relinkHtml(markdown, node, find));
    if (node.type === 'wikiLink') {
      if (node.target !== '') references.add(WIKI_REFERENCE + node.target);
      const filename = findAttached(node.target, file, pages);
      if (filename === undefined) return;
      links.add(filename);
      edits.push(attach(node, pages.get(filename) ?? ''));
      return;
    }
    if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') return;
    const [start, end] = node.data?.destination ?? [];
    if (start === undefined || end === undefined) return;
    const target = find(node.url);
    if (!target) return;
    const fragment = fragmentOf(node.url, target);
    node.url = target.address + fragment;
    edits.push({ start, end, text: target.address + encodeFragment(fragment, markdown.slice(start, end)) });
  });
  return { edits, links: [...links], references: [...references] };
}

/**
 * The fragment as written if its encoding is not needed; else with the characters encoded that end or escape an
 * address.
 */
function encodeFragment(fragment: string, source: string): string {
  if (source.endsWith(fragment) && !/[\\&]/.test(source)) return fragment;
  return fragment.replace(/[\s\p{Cc}\\<>()&]/gu, (character) => {
    if (character === '&') return '&amp;';
    return character === '(' || character === ')'
      ? `%${character.charCodeAt(0).toString(16)}`
      : encodeURIComponent(character);
  });
}

/** The links of HTML in Markdown. Addresses with entities, which only occur in queries, are unchanged. */
function relinkHtml(markdown: string, node: Html, find: (url: string) => Target | undefined): Edit[] {
  const start = node.position?.start.offset ?? 0;
  const source = markdown.slice(start, node.position?.end.offset ?? start);
  // In a quote or a list the source contains markers that the value lacks, so each is searched separately.
  node.value = applyEdits(htmlEdits(node.value, find), node.value);
  return htmlEdits(source, find).map((edit) => ({ ...edit, start: start + edit.start, end: start + edit.end }));
}

/** The tag up to the value of an address, with any other attributes before it. */
function tagWith(tag: string, attribute: string): RegExp {
  const value = String.raw`(?:"[^"]*"|'[^']*'|[^\s"'<>=\x60]+)`;
  const others = String.raw`(?:\s+[a-z][\w:-]*(?:\s*=\s*${value})?)*?`;
  return new RegExp(String.raw`(<${tag}${others}\s+${attribute}\s*=\s*(["']))([^"'<>&]+)\2`, 'gi');
}

const LINK_TAG = tagWith('a', 'href');
const PICTURE_TAG = tagWith('img', 'src');

function htmlEdits(html: string, find: (url: string) => Target | undefined): Edit[] {
  const edits: Edit[] = [];
  for (const match of [...html.matchAll(LINK_TAG), ...html.matchAll(PICTURE_TAG)]) {
    const [tag, opening = '', , url = ''] = match;
    const target = /^\s|\s$/.test(url) ? undefined : find(url);
    if (!target || (/^<img/i.test(tag) && !target.address.startsWith(ATTACHMENT_PREFIX))) continue;
    const start = match.index + opening.length;
    edits.push({ start, end: start + url.length, text: target.address + fragmentOf(url, target) });
  }
  return edits.sort((a, b) => a.start - b.start);
}

function fragmentOf(url: string, target: Target): string {
  if (target.fragment !== undefined) return target.fragment;
  const hash = url.indexOf('#');
  return hash < 0 ? '' : url.slice(hash);
}

/** The target of a link to a place of the document that is on another page now. */
function findFragment(url: string, { fragments }: Linking): Target | undefined {
  const place = fragments?.get(fragmentId(url.slice(1)));
  if (place === undefined) return undefined;
  const [address = '', fragment = ''] = place.split('#', 2);
  return { filename: '', address, fragment: `#${fragment}` };
}

/** The path of an address that may be that of a file, without ? and #; undefined for an address elsewhere. */
function localPath(url: string): string | undefined {
  const path = /^[^?#]*/.exec(url)?.[0].replaceAll('\\', '/') ?? '';
  return path === '' || path.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(path) ? undefined : path;
}

function findTarget(url: string, file: Linking, pages: ReadonlyMap<string, string>): Target | undefined {
  const path = localPath(url);
  if (path === undefined) return undefined;
  // A name may contain a literal percent sign, so the address is tried as written first.
  for (const candidate of new Set([path, decoded(path)])) {
    const name = resolveName(file.filename, candidate);
    const filename = findFile(name, pages) ?? findFile(EARLIER_UPLOAD_PREFIX + name, pages);
    const page = filename === undefined ? undefined : pages.get(filename);
    if (filename !== undefined && page !== undefined) {
      if (page.startsWith(ATTACHMENT_PREFIX)) return { filename, address: page, fragment: '' };
      return { filename, address: relativeAddress(file.page_path, page) };
    }
  }
  return undefined;
}

/**
 * The file that a wiki link names and that is no page: `[[plan.zip]]` is the file of that name in any folder, and
 * `[[Folder/plan.zip]]` restricts it, as in Obsidian.
 */
function findAttached(target: string, file: Linking, pages: ReadonlyMap<string, string>): string | undefined {
  if (!/\.\w+$/.test(target)) return undefined;
  const beside = findTarget(target.replaceAll('?', '%3F'), file, pages);
  if (beside?.address.startsWith(ATTACHMENT_PREFIX)) return beside.filename;
  let names = attachedNames.get(pages);
  if (!names) attachedNames.set(pages, (names = attachedNamesOf(pages)));
  return names.get(normalizeName(target.replace(/^\/+/, '')));
}

const attachedNames = new WeakMap<ReadonlyMap<string, string>, ReadonlyMap<string, string>>();

/** Links rarely name more than a few folders, and every suffix of a path takes memory. */
const NAMED_FOLDERS = 3;

/** Files that are no pages by the ends of their paths; those of this upload come first, and then the nearest to the root. */
function attachedNamesOf(pages: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const isEarlier = (filename: string) => filename.startsWith(EARLIER_UPLOAD_PREFIX);
  const depth = (filename: string) => filename.split('/').length;
  const files = [...pages].filter(([, page]) => page.startsWith(ATTACHMENT_PREFIX)).map(([filename]) => filename);
  files.sort((a, b) => Number(isEarlier(a)) - Number(isEarlier(b)) || depth(a) - depth(b));
  const names = new Map<string, string>();
  for (const filename of files) {
    const segments = normalizeName(filename).replace(/^\//, '').split('/');
    for (let from = segments.length - 1; from >= Math.max(0, segments.length - 1 - NAMED_FOLDERS); from -= 1) {
      const name = segments.slice(from).join('/');
      if (!names.has(name)) names.set(name, filename);
    }
  }
  return names;
}

/** Makes a wiki link a picture or a link of Markdown, in the tree, and answers the edit of the text. */
function attach(node: WikiLink, address: string): Edit {
  const { isEmbed, size, target, text } = node;
  const { position }: Node = node;
  const [start, end] = [position?.start.offset ?? 0, position?.end.offset ?? 0];
  const alt = size === undefined ? text : `${text}|${size}`;
  const made: Image | Link = isEmbed
    ? { type: 'image', url: address, alt }
    : { type: 'link', url: address, children: [{ type: 'text', value: text || target }] };
  // As the parser would have made it of the new text.
  for (const key of ['target', 'heading', 'text', 'isEmbed', 'size'] as const) delete (node as Partial<WikiLink>)[key];
  Object.assign(node, made);
  const words = (isEmbed ? alt : text || target).replace(/[\\[\]*_`~<>|&$!=^%#]/g, '\\$&');
  return { start, end, text: `${isEmbed ? '!' : ''}[${words}](${address})` };
}

/** Where a reference of a text leads to: what `pages` has for the file; undefined where there is none. */
export function pageOfReference(
  reference: string,
  file: Pick<Linking, 'filename' | 'page_path'>,
  pages: ReadonlyMap<string, string>,
): string | undefined {
  const filename = reference.startsWith(WIKI_REFERENCE)
    ? findAttached(reference.slice(WIKI_REFERENCE.length), file, pages)
    : findTarget(reference, file, pages)?.filename;
  return filename === undefined ? undefined : pages.get(filename);
}

/** The file name that an address refers to from a file; a leading slash refers to the root of the upload. */
function resolveName(filename: string, address: string): string {
  const segments = address.startsWith('/') ? [] : filename.split('/').slice(0, -1);
  for (const segment of address.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  return segments.join('/');
}

const normalizedNames = new WeakMap<ReadonlyMap<string, string>, Map<string, string | undefined>>();

/** The file of that name; else the only one that differs only in case or Unicode normalization (macOS). */
function findFile(name: string, pages: ReadonlyMap<string, string>): string | undefined {
  if (pages.has(name)) return name === '' ? undefined : name;
  let loose = normalizedNames.get(pages);
  if (!loose) {
    loose = new Map();
    for (const filename of pages.keys()) {
      const key = normalizeName(filename);
      loose.set(key, loose.has(key) ? undefined : filename);
    }
    normalizedNames.set(pages, loose);
  }
  return loose.get(normalizeName(name));
}

function normalizeName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An invalid percent-encoding is kept as text.
    return text;
  }
}
