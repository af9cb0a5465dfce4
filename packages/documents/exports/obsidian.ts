import type { WikiExport } from './wiki-export.ts';

/**
 * A vault. It is recognized by its settings, which are hidden and in a ZIP only if packed with them, or by Obsidian's
 * file types.
 */
export const OBSIDIAN: WikiExport = {
  name: 'Obsidian',
  isIn: (filenames) =>
    filenames.some((name) => /(?:^|[/( ])\.obsidian\//.test(name) || /\.(?:canvas|base)$/i.test(name)),
};
