import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { ClaimedBackgroundJob } from './claim-background-job.ts';
import type { BackgroundJob } from './define-job.ts';

/** A job whose process ended this often in a row while running it fails, whatever its `attempts`. */
export const CRASHES_MAX = 3;

/** Returns the seconds before the next attempt: 1, 8, 27, … up to an hour. */
export function backoffSeconds(failures: number): number {
  return Math.min(3_600, failures ** 3);
}

/** The row of the job, unless another worker has taken it over. */
const held = ({ job_id, attempt }: ClaimedBackgroundJob) =>
  sql`job_id = ${job_id} and attempt = ${attempt} and status = 'running'`;

/** Deletes a job that succeeded. */
export async function finishBackgroundJob(query: Query, job: ClaimedBackgroundJob): Promise<void> {
  await query(sql`delete from background_jobs where ${held(job)}`);
}

/**
 * Puts a job back for another attempt after a pause in seconds. If a job with the same key is already queued, deletes
 * this job and passes the failures and the pause on to the queued job. `countsAsFailure` is false on an orderly stop.
 * Resets the count of crashes, because the process survived the attempt.
 */
export async function releaseBackgroundJob(
  query: Query,
  job: ClaimedBackgroundJob,
  { pauseSeconds, error, countsAsFailure }: { pauseSeconds: number; error: string; countsAsFailure: boolean },
): Promise<void> {
  await query(sql`
    with next as (
      select n.job_id from background_jobs n
      join (select name, key from background_jobs where ${held(job)}) b on b.name = n.name and b.key = n.key
      where n.status = 'queued'
    ), superseded as (
      delete from background_jobs where ${held(job)} and exists (select from next)
    ), passed_on as (
      update background_jobs set failures = ${Math.max(0, countsAsFailure ? job.failures : job.failures - 1)}, error = ${error},
        run_after = greatest(run_after, now() + make_interval(secs => ${pauseSeconds}))
      where job_id in (select job_id from next)
    )
    update background_jobs set status = 'queued', worker_id = null, updated_at = now(), error = ${error}, crashes = 0,
      failures = greatest(failures - ${countsAsFailure ? 0 : 1}, 0), run_after = now() + make_interval(secs => ${pauseSeconds})
    where ${held(job)} and not exists (select from next)`);
}

/**
 * Marks a job as failed after its last attempt or too many crashes, and keeps it for the operator. Deletes an earlier
 * failed job with the same name and key.
 */
export async function failBackgroundJob(query: Query, job: ClaimedBackgroundJob, error: string): Promise<void> {
  await query(sql`
    with former as (
      delete from background_jobs f using (select name, key from background_jobs where ${held(job)}) b
      where f.status = 'failed' and f.name = b.name and f.key = b.key
    )
    update background_jobs set status = 'failed', worker_id = null, updated_at = now(), error = ${error} where ${held(job)}`);
}

export interface FailedJob {
  job_id: string;
  name: string;
  workspace_id: string | null;
  wiki_id: string | null;
  user_id: string | null;
  failed_at: string;
  error: string;
}

/** Lists the failed jobs, latest first, at most `max`. */
export function listFailedJobs(query: Query, max: number | null = null): Promise<FailedJob[]> {
  return query<FailedJob>(sql`
    select job_id, name, workspace_id, wiki_id, user_id, updated_at as failed_at, error
    from background_jobs where status = 'failed' order by updated_at desc, job_id limit ${max}::int`);
}

export interface RequeuedJob {
  /** superseded: the job was deleted, because another job with its key is queued. */
  result: 'queued' | 'superseded';
  name: string;
  /** The workspace of the job; null if it has no workspace. */
  workspace_id: string | null;
}

/** Puts a failed job back with all its attempts. Returns undefined if there is no such failed job. */
export async function requeueFailedJob(query: Query, job_id: string): Promise<RequeuedJob | undefined> {
  const [row] = await query<RequeuedJob>(sql`
    with failed as (
      select f.job_id, f.name,
        coalesce(f.workspace_id, (select w.workspace_id from wikis w where w.wiki_id = f.wiki_id)) as workspace_id,
        exists (
        select from background_jobs n where n.name = f.name and n.key = f.key and n.status = 'queued') as is_superseded
      from background_jobs f where f.job_id = ${job_id} and f.status = 'failed' for update
    ), superseded as (
      delete from background_jobs where job_id in (select job_id from failed where is_superseded)
    ), queued as (
      update background_jobs set status = 'queued', failures = 0, crashes = 0, run_after = now(), updated_at = now()
      where job_id in (select job_id from failed where not is_superseded)
    )
    select case when is_superseded then 'superseded' else 'queued' end as result, name, workspace_id from failed`);
  return row;
}

/** Enqueues the due jobs in one statement and returns their number. */
export async function enqueueDue(query: Query, job: BackgroundJob): Promise<number> {
  const rows = await query(job.due ? enqueueTenants(job) : enqueueOnce(job));
  return rows.length;
}

/** A job that failed because of crashes is not scheduled again until an operator retries it. */
const isSetAside = sql`b.status = 'failed' and b.crashes >= ${CRASHES_MAX}`;

/** Skips tenants that already have a job of this kind, so that within the limit other tenants get their jobs. */
function enqueueTenants(job: BackgroundJob) {
  const from = sql`(
    select d.wiki_id, d.workspace_id from (${job.due}) d
    where not exists (
      select from background_jobs b where b.name = ${job.name} and b.key = coalesce(d.wiki_id, d.workspace_id)
        and (b.status in ('queued', 'running') or ${isSetAside}))
    limit 1000)`;
  return sql`${job.enqueue({}, from)} returning 1`;
}

/** Only the process that advances the schedule enqueues the job. */
function enqueueOnce(job: BackgroundJob) {
  return sql`
    with due as (
      insert into schedules as s (name, due_at) values (${job.name}, now() + make_interval(secs => ${job.every ?? 0}))
      on conflict (name) do update set due_at = excluded.due_at where s.due_at <= now()
      returning 1
    )
    ${job.enqueue({}, sql`(select from due where not exists (select from background_jobs b where b.name = ${job.name} and ${isSetAside}))`)}
    returning 1`;
}
