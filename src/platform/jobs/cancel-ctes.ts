import { raw, type Sql, sql } from '../db/sql.ts';

/**
 * The CTE that cancels the unfinished jobs `j` that match a condition. A worker that runs one notices at its next
 * heartbeat or write that it has lost the job, and its open transaction is rolled back.
 */
export function cancelJobs(from: Sql, condition: Sql): Sql {
  return sql`
    update jobs j set status = 'cancelled', error = 'cancelled: the job was cancelled', worker_id = null,
      updated_at = now(), finished_at = now()
    from ${from} where ${condition} and j.status in ('queued', 'running')
    returning j.*`;
}

/**
 * The CTE that ends the uploads named by the rows of `from` (upload_id) as cancelled, if `stopped` was cancelled; the
 * job may have been writing until then. `only`: a condition on the upload `u` and its row `f` of `from`. Locks are taken in
 * the same order as when a worker ends a job: job, upload.
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

/** The CTE that ends the files that were not worked on yet of the cancelled uploads `upload`, so that none counts as pending. */
export function failFiles(wiki_id: string): Sql {
  return sql`
    update upload_files f set status = 'failed', error = 'cancelled: the upload was cancelled' from upload u
    where f.wiki_id = ${wiki_id} and f.upload_id = u.upload_id and f.kind = 'file' and f.status = 'pending'`;
}
