import { sql } from '../../db/sql.ts';
import { defineJob } from '../../jobs/define-job.ts';

/** Deletes exports that can no longer be downloaded; their archives are then blobs that nothing refers to. */
export const deleteExpiredExports = defineJob({
  name: 'delete-expired-exports',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 3_600,
  run: async ({ db: { query } }) => void (await query(sql`delete from exports where expires_at < now()`)),
});
