import type { WikiExport } from './wiki-export.ts';

/** A vault; its settings are hidden, so that only a ZIP that was packed with them shows it. */
export const OBSIDIAN: WikiExport = {
  name: 'Obsidian',
  isIn: (filenames) =>
    filenames.some((name) => /(?:^|[/( ])\.obsidian\//.test(name) || /\.(?:canvas|base)$/i.test(name)),
};
