import type { WikiLinkTo } from '@ibid/markdown/plain-text.ts';
import type { Wiki } from '@ibid/markdown/wiki-links.ts';
import { ATTACHMENT_PREFIX, EARLIER_UPLOAD_PREFIX } from './links/find-file.ts';

/** File names by their keys. If several files match, the shortest path wins, because it is nearest to the root. */
const named = new WeakMap<ReadonlyMap<string, string>, ReadonlyMap<string, string>>();

/**
 * Resolves wiki links among the files of an upload: `[[Note]]` is the file of that name in any folder, and
 * `[[Folder/Note]]` restricts it, as in Obsidian. `pages` maps files and folders to the paths of their pages.
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
    (filename) => !filename.startsWith(EARLIER_UPLOAD_PREFIX) && !pages.get(filename)?.startsWith(ATTACHMENT_PREFIX),
  );
  const filenames = documents.sort((a, b) => a.split('/').length - b.split('/').length);
  for (const filename of filenames) {
    const segments = keyOf(filename).split('/');
    // Links rarely name more than a few folders, and every suffix of a path takes memory.
    for (let from = segments.length - 1; from >= Math.max(0, segments.length - 4); from -= 1) {
      const name = segments.slice(from).join('/');
      if (name !== '' && !names.has(name)) names.set(name, filename);
    }
  }
  return names;
}

/** Normalizes a name as users type it: without extension, in lower case and Unicode NFC. */
function keyOf(name: string): string {
  return name
    .replace(/\.(?:md|markdown|mdx|txt|html?)$/i, '')
    .replace(/^\/+|\/+$/g, '')
    .normalize('NFC')
    .toLowerCase();
}
