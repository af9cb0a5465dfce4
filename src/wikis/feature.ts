import type { Feature } from '../jobs/define-job.ts';
import { createWiki } from './create-wiki.ts';
import { deleteWiki } from './delete-wiki.ts';
import { getWiki } from './get-wiki.ts';
import { listWikis } from './list-wikis.ts';
import { removeDeletedWiki } from './remove-deleted-wiki.job.ts';
import { renameWiki } from './rename-wiki.ts';

export const wikis: Feature = {
  endpoints: [listWikis, createWiki, getWiki, renameWiki, deleteWiki],
  jobs: [removeDeletedWiki],
};
