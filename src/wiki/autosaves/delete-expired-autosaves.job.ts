import { raw, sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';
import { AUTOSAVE_DAYS } from './schema.ts';

export const deleteExpiredAutosaves = defineJob({
  name: 'delete-expired-autosaves',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 3_600,
  async run({ db: { query } }) {
    await query(sql`delete from autosaves where updated_at < now() - interval '${raw(String(AUTOSAVE_DAYS))} days'`);
  },
});
