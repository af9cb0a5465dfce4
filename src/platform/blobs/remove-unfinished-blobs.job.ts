import { defineJob } from '../jobs/define-job.ts';

/** No request and no job takes as long to store a file. */
const UNFINISHED_MS = 24 * 3_600_000;

/** Removes what killed processes began to store and never completed. */
export const removeUnfinishedBlobs = defineJob({
  name: 'remove-unfinished-blobs',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 3_600,
  every: 6 * 3_600,
  run: ({ services: { blobs }, signal }) => blobs.removeUnfinished(UNFINISHED_MS, signal),
});
