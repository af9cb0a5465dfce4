import type { WikiExport } from './wiki-export.ts';

/** Files other than pages that the export to a disk writes. */
const RECORDS = /(?:^|\/)(?:comments|groups|history|navigation|pages|settings|users)\.json\.gz$/i;

/** The folder of a storage target, or of an export to a disk. */
export const WIKIJS: WikiExport = {
  name: 'Wiki.js',
  isIn: (filenames) => filenames.some((name) => RECORDS.test(name)),
  isNoPage: (filename) => RECORDS.test(filename),
  advice: 'Of Wiki.js the pages and files are read; history, comments and users are not.',
};
