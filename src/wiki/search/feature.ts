import type { Feature } from '../../platform/feature.ts';
import { mergeSearchIndex } from './index/merge-search-index.job.ts';
import { reindexJob } from './index/reindex.job.ts';
import { deleteSavedSearch } from './saved/delete-saved-search.ts';
import { listSavedSearches } from './saved/list-saved-searches.ts';
import { putSavedSearch } from './saved/put-saved-search.ts';
import { searchTables } from './tables.ts';

export const search: Feature = {
  endpoints: [listSavedSearches, putSavedSearch, deleteSavedSearch],
  jobs: [reindexJob, mergeSearchIndex],
  tables: searchTables,
};
