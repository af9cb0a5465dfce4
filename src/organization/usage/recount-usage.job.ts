import { raw, sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';

/** Interval between recounts of a workspace. */
const AGE = raw(`interval '1 day'`);

/**
 * Recounts the usage of a workspace from its content. Triggers maintain the counts, so a difference is a bug: it is
 * logged and corrected.
 */
export const recountUsage = defineJob({
  name: 'recount-usage',
  for: 'workspace',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 3_600,
  due: sql`select wiki_id, workspace_id from workspaces_to_recount(${AGE})`,
  async run({ db, target: { workspace_id }, services: { log } }) {
    const [counted] = await db.transaction(async (query) => {
      // Reading a large workspace takes longer than the statement timeout of requests.
      await query(sql`select set_config('statement_timeout', '0', true)`);
      return query<{ drift: Record<string, number> }>(sql`select recount_usage(${workspace_id}) as drift`);
    });
    const { drift = {} } = counted ?? {};
    if (Object.keys(drift).length > 0) {
      log.error({ workspace_id, drift }, 'corrected a wrong usage count of a workspace');
    }
  },
});
