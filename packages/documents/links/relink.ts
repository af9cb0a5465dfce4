import { visit } from '@ibid/markdown/parse-markdown.ts';
import { playedName } from '@ibid/markdown/raw-html/media-elements.ts';
import type { WikiLink } from '@ibid/markdown/wiki-link-syntax.ts';
import type { Html, Image, Link, Node, Root } from 'mdast';
import { fragmentId } from '../split/anchors.ts';
import { applyEdits, type Edit } from './edit-text.ts';
import {
  ATTACHMENT_PREFIX,
  findAttached,
  findTarget,
  type Linking,
  localPath,
  type Target,
  WIKI_REFERENCE,
} from './find-file.ts';

/**
 * Rewrites relative links between uploaded files to links to their pages: relative addresses from this page's path,
 * resolved as by a browser. The fragment is kept; a query is dropped, because pages take no query. Only addresses
 * change, and links to files outside the upload are kept. `tree`, the parsed `markdown`, gets the new addresses.
 * `pages` maps files and folders of the upload to the paths of their pages, or to `attachment:<id>`. Returns the edits
 * of the Markdown (for `editText`), the files that it links to, each once, in the order of the text, and all references
 * that may lead to files, existing or not, for `pageOfReference`.
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
      edits.push(attach(node, (pages.get(filename) ?? '') + (node.isEmbed ? playedName(filename) : '')));
      return;
    }
    if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') return;
    const [start, end] = node.data?.destination ?? [];
    if (start === undefined || end === undefined) return;
    const target = find(node.url);
    if (!target) return;
    const fragment = fragmentOf(node.url, target, node.type !== 'link');
    node.url = target.address + fragment;
    edits.push({ start, end, text: target.address + encodeFragment(fragment, markdown.slice(start, end)) });
  });
  return { edits, links: [...links], references: [...references] };
}

/**
 * Returns the fragment as written if it needs no encoding; otherwise encodes the characters that end or escape an
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

/** Rewrites the links in HTML. Addresses with entities, which only occur in queries, stay unchanged. */
function relinkHtml(markdown: string, node: Html, find: (url: string) => Target | undefined): Edit[] {
  const start = node.position?.start.offset ?? 0;
  const source = markdown.slice(start, node.position?.end.offset ?? start);
  // In a quote or a list the source contains markers that the value lacks, so each is searched separately.
  node.value = applyEdits(htmlEdits(node.value, find), node.value);
  return htmlEdits(source, find).map((edit) => ({ ...edit, start: start + edit.start, end: start + edit.end }));
}

/** Matches a tag up to the value of an address, with any other attributes before it. */
function tagWith(tag: string, attribute: string): RegExp {
  const value = String.raw`(?:"[^"]*"|'[^']*'|[^\s"'<>=\x60]+)`;
  const others = String.raw`(?:\s+[a-z][\w:-]*(?:\s*=\s*${value})?)*?`;
  return new RegExp(String.raw`(<${tag}${others}\s+${attribute}\s*=\s*(["']))([^"'<>&]+)\2`, 'gi');
}

const LINK_TAG = tagWith('a', 'href');
const PICTURE_TAG = tagWith('(?:img|audio|video|source|embed)', 'src');

function htmlEdits(html: string, find: (url: string) => Target | undefined): Edit[] {
  const edits: Edit[] = [];
  for (const match of [...html.matchAll(LINK_TAG), ...html.matchAll(PICTURE_TAG)]) {
    const [tag, opening = '', , url = ''] = match;
    const target = /^\s|\s$/.test(url) ? undefined : find(url);
    const isShown = !/^<a\s/i.test(tag);
    if (!target || (isShown && !target.address.startsWith(ATTACHMENT_PREFIX))) continue;
    const start = match.index + opening.length;
    edits.push({ start, end: start + url.length, text: target.address + fragmentOf(url, target, isShown) });
  }
  return edits.sort((a, b) => a.start - b.start);
}

function fragmentOf(url: string, target: Target, isShown: boolean): string {
  // The id of an attachment does not show that the file is a sound or a film.
  if (isShown && target.address.startsWith(ATTACHMENT_PREFIX)) return playedName(target.filename);
  if (target.fragment !== undefined) return target.fragment;
  const hash = url.indexOf('#');
  return hash < 0 ? '' : url.slice(hash);
}

/** Finds the target of a link to a place of the document that is now on another page. */
function findFragment(url: string, { fragments }: Linking): Target | undefined {
  const place = fragments?.get(fragmentId(url.slice(1)));
  if (place === undefined) return undefined;
  const [address = '', fragment = ''] = place.split('#', 2);
  return { filename: '', address, fragment: `#${fragment}` };
}

/** Converts a wiki link to a Markdown picture or link in the tree, and returns the edit of the text. */
function attach(node: WikiLink, address: string): Edit {
  const { isEmbed, size, target, text } = node;
  const { position }: Node = node;
  const [start, end] = [position?.start.offset ?? 0, position?.end.offset ?? 0];
  const alt = size === undefined ? text : `${text}|${size}`;
  const made: Image | Link = isEmbed
    ? { type: 'image', url: address, alt }
    : { type: 'link', url: address, children: [{ type: 'text', value: text || target }] };
  // The node must equal a parse of the new text.
  for (const key of ['target', 'heading', 'text', 'isEmbed', 'size'] as const) delete (node as Partial<WikiLink>)[key];
  Object.assign(node, made);
  const words = (isEmbed ? alt : text || target).replace(/[\\[\]*_`~<>|&$!=^%#]/g, '\\$&');
  return { start, end, text: `${isEmbed ? '!' : ''}[${words}](${address})` };
}
