import type { WikiExport } from './wiki-export.ts';

/** Files other than pages that the export to a disk writes. */
const RECORDS = /(?:^|\/)(?:comments|groups|history|navigation|pages|settings|users)\.json\.gz$/i;

/** The folder of a storage target, or of an export to a disk. */
export const WIKIJS: WikiExport = {
  name: 'Wiki.js',
  isIn: (filenames) => filenames.some((name) => RECORDS.test(name)),
  isNoPage: (filename) => RECORDS.test(filename),
  advice: 'Pages and files of Wiki.js are imported; history, comments and users are not.',
};
