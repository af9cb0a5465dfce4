import { defineJob } from '../jobs/define-job.ts';

/** Longer than any request or job needs to store a file. */
const UNFINISHED_MS = 24 * 3_600_000;

/** Removes partial files left by killed processes. */
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
