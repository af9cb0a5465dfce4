import { cancelJob } from './cancel-job.ts';
import { getJob } from './get-job.ts';
import { listJobs } from './list-jobs.ts';
import { pruneOldIdempotencyKeys } from './prune-idempotency-keys.job.ts';
import { pruneOldRateLimitCounts } from './prune-rate-limit-counts.job.ts';
import { streamJob } from './stream-job.ts';
import { jobTables } from './tables.ts';

/** Not typed as `Feature`, because that is defined in a layer above this folder; FEATURES in app.ts checks it. */
export const jobs = {
  endpoints: [listJobs, getJob, streamJob, cancelJob],
  jobs: [pruneOldIdempotencyKeys, pruneOldRateLimitCounts],
  tables: jobTables,
};
