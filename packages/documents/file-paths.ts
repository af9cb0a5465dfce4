import { numberedPageSlug, pageSlugFrom } from '@ibid/markdown/slugs/page-slug.ts';
import { folderPageFiles } from './folder-pages.ts';
import { plainName } from './notion-names.ts';

interface PlannedPaths {
  /** The path of each file's page, in the order of the files. */
  files: string[];
  /** The paths of folders without a file as their page, by full folder name. */
  folders: Map<string, string>;
  /** The path of each folder, by full folder name. */
  folder_paths: Map<string, string>;
}

/** The maximum number of paths that `ahead` returns, to be looked up in one statement. */
const AHEAD_MAX = 100;

/**
 * Plans the paths of pages for uploaded files: a segment for each folder and for the name without its extension. Some
 * files are the page of a folder (see `folderPageFiles`). Names with the same slug are numbered. `pageAt` returns the
 * origin of the wiki's page at a path; a page written by a user is never replaced, and nothing goes below a hidden page. `isOfFolder` tells whether the page
 * at a path belongs to a folder with this file's name; the file then becomes that page. `ahead` returns the paths that
 * may be tried next, so that they can be looked up together.
 */
export function planPaths(
  filenames: readonly string[],
  pageAt: (path: string, ahead: () => string[]) => 'authored' | 'compiled' | 'hidden' | undefined,
  isOfFolder: (path: string, filename: string) => boolean = () => false,
): PlannedPaths {
  const used = new Set<string>();
  const folderPaths = new Map<string, string>([['', '']]);
  const folders = new Map<string, string>();
  const files = new Array<string>(filenames.length);

  function uniquePath(parent: string, name: string, filename: string): string {
    const base = childSlug(parent, name);
    const pathOf = (n: number) => join(parent, n === 1 ? base : numberedPageSlug(base, n));
    for (let n = 1; ; n += 1) {
      const path = pathOf(n);
      // Usually the first path is free; if not, many more may be taken, so the lookahead grows.
      const ahead = () => Array.from({ length: Math.min(9 * (n - 1), AHEAD_MAX) }, (_, i) => pathOf(n + 1 + i));
      if (!used.has(path) && (!pageAt(path, ahead) || isOfFolder(path, filename))) {
        used.add(path);
        return path;
      }
    }
  }

  /**
   * Returns the path of a folder. The folder keeps its path if the wiki has a page there, which is the folder's page unless
   * it is hidden.
   */
  function folderPath(folder: string): string {
    const known = folderPaths.get(folder);
    if (known !== undefined) return known;
    const at = folder.lastIndexOf('/');
    const parent = folderPath(at < 0 ? '' : folder.slice(0, at));
    const base = childSlug(parent, folder.slice(at + 1));
    let path = join(parent, base);
    for (let n = 2; used.has(path) || pageAt(path, () => []) === 'hidden'; n += 1) {
      path = join(parent, numberedPageSlug(base, n));
    }
    used.add(path);
    folderPaths.set(folder, path);
    folders.set(path, folder);
    return path;
  }

  const split = filenames.map((filename) => {
    const at = filename.lastIndexOf('/');
    return {
      folder: at < 0 ? '' : filename.slice(0, at),
      name: filename.slice(at + 1).replace(/\.[^.]+$/, '') || filename.slice(at + 1),
    };
  });
  // Folders come first, so that a file never takes a folder's path; then the files that are a folder's page.
  for (const { folder } of split) folderPath(folder);
  for (const [folder, i] of folderPageFiles(filenames)) {
    const path = folderPath(folder);
    if (pageAt(path, () => []) === 'authored') continue;
    files[i] = path;
    folders.delete(path);
  }
  for (const [i, { folder, name }] of split.entries()) {
    files[i] ??= uniquePath(folderPath(folder), name, filenames[i] ?? '');
  }
  return { files, folders, folder_paths: folderPaths };
}

/**
 * Returns the slug of a page below `parent`. It is shortened below long paths: twenty folders with slugs of maximum
 * length leave less than a slug's length of the 1,024 characters of a path.
 */
export function childSlug(parent: string, name: string): string {
  const slug = pageSlugFrom(plainName(name), 'page');
  return parent.length < 970 ? slug : pageSlugFrom([...slug].slice(0, 30).join(''), 'page');
}

function join(parent: string, slug: string): string {
  return parent === '' ? slug : `${parent}/${slug}`;
}
