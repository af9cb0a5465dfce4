import type { Feature } from '../jobs/define-job.ts';
import { deleteUnreferencedBlobs } from './delete-unreferenced-blobs.job.ts';
import { removeUnfinishedBlobs } from './remove-unfinished-blobs.job.ts';
import { trackStoredBlobs } from './track-stored-blobs.job.ts';

export const blobs: Feature = {
  jobs: [deleteUnreferencedBlobs, trackStoredBlobs, removeUnfinishedBlobs],
};
