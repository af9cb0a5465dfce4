import { cancelJob } from './cancel-job.ts';
import type { Feature } from './define-job.ts';
import { getJob } from './get-job.ts';
import { listJobs } from './list-jobs.ts';
import { pruneOldIdempotencyKeys } from './prune-idempotency-keys.job.ts';
import { pruneOldRateLimitCounts } from './prune-rate-limit-counts.job.ts';
import { streamJob } from './stream-job.ts';

export const jobs: Feature = {
  endpoints: [listJobs, getJob, streamJob, cancelJob],
  jobs: [pruneOldIdempotencyKeys, pruneOldRateLimitCounts],
};
