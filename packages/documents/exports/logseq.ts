import type { WikiExport } from './wiki-export.ts';

/** The folder of a graph. */
export const LOGSEQ: WikiExport = {
  name: 'Logseq',
  isIn: (filenames) => filenames.some((name) => /(?:^|\/)logseq\/config\.edn$/.test(name)),
  isNoPage: (filename) => /(?:^|\/)logseq\/(?:[^/]+\.(?:edn|css|js)$|(?:bak|\.recycle)\/)/.test(filename),
};
