import { sql } from '../../../platform/db/sql.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { removeStagedRows } from './staged-rows.ts';

/** Removes the staged rows of imports that were cancelled, or whose process was killed when they ended. */
export const removeStagedRowsOfEnded = defineJob({
  name: 'remove-staged-rows',
  for: 'wiki',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 60,
  due: sql`select wiki_id, workspace_id from wikis_with_staged_imports()`,
  run: ({ db, target: { wiki_id }, signal }) => removeStagedRows(db.query, wiki_id, signal),
});
