import type { WikiExport } from './wiki-export.ts';

/** A ZIP of a space as Markdown or HTML. */
export const DOCMOST: WikiExport = {
  name: 'Docmost',
  isIn: (filenames) => filenames.some(isMetadata),
  isNoPage: isMetadata,
};

function isMetadata(filename: string): boolean {
  return /(?:^|\/)docmost-metadata\.json$/i.test(filename);
}
