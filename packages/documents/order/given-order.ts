import { decodePath, normalizeName } from '../links/find-file.ts';
import { orderKind } from './order-file.ts';
import type { OrderFile } from './read-order.ts';

/** The order that authors specified, by the full names of files and folders. */
export interface GivenOrder {
  /** The positions of listed files and folders. */
  listed: ReadonlyMap<string, number>;
  /** The weights of weighted files and folders. */
  weights: ReadonlyMap<string, number>;
  /**
   * Names in the written tree, for exports that keep their tree in a file. Positions and weights then refer to these
   * names.
   */
  names?: ReadonlyMap<string, string>;
}

/** The position of unlisted files. Most listed names sort before it, and names in `last` after it. */
export const UNLISTED = 1e9;

const INDEX = /(?:^|\/)_?(?:index|readme)\.[^./]+$/i;

/**
 * Combines the order files of an upload. `filenames`: all files that become pages. `weights`: the weights that files
 * specify. An order file only applies within its folder, and the nearest one takes precedence. `foreign`: order files
 * that name none of the files.
 */
export function givenOrder(
  filenames: readonly string[],
  orders: ReadonlyMap<string, OrderFile>,
  weights: ReadonlyMap<string, number>,
): GivenOrder & { foreign: ReadonlySet<string> } {
  const known = knownNames(filenames);
  const listed = new Map<string, number>();
  const weighed = new Map<string, number>();
  const foreign = new Set<string>();
  const depth = (filename: string) => filename.split('/').length;
  const nearestFirst = [...orders].sort(([a], [b]) => depth(b) - depth(a) || orderKind(a) - orderKind(b));
  for (const [filename, { paths, last = [], root, weight }] of nearestFirst) {
    const folder = filename.slice(0, Math.max(filename.lastIndexOf('/'), 0));
    if (weight !== undefined && folder !== '') weighed.set(folder, weight);
    const roots = root === undefined ? [folder] : [joined(folder, root), folder];
    const namesOf = (list: readonly string[]) =>
      list.flatMap((path) => namedBy(path, roots, known)).filter((name) => isBelow(name, folder));
    const [named, behind] = [namesOf(paths), namesOf(last)];
    if (paths.length + last.length > 0 && named.length + behind.length === 0) foreign.add(filename);
    for (const name of named) {
      for (const each of [...foldersOf(name, folder), name]) if (!listed.has(each)) listed.set(each, listed.size);
    }
    for (const name of behind) if (!listed.has(name)) listed.set(name, UNLISTED + 1 + listed.size);
  }
  for (const [filename, weight] of weights) {
    const at = filename.lastIndexOf('/');
    const of = at >= 0 && INDEX.test(filename) ? filename.slice(0, at) : filename;
    if (!weighed.has(of)) weighed.set(of, weight);
  }
  return { listed, weights: weighed, foreign };
}

/** Indexes files and folders by their names in lower case, and files without their extensions as well. */
function knownNames(filenames: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const known = new Map<string, string[]>();
  const add = (key: string, name: string) => {
    const names = known.get(key);
    if (!names) known.set(key, [name]);
    else if (!names.includes(name)) names.push(name);
  };
  const folders = new Set<string>();
  for (const filename of filenames) {
    add(normalizeName(filename), filename);
    const stem = filename.replace(/\.[^./]+$/, '');
    if (stem !== filename) add(normalizeName(stem), filename);
    for (const folder of foldersOf(filename, '')) folders.add(folder);
  }
  for (const folder of folders) add(normalizeName(folder), folder);
  return known;
}

/**
 * Finds the files that an address names, from the first root or from a folder above it: the addresses of a site start
 * at the site's root.
 */
function namedBy(path: string, roots: readonly string[], known: ReadonlyMap<string, readonly string[]>): string[] {
  if (path.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(path)) return [];
  const [address = ''] = path.replaceAll('\\', '/').split(/[?#]/, 1);
  const isAbsolute = /^~?\//.test(address);
  const relative = address.replace(/^~?\/+/, '');
  if (relative === '') return [];
  const own = roots.at(-1) ?? '';
  const above = [...foldersOf(own, ''), own].toReversed().concat('');
  const bases = [...new Set([...roots, ...above])];
  for (const base of isAbsolute ? bases.toReversed() : bases) {
    for (const each of new Set([relative, decodePath(relative)])) {
      const found = known.get(normalizeName(joined(base, each)));
      if (found) return [...found];
    }
  }
  return [];
}

/** Returns the parent folders of a file or folder below `within`, outermost first. */
function foldersOf(name: string, within: string): string[] {
  const segments = name.split('/');
  const from = within === '' ? 1 : within.split('/').length + 1;
  return segments.slice(from - 1, -1).map((_, i) => segments.slice(0, from + i).join('/'));
}

function isBelow(name: string, folder: string): boolean {
  return folder === '' || name.startsWith(`${folder}/`);
}

function joined(folder: string, path: string): string {
  const segments = folder === '' ? [] : folder.split('/');
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  return segments.join('/');
}
