import type { WikiExport } from './wiki-export.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ATTACHMENT = new RegExp(`(?:^|/)(?:uploads|public|attachments)/(?:${UUID}/){1,2}[^/]+$`, 'i');

/** A ZIP of Markdown with a folder for each collection. */
export const OUTLINE: WikiExport = {
  name: 'Outline',
  isIn: (filenames) => filenames.some((name) => ATTACHMENT.test(name)),
};
