import { pruneIdempotencyKeys } from '../access/idempotency.ts';
import { defineJob } from './define-job.ts';

/** Deletes the answers to requests with an Idempotency-Key that are older than they are kept. */
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
