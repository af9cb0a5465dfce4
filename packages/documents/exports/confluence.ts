import type { WikiExport } from './wiki-export.ts';

/** File names are a title and an id, or an id alone. */
const PAGE = /(?:^|\/)(?:[^/]+_)?\d+\.html$/i;

const INDEX = /(?:^|\/)index\.html$/i;

/** An export of a space as HTML, whose page tree is in `index.html` (`confluence-tree.ts`). */
export const CONFLUENCE: WikiExport = {
  name: 'Confluence',
  isIn(filenames) {
    const folders = new Set(filenames.filter((name) => INDEX.test(name)).map(folderOf));
    const pages = filenames.filter((name) => /\.html$/i.test(name) && folders.has(folderOf(name)) && !INDEX.test(name));
    return pages.length > 0 && pages.every((name) => PAGE.test(name));
  },
  isNoPage: (filename) => /(?:^|\/)styles\/site\.css$/i.test(filename),
};

function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}
