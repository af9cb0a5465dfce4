import { untilHeld } from '../../../platform/core/legal-hold.ts';
import type { Query } from '../../../platform/db/db.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';

/** Rows that are deleted by one statement; each takes others with it. */
const BATCH = 1_000;

/** Deletes what a wiki held that can no longer be restored, in batches, and last the wiki itself. A legal hold keeps what is left. */
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
  // A legal hold that is set while the job waits lets the wiki be restored.
  const isDue = sql`exists (select from deleted_wikis() d where d.wiki_id = ${wiki_id})`;
  const inBatches = async (deletion: Sql) => {
    while (!signal.aborted && (await query(sql`${deletion} and ${isDue} returning 1`)).length === BATCH);
  };
  // A job that was enqueued while the wiki was deleted makes nothing more.
  await query(sql`
    update jobs set status = 'cancelled', worker_id = null, updated_at = now(), finished_at = now()
    where wiki_id = ${wiki_id} and status in ('queued', 'running') and ${isDue}`);
  // A page goes before the one above it, whose path is the beginning of its own.
  await inBatches(sql`
    delete from pages where wiki_id = ${wiki_id} and page_id in (
      select page_id from pages where wiki_id = ${wiki_id} order by path desc limit ${BATCH})`);
  await inBatches(sql`
    delete from sources where wiki_id = ${wiki_id} and source_id in (
      select source_id from sources where wiki_id = ${wiki_id} limit ${BATCH})`);
  await inBatches(sql`
    delete from import_revisions where wiki_id = ${wiki_id} and (import_id, page_id, revision) in (
      select import_id, page_id, revision from import_revisions where wiki_id = ${wiki_id} limit ${BATCH})`);
  // What is deleted before the wiki is uncounted from the workspace that it was in.
  await inBatches(sql`
    delete from uploads where wiki_id = ${wiki_id} and upload_id in (
      select upload_id from uploads where wiki_id = ${wiki_id} limit ${BATCH})`);
  await inBatches(sql`
    delete from jobs where wiki_id = ${wiki_id} and job_id in (
      select job_id from jobs where wiki_id = ${wiki_id} limit ${BATCH})`);
  if (signal.aborted) return;
  await query(sql`delete from wikis where wiki_id = ${wiki_id} and ${isDue}`);
}
