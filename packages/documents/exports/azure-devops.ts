import type { WikiExport } from './wiki-export.ts';

/** The Git repository of an Azure DevOps wiki. */
export const AZURE_DEVOPS: WikiExport = {
  name: 'Azure DevOps',
  isIn: (filenames) =>
    filenames.some((name) => /(?:^|\/)\.order$/.test(name)) &&
    filenames.some((name) => /(?:^|\/)\.attachments\//.test(name)),
};
