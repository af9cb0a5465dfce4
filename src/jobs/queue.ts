import type { Db, Query } from '../db/db.ts';
import { type Sql, sql } from '../db/sql.ts';

/** A worker that is not heard of for that long has lost its job to the next one that looks. */
const LEASE_SECONDS = 10;

/** How often a job may fail without getting on before it is given up. */
export const FAILURES_MAX = 5;

export interface ClaimedJob {
  wiki_id: string;
  job_id: string;
  upload_id: string | null;
  kind: string;
  attempt: number;
  failures: number;
}

/** The job was taken over by another worker: whatever this one was about to write is not to be written. */
export class LeaseLost extends Error {}

/** The step of a statement that enqueues a job, for each row of `from`: what the same statement makes, or `access`. */
export function enqueueCte(
  job: { wiki_id: string; job_id: string; upload_id: string | null; kind: string },
  from: Sql,
): Sql {
  return sql`
    insert into jobs (wiki_id, job_id, upload_id, kind)
    select ${job.wiki_id}, ${job.job_id}, ${job.upload_id}, ${job.kind} from ${from}
    returning *`;
}

/**
 * Claims a job, or answers undefined: of the workspaces with the fewest jobs in work the one that waits longest;
 * `newcomers`: only of workspaces of which nothing is in work. In two steps: candidates are read without a lock, then a
 * conditional update by the job's key says who won, which holds however the table is distributed. A job of a wiki starts
 * only when the one before it has ended, also when that one waits for its next attempt: the key jobs_started sees to it.
 * A job whose worker is gone is taken over at once, and then with growing pauses (0 s, 1 s, 4 s, …): a machine that is
 * started again and again must not use up its attempts.
 */
export async function claimJob(
  query: Query,
  kinds: readonly string[],
  newcomers: boolean,
): Promise<ClaimedJob | undefined> {
  const candidates = await query<{ wiki_id: string; job_id: string; attempt: number }>(sql`
    select wiki_id, job_id, attempt from jobs_to_claim(${kinds}::text[], ${newcomers})`);
  for (const { wiki_id, job_id, attempt } of candidates) {
    const claimed = await query<ClaimedJob>(sql`
      update jobs set status = 'running', attempt = attempt + 1, failures = failures + 1, updated_at = now(),
        started_at = coalesce(started_at, now()), lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
      where wiki_id = ${wiki_id} and job_id = ${job_id} and attempt = ${attempt}
        and (status = 'queued' or (status = 'running' and lease_until < now()))
      returning wiki_id, job_id, upload_id, kind, attempt, failures
    `).catch(noneIfStarted);
    if (claimed[0]) return claimed[0];
  }
  return undefined;
}

/** Another worker has just started another job of the wiki. */
function noneIfStarted(error: { code?: string; constraint?: string }): [] {
  if (error.code === '23505' && error.constraint === 'jobs_started') return [];
  throw error;
}

/** Goes on holding the job. In a transaction that writes for the job it comes first; LeaseLost undoes the rest. */
export async function holdJob(query: Query, job: ClaimedJob): Promise<void> {
  const held = await query(sql`
    update jobs set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where wiki_id = ${job.wiki_id} and job_id = ${job.job_id} and attempt = ${job.attempt} and status = 'running'
    returning 1
  `);
  if (held.length === 0) throw new LeaseLost(`job ${job.job_id} was taken over`);
}

/** Holds the job and notes how far it is (0 to 100). A job that gets on starts to count its failures anew. */
export async function advanceJob(query: Query, job: ClaimedJob, progress: number): Promise<void> {
  await holdJob(query, job);
  await query(sql`
    update jobs set progress = ${progress}, failures = 0, error = '', updated_at = now()
    where wiki_id = ${job.wiki_id} and job_id = ${job.job_id}
  `);
}

/**
 * Holds the job and says how far it is, for work that begins anew after each failure: were they counted anew as well, one
 * that always fails at the same place would never be given up.
 */
export async function showProgress(query: Query, job: ClaimedJob, progress: number): Promise<void> {
  await holdJob(query, job);
  await query(sql`
    update jobs set progress = ${progress}, updated_at = now() where wiki_id = ${job.wiki_id} and job_id = ${job.job_id}
  `);
}

/** Ends the job in a transaction of its work. */
export async function endJob(
  query: Query,
  job: ClaimedJob,
  end: { status: 'completed' | 'failed'; summary: string; error: string },
): Promise<void> {
  await holdJob(query, job);
  await query(sql`
    update jobs set status = ${end.status}, summary = ${end.summary}, error = ${end.error}, progress = 100,
      lease_until = null, updated_at = now(), finished_at = clock_timestamp()
    where wiki_id = ${job.wiki_id} and job_id = ${job.job_id}
  `);
}

/**
 * Puts the job back: after a failure with growing pauses (1 s, 4 s, 9 s, …), where it was none at once or after a pause in
 * seconds. Then the attempt is not counted as a failure; of a job that got on it no longer is.
 */
export async function releaseJob(db: Db, job: ClaimedJob, failure: string | undefined, wait = 0): Promise<void> {
  const pause = failure === undefined ? wait : job.failures ** 2;
  await db.query(sql`
    update jobs set status = 'queued', lease_until = null, updated_at = now(), error = ${failure ?? ''},
      failures = greatest(failures - ${failure === undefined ? 1 : 0}, 0), run_after = now() + make_interval(secs => ${pause})
    where wiki_id = ${job.wiki_id} and job_id = ${job.job_id} and attempt = ${job.attempt} and status = 'running'
  `);
}

/** Takes the leases from workers that are known to be gone: for the one process of a DATA_DIR, at its start. */
export async function expireLeases(query: Query): Promise<void> {
  await query(sql`update jobs set lease_until = now() - interval '1 second' where status = 'running'`);
}
