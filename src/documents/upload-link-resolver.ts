import type { WikiLinkTo } from '../markdown/plain-text.ts';
import type { Wiki } from '../markdown/wiki-links.ts';
import { ATTACHMENT, EARLIER } from './links/relink.ts';

/** File names by what a wiki link may call them; the shortest path comes first, as the nearest to the top. */
const named = new WeakMap<ReadonlyMap<string, string>, ReadonlyMap<string, string>>();

/**
 * What wiki links mean among the files of an upload: `[[Note]]` is the file of that name wherever it lies, and
 * `[[Folder/Note]]` narrows it down, as in Obsidian and its kin. `pages` maps files and folders to the paths of their
 * pages.
 */
export function uploadLinkResolver(
  file: { wiki_id: string; page_path: string },
  pages: ReadonlyMap<string, string>,
): Wiki & { filesOf(links: readonly WikiLinkTo[]): string[] } {
  const names = named.get(pages) ?? namesOf(pages);
  named.set(pages, names);
  const fileNamed = (target: string) => names.get(keyOf(target));
  return {
    wiki_id: file.wiki_id,
    page_path: file.page_path,
    findPage(target) {
      const path = pages.get(fileNamed(target) ?? '');
      return path === undefined ? undefined : { path };
    },
    filesOf: (links) => links.map(({ target }) => fileNamed(target)).filter((name) => name !== undefined),
  };
}

function namesOf(pages: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const documents = [...pages.keys()].filter(
    (filename) => !filename.startsWith(EARLIER) && !pages.get(filename)?.startsWith(ATTACHMENT),
  );
  const filenames = documents.sort((a, b) => a.split('/').length - b.split('/').length);
  for (const filename of filenames) {
    const segments = keyOf(filename).split('/');
    // Folders deeper than a few are never named, and each name is kept for every file.
    for (let from = segments.length - 1; from >= Math.max(0, segments.length - 4); from -= 1) {
      const name = segments.slice(from).join('/');
      if (name !== '' && !names.has(name)) names.set(name, filename);
    }
  }
  return names;
}

/** Without an extension, in lower case and one encoding of accents: as people type a name. */
function keyOf(name: string): string {
  return name
    .replace(/\.(?:md|markdown|mdx|txt|html?)$/i, '')
    .replace(/^\/+|\/+$/g, '')
    .normalize('NFC')
    .toLowerCase();
}
