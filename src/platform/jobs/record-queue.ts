import type { Enqueueable } from '../access/guard.ts';
import { type Permission, rolesWith } from '../access/roles.ts';
import { ApiError } from '../core/errors.ts';
import type { Db, Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { ClaimedJob } from './define-job.ts';
import { jobsAreOn } from './pause-jobs.ts';
import type { Job } from './schema.ts';
import { leaseCte } from './workers.ts';

/** The job was cancelled or taken over by another worker. This worker must not write for it any more. */
export class LeaseLost extends Error {}

interface NewJob {
  wiki_id: string;
  job_id: string;
  upload_id: string | null;
  kind: Job['kind'];
}

/** Enqueues a public job, for `later`. The CTE returns a new row for each row of `from`. */
export const jobRecord: Enqueueable<NewJob> = {
  enqueue: ({ wiki_id, job_id, upload_id, kind }, from) => sql`
    insert into jobs (wiki_id, job_id, upload_id, kind)
    select ${wiki_id}, ${job_id}, ${upload_id}, ${kind} from ${from}
    returning *`,
};

/**
 * Claims a public job: the job that has waited longest among the workspaces with the fewest running jobs, or with
 * `onlyIdleWorkspaces` among workspaces without running jobs. Returns undefined if no job can start. Reads candidates
 * without locks, then claims a candidate by a conditional update of its row. The unique index jobs_started ensures that
 * a job of a wiki starts only after the previous job has ended, even if the previous job waits for its next attempt.
 */
export async function claimJob(
  query: Query,
  {
    kinds,
    onlyIdleWorkspaces,
    worker_id,
  }: { kinds: readonly string[]; onlyIdleWorkspaces: boolean; worker_id: string },
): Promise<ClaimedJob | undefined> {
  const candidates = await query<{ wiki_id: string; job_id: string; attempt: number }>(sql`
    select wiki_id, job_id, attempt from jobs_to_claim(${kinds}::text[], ${onlyIdleWorkspaces}) where ${jobsAreOn}`);
  for (const { wiki_id, job_id, attempt } of candidates) {
    const claimed = await query<ClaimedJob>(sql`
      with claimed as (
        update jobs set status = 'running', attempt = attempt + 1, failures = failures + 1, updated_at = now(),
          started_at = coalesce(started_at, now()), worker_id = ${worker_id}
        where wiki_id = ${wiki_id} and job_id = ${job_id} and attempt = ${attempt} and status = 'queued'
        returning wiki_id, job_id, upload_id, kind, attempt, failures, job_creator(wiki_id, job_id) as acts_for
      ), lease as (${leaseCte(worker_id, sql`claimed`)})
      select * from claimed
    `).catch(emptyIfStarted);
    if (claimed[0]) return claimed[0];
  }
  return undefined;
}

/** Returns whether there is a public job that a worker could claim. */
export async function hasJobToClaim(query: Query, kinds: readonly string[]): Promise<boolean> {
  return (await query(sql`select 1 from jobs_to_claim(${kinds}::text[], false) where ${jobsAreOn} limit 1`)).length > 0;
}

/** Another worker has started another job of the wiki in the meantime. */
function emptyIfStarted(error: { code?: string; constraint?: string }): [] {
  if (error.code === '23505' && error.constraint === 'jobs_started') return [];
  throw error;
}

/**
 * Locks the job until the end of the transaction, so that it cannot be cancelled or taken over before the commit. Must
 * be the first statement of a transaction that writes for the job. Throws LeaseLost, which rolls the transaction back.
 */
export async function lockJob(query: Query, job: ClaimedJob): Promise<void> {
  const held = await query(sql`
    select 1 from jobs
    where wiki_id = ${job.wiki_id} and job_id = ${job.job_id} and attempt = ${job.attempt} and status = 'running'
    for no key update`);
  if (held.length === 0) throw new LeaseLost(`job ${job.job_id} was cancelled or given to another attempt`);
}

/** The permission that the person needs who asked for a job, until it ends. */
const NEEDS: Record<string, Permission | undefined> = {
  ingest: 'uploads:create',
  import: 'pages:write',
  export: 'wikis:export',
};

/** Throws an ApiError that ends the job if the person who asked for it has lost the right to ask for it. */
export async function requireRights(query: Query, { wiki_id, kind, acts_for }: ClaimedJob): Promise<void> {
  const permission = NEEDS[kind];
  if (acts_for === null || permission === undefined) return;
  const allowed = await query(sql`
    select from wikis w join memberships m on m.workspace_id = w.workspace_id and m.user_id = ${acts_for}
    where w.wiki_id = ${wiki_id} and m.status = 'active' and m.role = any (${rolesWith(permission)}::text[])`);
  if (allowed.length > 0) return;
  throw new ApiError('forbidden', 'The person who started this may no longer do it. What is finished stays.');
}

/** Locks the job and records its progress (0 to 100). Progress resets the count of failures. */
export async function advanceJob(query: Query, job: ClaimedJob, progress: number): Promise<void> {
  await lockJob(query, job);
  await requireRights(query, job);
  await query(sql`
    update jobs set progress = ${progress}, failures = 0, error = '', updated_at = now()
    where wiki_id = ${job.wiki_id} and job_id = ${job.job_id}
  `);
}

/**
 * Locks the job and shows its progress without resetting the count of failures. For work that starts over after each
 * failure, so that a job that always fails at the same place is given up.
 */
export async function showProgress(query: Query, job: ClaimedJob, progress: number): Promise<void> {
  await lockJob(query, job);
  await requireRights(query, job);
  await query(sql`
    update jobs set progress = ${progress}, updated_at = now() where wiki_id = ${job.wiki_id} and job_id = ${job.job_id}
  `);
}

/** Locks the job and ends it, in a transaction of its work. */
export async function endJob(
  query: Query,
  job: ClaimedJob,
  end: { status: 'completed' | 'failed'; summary: string; error: string },
): Promise<void> {
  await lockJob(query, job);
  await query(sql`
    update jobs set status = ${end.status}, summary = ${end.summary}, error = ${end.error}, progress = 100,
      worker_id = null, updated_at = now(), finished_at = clock_timestamp()
    where wiki_id = ${job.wiki_id} and job_id = ${job.job_id}
  `);
}

/**
 * Puts the job back. After a failure the pauses grow (1 s, 4 s, 9 s, …). Without a failure the pause is `wait` seconds,
 * and the attempt is subtracted from the count of failures.
 */
export async function releaseJob(db: Db, job: ClaimedJob, failure: string | undefined, wait = 0): Promise<void> {
  const pause = failure === undefined ? wait : job.failures ** 2;
  await db.query(sql`
    update jobs set status = 'queued', worker_id = null, updated_at = now(), error = ${failure ?? ''},
      failures = greatest(failures - ${failure === undefined ? 1 : 0}, 0), run_after = now() + make_interval(secs => ${pause})
    where wiki_id = ${job.wiki_id} and job_id = ${job.job_id} and attempt = ${job.attempt} and status = 'running'
  `);
}
