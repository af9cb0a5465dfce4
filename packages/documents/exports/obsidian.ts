import type { WikiExport } from './wiki-export.ts';

/**
 * An Obsidian vault, recognized by its settings folder or by Obsidian's file types. The folder is hidden: folder
 * uploads lack it, and so do ZIPs packed without hidden files.
 */
export const OBSIDIAN: WikiExport = {
  name: 'Obsidian',
  isIn: (filenames) =>
    filenames.some((name) => /(?:^|[/( ])\.obsidian\//.test(name) || /\.(?:canvas|base)$/i.test(name)),
};
