import type { Feature } from '../feature.ts';
import { deleteUnreferencedBlobs } from './delete-unreferenced-blobs.job.ts';
import { removeUnfinishedBlobs } from './remove-unfinished-blobs.job.ts';
import { blobTables } from './tables.ts';
import { trackStoredBlobs } from './track-stored-blobs.job.ts';

export const blobs: Feature = {
  jobs: [deleteUnreferencedBlobs, trackStoredBlobs, removeUnfinishedBlobs],
  tables: blobTables,
};
