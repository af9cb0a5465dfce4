import { hasNotionId } from '../notion-names.ts';
import type { WikiExport } from './wiki-export.ts';

/** Its ids are removed from file names in any upload (`notion-names.ts`). */
export const NOTION: WikiExport = {
  name: 'Notion',
  isIn: (filenames) => filenames.some(hasNotionId),
};
