import type { Feature } from '../../platform/feature.ts';
import { diffRevisions } from './diff-revisions.ts';
import { getRevision } from './get-revision.ts';
import { listRevisions } from './list-revisions.ts';
import { packRevisions } from './pack-revisions.job.ts';
import { purgeRevisions } from './purge-revisions.job.ts';
import { restoreRevision } from './restore-revision.ts';
import { revisionTables } from './tables.ts';

export const revisions: Feature = {
  endpoints: [listRevisions, getRevision, diffRevisions, restoreRevision],
  jobs: [purgeRevisions, packRevisions],
  tables: revisionTables,
};
