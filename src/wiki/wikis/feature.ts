import type { Feature } from '../../platform/feature.ts';
import { changeSettings } from './change-settings.ts';
import { createWiki } from './create-wiki.ts';
import { getSettings } from './get-settings.ts';
import { getWiki } from './get-wiki.ts';
import { listWikis } from './list-wikis.ts';
import { renameWiki } from './rename-wiki.ts';
import { wikiTables } from './tables.ts';
import { deleteWiki } from './trash/delete-wiki.ts';
import { listDeletedWikis } from './trash/list-deleted-wikis.ts';
import { purgeWiki } from './trash/purge-wiki.ts';
import { removeDeletedWiki } from './trash/remove-deleted-wiki.job.ts';
import { restoreWiki } from './trash/restore-wiki.ts';

export const wikis: Feature = {
  endpoints: [
    listWikis,
    createWiki,
    getWiki,
    renameWiki,
    deleteWiki,
    listDeletedWikis,
    restoreWiki,
    purgeWiki,
    getSettings,
    changeSettings,
  ],
  jobs: [removeDeletedWiki],
  tables: wikiTables,
};
