import type { Feature } from '../jobs/define-job.ts';
import { diffRevisions } from './diff-revisions.ts';
import { getRevision } from './get-revision.ts';
import { listRevisions } from './list-revisions.ts';
import { packRevisions } from './pack-revisions.job.ts';
import { purgeRevisions } from './purge-revisions.job.ts';
import { restoreRevision } from './restore-revision.ts';

export const revisions: Feature = {
  endpoints: [listRevisions, getRevision, diffRevisions, restoreRevision],
  jobs: [purgeRevisions, packRevisions],
};
