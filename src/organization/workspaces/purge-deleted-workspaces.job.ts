import { sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';

/** Audit records changed per statement. */
const BATCH = 1_000;

/** Purges workspaces 30 days after their deletion. */
export const purgeDeletedWorkspaces = defineJob({
  name: 'purge-deleted-workspaces',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 3_600,
  run: async ({ db, signal }) => {
    const purgeBatch = async () => {
      const [row] = await db.query<{ purged: number }>(sql`select purge_deleted_workspaces(${BATCH}) as purged`);
      return row?.purged ?? 0;
    };
    while (!signal.aborted && (await purgeBatch()) > 0);
  },
});
