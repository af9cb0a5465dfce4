import type { WikiExport } from './wiki-export.ts';

/** A Git repository that GitBook synchronizes with a space. */
export const GITBOOK: WikiExport = {
  name: 'GitBook',
  isIn: (filenames) =>
    filenames.some((name) => /(?:^|\/)SUMMARY\.md$/i.test(name)) &&
    filenames.some((name) => /(?:^|\/)\.gitbook(?:\/|\.yaml$)/i.test(name)),
  isNoPage: (filename) => /(?:^|\/)\.gitbook\.yaml$/i.test(filename),
};
