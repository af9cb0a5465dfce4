import { type Sql, sql } from '../db/sql.ts';

/**
 * The step that cancels the jobs `j` that a condition names, as far as they have not ended. A worker that runs one finds
 * with its next heartbeat or write that it holds it no more, and what it was about to write is undone.
 */
export function cancelJobs(from: Sql, condition: Sql): Sql {
  return sql`
    update jobs j set status = 'cancelled', error = 'cancelled: the job was cancelled', worker_id = null,
      updated_at = now(), finished_at = now()
    from ${from} where ${condition} and j.status in ('queued', 'running')
    returning j.*`;
}

/**
 * The step that ends the upload named by the rows of `from` (upload_id) as cancelled, when `stopped` was cancelled: until
 * then a last write may have been under way. The locks are taken in the order of a worker that ends a job: job, upload.
 */
export function failUpload(wiki_id: string, from: Sql, stopped: Sql): Sql {
  return sql`
    update uploads u set status = 'failed', error = 'cancelled: the upload was cancelled', updated_at = now(),
      finished_at = now(), source_count = sources_made(u.wiki_id, u.upload_id)
    from ${from} f, (${stopped}) s
    where u.wiki_id = ${wiki_id} and u.upload_id = f.upload_id and u.finished_at is null and s.count >= 0
    returning u.*`;
}
