import type { WikiExport } from './wiki-export.ts';

/** A portable ZIP, which contains all pages in one JSON file. */
export const BOOKSTACK: WikiExport = {
  name: 'BookStack',
  isIn: (filenames) =>
    filenames.some((name) => /(?:^|\/)data\.json$/.test(name)) &&
    filenames.some((name) => /(?:^|\/)files\/[^/]+$/.test(name)) &&
    !filenames.some((name) => /\.(?:md|html?)$/i.test(name)),
  advice:
    'Pages of a portable BookStack ZIP are not supported. Export each book as Markdown or HTML and upload that file.',
};
