import { pruneRateLimitCounts } from '../access/limits/rate-limit-buckets.ts';
import { defineJob } from './define-job.ts';

/** Deletes the counts of rate limits whose window has ended. */
export const pruneOldRateLimitCounts = defineJob({
  name: 'prune-rate-limit-counts',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 60,
  run: async ({ db }) => void (await pruneRateLimitCounts(db.query)),
});
