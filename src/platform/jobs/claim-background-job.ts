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

/** How many of those that wait longest in a lane are looked at before each workspace is asked for its own. */
const LOOKED_AT = 100;

/** Candidates of one claim: those that others have locked meanwhile are skipped. */
const CANDIDATES = 20;

/** Of the queued jobs `b`: it is due, and none with its key runs. */
const mayStart = (
  names: readonly string[],
) => sql`b.run_after <= now() and b.name = any (${names}::text[]) and not exists (
  select from background_jobs r where r.status = 'running' and r.name = b.name and r.key = b.key)`;

/**
 * The oldest job of the next workspace that waits in a lane; "" stands for the jobs of none, which never wait for each other. The
 * lane is a range, so that one index alone gives the order: of an equal lane others give it, too, and are read through to a
 * workspace whose jobs are at their end.
 */
const oldestOfNext = (lane: Sql, from: Sql, names: readonly string[]) => sql`(
  select b.lane, coalesce(b.workspace_id, '') as workspace_id, b.job_id, b.run_after from background_jobs b
  where b.status = 'queued' and (b.lane, coalesce(b.workspace_id, '')) ${from} and b.lane <= ${lane} and ${mayStart(names)}
  order by b.lane, coalesce(b.workspace_id, ''), b.run_after limit 1)`;

const claimedColumns = raw('job_id, name, workspace_id, wiki_id, user_id, input, attempt, failures, crashes');

/** CTEs that claim one of `candidates`, an ordered list of `job_id`: the first that no other claim has locked. */
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
 * Claims a job of one of these kinds, or returns undefined: the job that has waited longest among the workspaces with
 * the fewest running jobs. Concurrent claims take different jobs, and none waits for a lock. What it reads does not grow with
 * the queue: mostly one of the oldest is of a workspace without running jobs; else each workspace that waits is asked for its
 * oldest.
 */
export async function claimBackgroundJob(
  query: Query,
  kinds: readonly { name: string; lane: Lane }[],
  worker_id: string,
): Promise<ClaimedBackgroundJob | undefined> {
  const names = kinds.map(({ name }) => name);
  const lanes = [...new Set(kinds.map(({ lane }) => lane))];
  const [first] = await claimOfIdle(query, names, lanes, worker_id).catch(noneIfRunning);
  if (!first) return undefined;
  const { is_other_due, ...job } = first;
  if (job.job_id !== null) return job;
  return is_other_due ? (await claimInTurn(query, names, lanes, worker_id).catch(noneIfRunning))[0] : undefined;
}

type NoJob = { job_id: null };

/** Claims one of the oldest, if its workspace has no running job; one row, which says whether others are due. */
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

/** Claims the oldest job of the workspace that has the fewest running ones. */
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

/** Another worker has just started a job with the same key. */
function noneIfRunning(error: { code?: string; constraint?: string }): [] {
  if (error.code === '23505' && error.constraint === 'background_jobs_running') return [];
  throw error;
}
