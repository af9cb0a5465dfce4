import { pruneIdempotencyKeys } from '../access/idempotency.ts';
import { defineJob } from './define-job.ts';

/** Deletes expired responses to requests with an Idempotency-Key. */
export const pruneOldIdempotencyKeys = defineJob({
  name: 'prune-idempotency-keys',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 600,
  run: async ({ db }) => void (await pruneIdempotencyKeys(db.query)),
});
