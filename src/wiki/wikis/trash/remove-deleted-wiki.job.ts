import { untilHeld } from '../../../platform/core/legal-hold.ts';
import type { Query } from '../../../platform/db/db.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';

/** Rows deleted per statement, not counting the rows that the deletion cascades to. */
const BATCH = 1_000;

/**
 * Deletes the content of wikis that can no longer be restored, in batches, and finally the wiki itself. Stops if a
 * legal hold is set.
 */
export const removeDeletedWiki = defineJob({
  name: 'remove-deleted-wiki',
  for: 'wiki',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 60,
  due: sql`select wiki_id, workspace_id from deleted_wikis()`,
  run: ({ db: { query }, target: { wiki_id }, signal }) => untilHeld(() => removeContent(query, wiki_id, signal)),
});

async function removeContent(query: Query, wiki_id: string, signal: AbortSignal): Promise<void> {
  // Checked by each statement: a legal hold that is set while the job waits makes the wiki restorable again.
  const isDue = sql`exists (select from deleted_wikis() d where d.wiki_id = ${wiki_id})`;
  const inBatches = async (deletion: Sql) => {
    while (!signal.aborted && (await query(sql`${deletion} and ${isDue} returning 1`)).length === BATCH);
  };
  // A job that was enqueued while the wiki was being deleted must not create anything.
  await query(sql`
    update jobs set status = 'cancelled', worker_id = null, updated_at = now(), finished_at = now()
    where wiki_id = ${wiki_id} and status in ('queued', 'running') and ${isDue}`);
  // Delete child pages before their parent: a parent's path is a prefix of its children's paths.
  await inBatches(sql`
    delete from pages where wiki_id = ${wiki_id} and page_id in (
      select page_id from pages where wiki_id = ${wiki_id} order by path desc limit ${BATCH})`);
  await inBatches(sql`
    delete from sources where wiki_id = ${wiki_id} and source_id in (
      select source_id from sources where wiki_id = ${wiki_id} limit ${BATCH})`);
  await inBatches(sql`
    delete from import_revisions where wiki_id = ${wiki_id} and (import_id, page_id, revision) in (
      select import_id, page_id, revision from import_revisions where wiki_id = ${wiki_id} limit ${BATCH})`);
  // Rows that are deleted before the wiki are subtracted from the usage of its former workspace.
  await inBatches(sql`
    delete from uploads where wiki_id = ${wiki_id} and upload_id in (
      select upload_id from uploads where wiki_id = ${wiki_id} limit ${BATCH})`);
  await inBatches(sql`
    delete from jobs where wiki_id = ${wiki_id} and job_id in (
      select job_id from jobs where wiki_id = ${wiki_id} limit ${BATCH})`);
  if (signal.aborted) return;
  await query(sql`delete from wikis where wiki_id = ${wiki_id} and ${isDue}`);
}
