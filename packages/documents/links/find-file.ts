import { relativeAddress } from '@ibid/markdown/wiki-links.ts';
import type { CompileInput } from '../compile-input.ts';

/** The prefix of the references that files map to which are not pages, followed by the id of the attachment. */
export const ATTACHMENT_PREFIX = 'attachment:';

/** The prefix of files of an earlier upload: names do not begin with it. */
export const EARLIER_UPLOAD_PREFIX = '/';

/** The prefix of references that are wiki links. */
export const WIKI_REFERENCE = '[[';

export interface Target {
  /** The name in the upload: a file, or a folder without a file as its page; "" for another page of the same file. */
  filename: string;
  address: string;
  /** The new fragment if it has changed, with its #. */
  fragment?: string;
}

/** The file of a text, and the path of its page. */
export type Linking = Pick<CompileInput, 'filename' | 'page_path' | 'fragments' | 'site_root'>;

/** The path of an address that may be that of a file, without ? and #; undefined for an address elsewhere. */
export function localPath(url: string): string | undefined {
  const path = /^[^?#]*/.exec(url)?.[0].replaceAll('\\', '/') ?? '';
  return path === '' || path.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(path) ? undefined : path;
}

/** The file that an address leads to, in this upload or else an earlier one; undefined where there is none. */
export function findTarget(url: string, file: Linking, pages: ReadonlyMap<string, string>): Target | undefined {
  const path = localPath(url);
  if (path === undefined) return undefined;
  // A name may contain a literal percent sign, so the address is tried as written first.
  for (const candidate of new Set([path, decodePath(path)])) {
    for (const name of namesFor(candidate, file, pages)) {
      const filename = findFile(name, pages) ?? findFile(EARLIER_UPLOAD_PREFIX + name, pages);
      const page = filename === undefined ? undefined : pages.get(filename);
      if (filename !== undefined && page !== undefined) {
        if (page.startsWith(ATTACHMENT_PREFIX)) return { filename, address: page, fragment: '' };
        return { filename, address: relativeAddress(file.page_path, page) };
      }
    }
  }
  return undefined;
}

/**
 * The file that a wiki link names and that is no page: `[[plan.zip]]` is the file of that name in any folder, and
 * `[[Folder/plan.zip]]` restricts it, as in Obsidian.
 */
export function findAttached(target: string, file: Linking, pages: ReadonlyMap<string, string>): string | undefined {
  if (!HAS_EXTENSION.test(target)) return undefined;
  const beside = findTarget(withoutQuery(target), file, pages);
  if (beside?.address.startsWith(ATTACHMENT_PREFIX)) return beside.filename;
  let names = attachedNames.get(pages);
  if (!names) attachedNames.set(pages, (names = attachedNamesOf(pages)));
  return names.get(normalizeName(fromRoot(target)));
}

const HAS_EXTENSION = /\.\w+$/;

/** The target of a wiki link as an address: it has no query. */
function withoutQuery(target: string): string {
  return target.replaceAll('?', '%3F');
}

function fromRoot(target: string): string {
  return target.replace(/^\/+/, '');
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

/**
 * The names that the file may have to which a reference leads, in whatever case; and those that the path of a file that is no
 * page may end with.
 */
export function namesMeant(
  reference: string,
  file: Linking,
  pages: ReadonlyMap<string, string>,
): { names: string[]; ends: string[] } {
  const isWikiLink = reference.startsWith(WIKI_REFERENCE);
  const target = isWikiLink ? reference.slice(WIKI_REFERENCE.length) : reference;
  if (isWikiLink && !HAS_EXTENSION.test(target)) return { names: [], ends: [] };
  const path = localPath(isWikiLink ? withoutQuery(target) : target);
  const candidates = path === undefined ? [] : [...new Set([path, decodePath(path)])];
  return {
    names: candidates.flatMap((candidate) => namesFor(candidate, file, pages)),
    ends: isWikiLink ? [fromRoot(target)] : [],
  };
}

/** Where a reference of a text leads to: what `pages` has for the file; undefined where there is none. */
export function pageOfReference(
  reference: string,
  file: Pick<Linking, 'filename' | 'page_path' | 'site_root'>,
  pages: ReadonlyMap<string, string>,
): string | undefined {
  const filename = reference.startsWith(WIKI_REFERENCE)
    ? findAttached(reference.slice(WIKI_REFERENCE.length), file, pages)
    : findTarget(reference, file, pages)?.filename;
  return filename === undefined ? undefined : pages.get(filename);
}

/** What the address of a page of a site leaves out. */
const EXTENSIONS = ['', '.md', '.mdx', '.markdown', '.html'];

/** What a page of a site has in the place of the extension of its text. */
const SITE_EXTENSION = /\.html?$/i;

/** Names that end as those of files do. */
const FILE_NAME = /\.[a-z][a-z0-9]{1,4}$/i;

/** Folders that generators of sites take as the root of their addresses. */
const ROOT_FOLDER = /(?:^|\/)(?:docs?|documentation|content|pages|src|book|wiki)$/i;

/** The file that stands for its folder is in many folders. */
const INDEX = /(?:^|\/)(?:index|readme)(?:\.[^./]+)?$/i;

/**
 * The names that a file may have to which an address refers, the best one first. A relative address is resolved as by a browser;
 * where that is no file, without the extension or with that of its text. One that leads above the folder that everything lies in
 * ends there, and one from the root of a site begins there. An absolute one begins at the root of the site, if the wiki has a
 * setting for it; else at the root of the upload, or of its only folder.
 */
function namesFor(address: string, file: Linking, pages: ReadonlyMap<string, string>): string[] {
  if (!address.startsWith('/')) return relativeNames(address, file.filename, onlyFolder(pages));
  const { site_root } = file;
  const isBelow = typeof site_root === 'string' && `${address}/`.toLowerCase().startsWith(site_root.toLowerCase());
  const folder = onlyFolder(pages);
  const within = (path: string) => (folder === '' ? [] : [resolveName('', `/${folder}/${path}`)]);
  const names: string[] = [];
  if (isBelow) {
    const rest = address.slice(site_root.length);
    names.push(...within(rest), resolveName('', `/${rest}`));
  }
  names.push(resolveName('', address), ...within(address));
  return names.flatMap((name) =>
    name === '' ? [] : [...EXTENSIONS.map((extension) => name + extension), ...textsOf(name)],
  );
}

function relativeNames(address: string, filename: string, folder: string): string[] {
  const names = [resolveName(filename, address)];
  const within = folder === '' ? filename : filename.slice(folder.length + 1);
  if (/^(?:\.\.\/)/.test(address)) {
    if (folder !== '' && filename.startsWith(`${folder}/`)) names.push(`${folder}/${resolveName(within, address)}`);
  } else if (!/^\.\//.test(address) && !INDEX.test(address)) {
    const segments = filename.split('/').slice(0, -1);
    const roots = segments.map((_, i) => segments.slice(0, i + 1).join('/')).filter((root) => ROOT_FOLDER.test(root));
    for (const root of [...roots.toReversed(), folder, ''])
      names.push(resolveName(root === '' ? '' : `${root}/x`, address));
  }
  return [...new Set(names)].flatMap((name) => (name === '' ? [] : [name, ...textsOf(name)]));
}

/** The names of texts that a site shows at this one. */
function textsOf(name: string): string[] {
  if (SITE_EXTENSION.test(name)) return TEXTS.map((extension) => name.replace(SITE_EXTENSION, extension));
  return FILE_NAME.test(name) ? [] : TEXTS.map((extension) => name + extension);
}

const TEXTS = ['.md', '.mdx', '.markdown', '.html', '.htm', '.txt', '.adoc'];

const onlyFolders = new WeakMap<ReadonlyMap<string, string>, string>();

/** The folder that all files of an upload lie in; "" if they lie in several, or in none. */
function onlyFolder(pages: ReadonlyMap<string, string>): string {
  let folder = onlyFolders.get(pages);
  if (folder === undefined) {
    const own = [...pages.keys()].filter((name) => !name.startsWith(EARLIER_UPLOAD_PREFIX));
    const first = new Set(own.map((name) => name.split('/', 1)[0] ?? ''));
    folder = first.size === 1 && own.some((name) => name.includes('/')) ? ([...first][0] ?? '') : '';
    onlyFolders.set(pages, folder);
  }
  return folder;
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

/** A name as it is compared with others: without regard to case and to the form of its accents. */
export function normalizeName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** A path of a link, without its percent-encoding. */
export function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An invalid percent-encoding is kept as text.
    return text;
  }
}
