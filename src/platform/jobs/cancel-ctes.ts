import { raw, type Sql, sql } from '../db/sql.ts';

/**
 * Returns the CTE that cancels the unfinished jobs `j` that match a condition. A worker that is running such a job
 * notices at its next heartbeat or write, and its open transaction is rolled back.
 */
export function cancelJobs(from: Sql, condition: Sql): Sql {
  return sql`
    update jobs j set status = 'cancelled', error = 'cancelled: the job was cancelled', worker_id = null,
      updated_at = now(), finished_at = now()
    from ${from} where ${condition} and j.status in ('queued', 'running')
    returning j.*`;
}

/**
 * Returns the CTE that ends the uploads in the rows of `from` (upload_id) as cancelled. It reads from `stopped`, the
 * cancellation of their jobs, to run after it: a job may write until then, and workers lock in the same order (job,
 * upload). `only`: a condition on the upload `u` and its row `f` of `from`.
 */
export function failUpload(wiki_id: string, from: Sql, stopped: Sql, only: Sql = raw('true')): Sql {
  return sql`
    update uploads u set status = 'failed', error = 'cancelled: the upload was cancelled', updated_at = now(),
      finished_at = now(), source_count = sources_made(u.wiki_id, u.upload_id)
    from ${from} f, (${stopped}) s
    where u.wiki_id = ${wiki_id} and u.upload_id = f.upload_id and u.finished_at is null and ${only}
      and s.count >= 0
    returning u.*`;
}

/**
 * Returns the CTE that fails the unprocessed files of the cancelled uploads `upload`, so that no file stays pending.
 */
export function failFiles(wiki_id: string): Sql {
  return sql`
    update upload_files f set status = 'failed', error = 'cancelled: the upload was cancelled' from upload u
    where f.wiki_id = ${wiki_id} and f.upload_id = u.upload_id and f.kind = 'file' and f.status = 'pending'`;
}
