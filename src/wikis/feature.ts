import type { Feature } from '../jobs/define-job.ts';
import { changeSettings } from './change-settings.ts';
import { createWiki } from './create-wiki.ts';
import { deleteWiki } from './delete-wiki.ts';
import { getSettings } from './get-settings.ts';
import { getWiki } from './get-wiki.ts';
import { listWikis } from './list-wikis.ts';
import { removeDeletedWiki } from './remove-deleted-wiki.job.ts';
import { renameWiki } from './rename-wiki.ts';

export const wikis: Feature = {
  endpoints: [listWikis, createWiki, getWiki, renameWiki, deleteWiki, getSettings, changeSettings],
  jobs: [removeDeletedWiki],
};
