import type { Query } from '../db/db.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { ClaimedJob } from './define-job.ts';

/** A worker that has not renewed its lease for this long loses its jobs. */
const LEASE_SECONDS = 10;

/** A claim of a job. Each claim increments the attempt number. */
export interface Attempt {
  job_id: string;
  attempt: number;
}

/** Returns the CTE with which a claim creates or renews the worker's lease. */
export function leaseCte(worker_id: string, claimed: Sql): Sql {
  return sql`
    insert into workers (worker_id, alive_until) select ${worker_id}, now() + make_interval(secs => ${LEASE_SECONDS}) from ${claimed}
    on conflict (worker_id) do update set alive_until = excluded.alive_until`;
}

/** Renews the worker's lease: one statement for all its jobs, on a row that no transaction of a job locks. */
export async function renewLease(query: Query, worker_id: string): Promise<void> {
  await query(leaseCte(worker_id, sql`(values (1)) one`));
}

/** Renews the lease of another worker whose process is known to be alive, while it has jobs. */
export async function renewLeaseOf(query: Query, worker_id: string): Promise<void> {
  await query(sql`
    update workers w set alive_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where w.worker_id = ${worker_id} and (
      exists (select from jobs j where j.status = 'running' and j.worker_id = w.worker_id)
      or exists (select from background_jobs b where b.status = 'running' and b.worker_id = w.worker_id))`);
}

/** Ends the worker's lease, so that its jobs can be requeued immediately. */
export async function endLease(query: Query, worker_id: string): Promise<void> {
  await query(sql`delete from workers where worker_id = ${worker_id}`);
}

/** Ends all leases. For the only process of a DATA_DIR, when it starts. */
export async function endAllLeases(query: Query): Promise<void> {
  await query(sql`delete from workers`);
}

/**
 * Gives up attempts of this worker whose end could not be recorded. They are then requeued although the worker, which
 * has other jobs, keeps renewing its lease.
 */
export async function abandonJobs(query: Query, worker_id: string, attempts: readonly Attempt[]): Promise<void> {
  if (attempts.length === 0) return;
  const isAbandoned = sql`status = 'running' and worker_id = ${worker_id} and (job_id, attempt) in (
    select * from unnest(${attempts.map(({ job_id }) => job_id)}::text[], ${attempts.map(({ attempt }) => attempt)}::int[]))`;
  await query(sql`
    with records as (update jobs set worker_id = null where ${isAbandoned})
    update background_jobs set worker_id = null where ${isAbandoned}`);
}

/** Returns the public jobs that the worker has lost because they were cancelled or taken over. Reads without locks. */
export async function findLostJobs(query: Query, jobs: readonly ClaimedJob[]): Promise<string[]> {
  if (jobs.length === 0) return [];
  const rows = await query<{ job_id: string }>(sql`
    select m.job_id from unnest(${jobs.map(({ wiki_id }) => wiki_id)}::text[], ${jobs.map(({ job_id }) => job_id)}::text[],
      ${jobs.map(({ attempt }) => attempt)}::int[]) m (wiki_id, job_id, attempt)
    where not exists (
      select from jobs j
      where j.wiki_id = m.wiki_id and j.job_id = m.job_id and j.attempt = m.attempt and j.status = 'running')`);
  return rows.map(({ job_id }) => job_id);
}

/**
 * Requeues the jobs of workers whose lease has expired: the first time without a pause, then with growing pauses, so
 * that a machine in a restart loop does not use up their attempts. Leaves the jobs of `living` workers, which this
 * process knows to be alive: their leases may expire while this process is suspended before the statement. Skips locked
 * rows until the next call. For background jobs it counts the processes that ended while running them. From the second
 * crash on, the pauses are randomized: a job that ends its process then runs alone, and the jobs that crashed with it
 * succeed.
 */
export async function requeueLostJobs(query: Query, living: readonly string[]): Promise<void> {
  const isLost = sql`status = 'running' and coalesce(j.worker_id, '') <> all (${living}::text[]) and not exists (
    select from workers w where w.worker_id = j.worker_id and w.alive_until > now())`;
  await query(sql`
    with records as (
      update jobs set status = 'queued', worker_id = null, run_after = now() + make_interval(secs => greatest(failures - 1, 0) ^ 2)
      where (wiki_id, job_id) in (select j.wiki_id, j.job_id from jobs j where ${isLost} for update skip locked)
    ), lost as (
      select j.job_id, j.name, j.key, j.crashes + case when j.worker_id is null then 0 else 1 end as crashes, exists (
        select from background_jobs n where n.name = j.name and n.key = j.key and n.status = 'queued') as is_superseded
      from background_jobs j where ${isLost} for update skip locked
    ), superseded as (
      delete from background_jobs where job_id in (select job_id from lost where is_superseded)
    ), passed_on as (
      update background_jobs n set crashes = greatest(n.crashes, l.crashes) from lost l
      where l.is_superseded and n.name = l.name and n.key = l.key and n.status = 'queued'
    ), background as (
      update background_jobs b set status = 'queued', worker_id = null, updated_at = now(), crashes = l.crashes,
        run_after = now() + make_interval(secs => least(greatest(failures - 1, 0) ^ 2, 3600)
          + case when l.crashes > 1 then 20 * random() else 0 end)
      from lost l where b.job_id = l.job_id and not l.is_superseded
    )
    delete from workers where alive_until < now() - interval '1 hour'`);
}
