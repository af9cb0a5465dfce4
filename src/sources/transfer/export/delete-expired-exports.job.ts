import { sql } from '../../../platform/db/sql.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';

/** Deletes expired exports and finished imports. Their archives become unreferenced blobs. */
export const deleteExpiredExports = defineJob({
  name: 'delete-expired-exports',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 3_600,
  async run({ db: { query } }) {
    await query(sql`delete from exports where expires_at < now()`);
    await query(sql`
      delete from imports i using jobs j
      where j.wiki_id = i.wiki_id and j.job_id = i.import_id and j.finished_at < now() - interval '1 hour'`);
  },
});
