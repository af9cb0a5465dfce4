import { hasNotionId } from '../notion-names.ts';
import type { WikiExport } from './wiki-export.ts';

/** Its ids are taken out of names wherever they are (`notion-names.ts`). */
export const NOTION: WikiExport = {
  name: 'Notion',
  isIn: (filenames) => filenames.some(hasNotionId),
};
