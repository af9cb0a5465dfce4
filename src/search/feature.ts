import type { Feature } from '../jobs/define-job.ts';
import { mergeSearchIndex } from './index/merge-search-index.job.ts';
import { reindexJob } from './index/reindex.job.ts';

export const search: Feature = {
  jobs: [reindexJob, mergeSearchIndex],
};
