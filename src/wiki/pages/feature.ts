import type { Feature } from '../../platform/feature.ts';
import { createPage } from './create-page.ts';
import { editPage } from './edit-page.ts';
import { getPage } from './get-page.ts';
import { getPageByPath } from './get-page-by-path.ts';
import { getPageProperties } from './get-page-properties.ts';
import { getPageSurroundings } from './get-page-surroundings.ts';
import { getPageView } from './get-page-view.ts';
import { getTree } from './get-tree.ts';
import { keepPage } from './gone/keep-page.ts';
import { listGonePages } from './gone/list-gone-pages.ts';
import { listStalePages } from './gone/list-stale-pages.ts';
import { listBacklinks } from './links/list-backlinks.ts';
import { listBrokenLinks } from './links/list-broken-links.ts';
import { listBranches } from './list-branches.ts';
import { listChildren } from './list-children.ts';
import { listPages } from './list-pages.ts';
import { listTags } from './list-tags.ts';
import { previewPage } from './preview-page.ts';
import { listRecentPages } from './recent/list-recent-pages.ts';
import { listRecentPagesOfWorkspace } from './recent/list-recent-pages-of-workspace.ts';
import { countHits } from './search/count-hits.ts';
import { getSearchView } from './search/get-search-view.ts';
import { listRelatedPages } from './search/related-pages.ts';
import { searchPages } from './search/search-pages.ts';
import { suggestPages } from './search/suggest-pages.ts';
import { pageTables } from './tables.ts';
import { listTrash } from './trash/list-trash.ts';
import { purgeTrash } from './trash/purge-trash.job.ts';
import { restorePage } from './trash/restore-page.ts';
import { trashPage } from './trash/trash-page.ts';

export const pages: Feature = {
  endpoints: [
    listPages,
    listRecentPages,
    listRecentPagesOfWorkspace,
    createPage,
    previewPage,
    searchPages,
    countHits,
    getSearchView,
    suggestPages,
    getPage,
    getPageByPath,
    getPageView,
    getPageProperties,
    getPageSurroundings,
    editPage,
    trashPage,
    restorePage,
    listChildren,
    getTree,
    listBranches,
    listTrash,
    listGonePages,
    listStalePages,
    keepPage,
    listBacklinks,
    listRelatedPages,
    listBrokenLinks,
    listTags,
  ],
  jobs: [purgeTrash],
  tables: pageTables,
};
