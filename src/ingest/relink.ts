import type { Definition, Image, Link, Root } from 'mdast';
import { visit } from 'unist-util-visit';
import { parentPath } from './file-paths.ts';

/** A place in the text whose address is to be another one. */
export interface Relinked {
  markdown: string;
  /** The files that the text links to, each once. */
  links: string[];
}

/**
 * Points relative links between uploaded files at their pages, as relative addresses from this page's path, the way a
 * browser resolves them. Only the addresses change; every other byte of the text stays. A link to no uploaded file
 * stays as it is. `pages` maps a file to the path of its page, and a folder to the path of the folder's.
 */
export function relinkMarkdown(
  markdown: string,
  tree: Root,
  file: { filename: string; page_path: string },
  pages: ReadonlyMap<string, string>,
): Relinked {
  const edits: { start: number; end: number; text: string }[] = [];
  const links = new Set<string>();
  visit(tree, ['link', 'definition'], (node) => {
    const { url, position } = node as Link | Definition | Image;
    const target = resolveFile(url, file.filename, pages);
    if (!target || !position) return;
    links.add(target.filename);
    const start = position.start.offset ?? 0;
    const end = position.end.offset ?? 0;
    const at = findAddress(markdown.slice(start, end), url, node.type === 'definition');
    if (at === undefined) return;
    const address = relativeAddress(file.page_path, target.path) + target.suffix;
    edits.push({ start: start + at.start, end: start + at.end, text: address });
  });
  let text = markdown;
  for (const { start, end, text: address } of edits.sort((a, b) => b.start - a.start)) {
    text = text.slice(0, start) + address + text.slice(end);
  }
  return { markdown: text, links: [...links] };
}

/** The uploaded file that an address means from inside `filename`, with the fragment that follows. */
function resolveFile(url: string, filename: string, pages: ReadonlyMap<string, string>) {
  const [, path = '', suffix = ''] = /^([^?#]*)(?:\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  if (path === '' || path.startsWith('/') || /^[a-z][a-z0-9+.-]*:/i.test(path)) return undefined;
  const folder = filename.slice(0, Math.max(filename.lastIndexOf('/'), 0));
  for (const candidate of new Set([path, decoded(path)])) {
    const segments = folder === '' ? [] : folder.split('/');
    for (const segment of candidate.split('/')) {
      if (segment === '..') segments.pop();
      else if (segment !== '.' && segment !== '') segments.push(segment);
    }
    const target = segments.join('/');
    const page = pages.get(target);
    if (page !== undefined) return { filename: target, path: page, suffix };
  }
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that encodes nothing is a percent sign.
    return text;
  }
}

/**
 * Where the address stands in the text of a link or a definition. It is looked for behind the label; an address that is
 * written otherwise than it reads (with escapes or entities) is found by the form of its place.
 */
function findAddress(source: string, url: string, isDefinition: boolean): { start: number; end: number } | undefined {
  const opener = isDefinition ? source.indexOf(']:') : source.lastIndexOf('](');
  if (opener < 0) return undefined;
  const rest = source.slice(opener + 2);
  const space = /^\s*/.exec(rest)?.[0].length ?? 0;
  const bracketed = rest[space] === '<';
  const form = bracketed ? /^<((?:[^<>\n\\]|\\.)*)>/s : isDefinition ? /^(\S+)/ : /^((?:\\.|[^\s\\])*?)(?=\s|\)\s*$)/s;
  const found = form.exec(rest.slice(space));
  if (!found?.[1] && url !== '') return undefined;
  const start = opener + 2 + space;
  return { start, end: start + (found?.[0].length ?? 0) };
}

/** The address of a page as a reader's browser resolves it from another page's. */
export function relativeAddress(from: string, to: string): string {
  const base = parentPath(from) === '' ? [] : parentPath(from).split('/');
  const target = to.split('/');
  let shared = 0;
  while (shared < base.length && shared < target.length - 1 && base[shared] === target[shared]) shared += 1;
  return [...base.slice(shared).map(() => '..'), ...target.slice(shared)].join('/');
}
