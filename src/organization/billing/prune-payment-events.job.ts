import { sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';

/**
 * Deletes old ids of payment events. Stripe repeats an event for three days, and signatures of older events are refused
 * anyway.
 */
export const prunePaymentEvents = defineJob({
  name: 'prune-payment-events',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 60,
  every: 3_600,
  run: async ({ db }) =>
    void (await db.query(sql`delete from payment_events where received_at < now() - interval '30 days'`)),
});
