import { sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';

const BATCH_ROWS = 10_000;

/** Merges the rows that transactions have added to `workspace_usage`, so that sums over them stay cheap. */
export const mergeUsage = defineJob({
  name: 'merge-usage',
  for: 'service',
  // Not in the maintenance lane, where removals can take minutes.
  lane: 'index',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 60,
  every: 10,
  async run({ db: { query }, signal }) {
    while (!signal.aborted) {
      const [merged] = await query<{ rows: number }>(sql`select merge_ended_usage(${BATCH_ROWS}::int)::int as rows`);
      if ((merged?.rows ?? 0) < BATCH_ROWS) return;
    }
  },
});
