import type { WikiExport } from './wiki-export.ts';

/** A folder of "MD - Markdown", with or without front matter. */
export const JOPLIN: WikiExport = {
  name: 'Joplin',
  isIn: (filenames) => filenames.some((name) => /(?:^|\/)_resources\/[^/]+$/.test(name)),
};
