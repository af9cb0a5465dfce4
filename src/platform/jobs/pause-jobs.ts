import type { Query } from '../db/db.ts';
import { raw, sql } from '../db/sql.ts';

/** Whether jobs may be claimed: not after a restore, until the operator says so. */
export const jobsAreOn = raw('not exists (select from service_controls where jobs_are_paused)');

/** Stops claiming jobs in all processes, so that no mail is sent either; or goes on. Returns whether that is a change. */
export async function pauseAllJobs(query: Query, jobs_are_paused: boolean): Promise<boolean> {
  const changed = await query(sql`
    insert into service_controls as c (jobs_are_paused) select true where ${jobs_are_paused}
    on conflict (the_only) do update set jobs_are_paused = true where not c.jobs_are_paused returning 1`);
  if (jobs_are_paused) return changed.length > 0;
  return (
    (await query(sql`update service_controls set jobs_are_paused = false where jobs_are_paused returning 1`)).length > 0
  );
}
