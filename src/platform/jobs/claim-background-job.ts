import type { Query } from '../db/db.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import type { Lane } from './define-job.ts';
import { jobsAreOn } from './pause-jobs.ts';
import { leaseCte } from './workers.ts';

/** A background job claimed by a worker. */
export interface ClaimedBackgroundJob {
  job_id: string;
  name: string;
  workspace_id: string | null;
  wiki_id: string | null;
  user_id: string | null;
  input: object;
  attempt: number;
  failures: number;
  crashes: number;
}

/** Number of jobs at the head of each lane that a claim considers before it reads the oldest job of every workspace. */
const LOOKED_AT = 100;

/** Maximum number of candidates per claim; more than one, because other claims may have locked some. */
const CANDIDATES = 20;

/** Condition on a queued job `b`: it is due, and no job with its key is running. */
const mayStart = (
  names: readonly string[],
) => sql`b.run_after <= now() and b.name = any (${names}::text[]) and not exists (
  select from background_jobs r where r.status = 'running' and r.name = b.name and r.key = b.key)`;

/**
 * Selects the oldest job of the next workspace in a lane; "" stands for jobs without a workspace. The lane is compared
 * as a range, so that only one index gives the order. With equality another index would give it too, and PostgreSQL
 * might scan that index past all jobs of the previous workspaces.
 */
const oldestOfNext = (lane: Sql, from: Sql, names: readonly string[]) => sql`(
  select b.lane, coalesce(b.workspace_id, '') as workspace_id, b.job_id, b.run_after from background_jobs b
  where b.status = 'queued' and (b.lane, coalesce(b.workspace_id, '')) ${from} and b.lane <= ${lane} and ${mayStart(names)}
  order by b.lane, coalesce(b.workspace_id, ''), b.run_after limit 1)`;

const claimedColumns = raw('job_id, name, workspace_id, wiki_id, user_id, input, attempt, failures, crashes');

/** CTEs that claim the first of `candidates`, an ordered list of `job_id`, that no other claim has locked. */
const claimCtes = (candidates: Sql, worker_id: string) => sql`claimed as (
    update background_jobs set status = 'running', attempt = attempt + 1, failures = failures + 1, worker_id = ${worker_id},
      updated_at = now()
    where status = 'queued' and job_id = (
      select b.job_id from (${candidates}) c join background_jobs b using (job_id)
      where b.status = 'queued' and ${jobsAreOn}
      order by c.place limit 1 for update of b skip locked)
    returning ${claimedColumns}
  ), lease as (${leaseCte(worker_id, sql`claimed`)})`;

/**
 * Claims a job of these kinds: the job that has waited longest among the workspaces with the fewest running jobs.
 * Returns undefined if no job is due. Concurrent claims take different jobs and do not wait for locks. The cost does
 * not grow with the queue: usually a job at the head of a lane belongs to a workspace without running jobs; otherwise
 * the oldest job of each waiting workspace is read.
 */
export async function claimBackgroundJob(
  query: Query,
  kinds: readonly { name: string; lane: Lane }[],
  worker_id: string,
): Promise<ClaimedBackgroundJob | undefined> {
  const names = kinds.map(({ name }) => name);
  const lanes = [...new Set(kinds.map(({ lane }) => lane))];
  const [first] = await claimOfIdle(query, names, lanes, worker_id).catch(emptyIfRunning);
  if (!first) return undefined;
  const { is_other_due, ...job } = first;
  if (job.job_id !== null) return job;
  return is_other_due ? (await claimInTurn(query, names, lanes, worker_id).catch(emptyIfRunning))[0] : undefined;
}

type NoJob = { job_id: null };

/**
 * Claims a job at the head of a lane whose workspace has no running job. Returns one row, which also says whether other
 * jobs are due.
 */
function claimOfIdle(
  query: Query,
  names: readonly string[],
  lanes: readonly Lane[],
  worker_id: string,
): Promise<((ClaimedBackgroundJob | NoJob) & { is_other_due: boolean })[]> {
  const idle = sql`
    select o.job_id, o.run_after as place from oldest o
    where o.workspace_id is null or not exists (
      select from background_jobs r where r.status = 'running' and r.workspace_id = o.workspace_id)
    order by place limit ${CANDIDATES}::int`;
  return query(sql`
    with oldest as materialized (
      select o.* from unnest(${lanes}::text[]) l (lane) cross join lateral (
        select b.job_id, b.workspace_id, b.run_after from background_jobs b
        where b.status = 'queued' and b.lane = l.lane and ${mayStart(names)}
        order by b.run_after limit ${LOOKED_AT}::int) o
    ), ${claimCtes(idle, worker_id)}
    select c.*, exists (select from oldest) as is_other_due from (values (true)) v left join claimed c on true`);
}

/** Claims the oldest job of the workspace with the fewest running jobs. */
function claimInTurn(
  query: Query,
  names: readonly string[],
  lanes: readonly Lane[],
  worker_id: string,
): Promise<ClaimedBackgroundJob[]> {
  const inTurn = sql`
    select o.job_id, row_number() over (order by coalesce(y.running, 0), o.run_after) as place
    from oldest o left join busy y using (workspace_id) order by place limit ${CANDIDATES}::int`;
  return query(sql`
    with recursive busy as materialized (
      select workspace_id, count(*) as running from background_jobs
      where status = 'running' and workspace_id is not null group by workspace_id
    ), oldest as (
      select o.* from unnest(${lanes}::text[]) l (lane) cross join lateral ${oldestOfNext(sql`l.lane`, sql`>= (l.lane, '')`, names)} o
      union all
      select o.* from oldest w cross join lateral ${oldestOfNext(sql`w.lane`, sql`> (w.lane, w.workspace_id)`, names)} o
    ), ${claimCtes(inTurn, worker_id)}
    select * from claimed`);
}

/** Another worker has started a job with the same key in the meantime. */
function emptyIfRunning(error: { code?: string; constraint?: string }): [] {
  if (error.code === '23505' && error.constraint === 'background_jobs_running') return [];
  throw error;
}
