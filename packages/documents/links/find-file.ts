import { relativeAddress } from '@ibid/markdown/wiki-links.ts';
import type { CompileInput } from '../compile-input.ts';

/** The prefix of references to files that are not pages, followed by the id of the attachment. */
export const ATTACHMENT_PREFIX = 'attachment:';

/** The prefix of names of files from an earlier upload. Names in this upload cannot begin with it. */
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

/** Returns the path of an address that may lead to a file, without ? and #; undefined for external addresses. */
export function localPath(url: string): string | undefined {
  const path = /^[^?#]*/.exec(url)?.[0].replaceAll('\\', '/') ?? '';
  return path === '' || path.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(path) ? undefined : path;
}

/**
 * Finds the file that an address leads to, first in this upload, then in an earlier one; undefined if there is no such
 * file.
 */
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
 * Finds the non-page file that a wiki link names: `[[plan.zip]]` is the file of that name in any folder, and
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

/** Converts the target of a wiki link, which has no query, to an address. */
function withoutQuery(target: string): string {
  return target.replaceAll('?', '%3F');
}

function fromRoot(target: string): string {
  return target.replace(/^\/+/, '');
}

const attachedNames = new WeakMap<ReadonlyMap<string, string>, ReadonlyMap<string, string>>();

/** The number of folders that a link may name. Links rarely name more, and every suffix of a path takes memory. */
const NAMED_FOLDERS = 3;

/**
 * Indexes files that are not pages by the suffixes of their paths. Files of this upload take precedence over earlier
 * ones, then files nearest to the root.
 */
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
 * Returns the possible names of the file that a reference leads to, in any case, and the possible ends of the path of a
 * file that is not a page.
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

/** Returns the value in `pages` of the file that a reference leads to; undefined if there is no such file. */
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

/** Extensions that the addresses of a site may omit. */
const EXTENSIONS = ['', '.md', '.mdx', '.markdown', '.html'];

/** The extension of a site's pages, in place of the extension of their text. */
const SITE_EXTENSION = /\.html?$/i;

/** Names with a file extension. */
const FILE_NAME = /\.[a-z][a-z0-9]{1,4}$/i;

/** Folders that site generators take as the root of their addresses. */
const ROOT_FOLDER = /(?:^|\/)(?:docs?|documentation|content|pages|src|book|wiki)$/i;

/** Index files exist in many folders, so a relative link to an index never falls back to other folders. */
const INDEX = /(?:^|\/)(?:index|readme)(?:\.[^./]+)?$/i;

/**
 * Returns the possible names of the file that an address refers to, best first.
 *
 * A relative address is resolved as by a browser, then with the extension of a text added or in place of `.html`. An
 * address that leads above the only folder of the upload stops at that folder. Unless it begins with a dot, an address
 * may also start at a root folder of a site.
 *
 * An absolute address starts at the root of the site if the wiki has a setting for it, otherwise at the root of the
 * upload or of its only folder.
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

/** Returns the names of texts that a site may show at this name. */
function textsOf(name: string): string[] {
  if (SITE_EXTENSION.test(name)) return TEXTS.map((extension) => name.replace(SITE_EXTENSION, extension));
  return FILE_NAME.test(name) ? [] : TEXTS.map((extension) => name + extension);
}

const TEXTS = ['.md', '.mdx', '.markdown', '.html', '.htm', '.txt', '.adoc'];

const onlyFolders = new WeakMap<ReadonlyMap<string, string>, string>();

/** Returns the folder that contains all files of an upload; "" if there is no such folder. */
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

/** Resolves an address from a file to a file name; a leading slash refers to the root of the upload. */
function resolveName(filename: string, address: string): string {
  const segments = address.startsWith('/') ? [] : filename.split('/').slice(0, -1);
  for (const segment of address.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  return segments.join('/');
}

const normalizedNames = new WeakMap<ReadonlyMap<string, string>, Map<string, string | undefined>>();

/**
 * Finds the file of that name, or else the only file whose name differs only in case or Unicode normalization (macOS).
 */
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

/** Normalizes a name for comparison: ignores case and the form of accents. */
export function normalizeName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Decodes the path of a link. Invalid percent-encoding is kept as text. */
export function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
