import type { Query } from '../db/db.ts';
import { raw, sql } from '../db/sql.ts';

/** SQL condition: jobs may be claimed. Jobs are paused after a restore until the operator resumes them. */
export const jobsAreOn = raw('not exists (select from service_controls where jobs_are_paused)');

/**
 * Pauses or resumes the claiming of jobs in all processes; while paused, no mail is sent either. Returns whether this
 * changed anything.
 */
export async function pauseAllJobs(query: Query, jobs_are_paused: boolean): Promise<boolean> {
  const changed = await query(sql`
    insert into service_controls as c (jobs_are_paused) select true where ${jobs_are_paused}
    on conflict (the_only) do update set jobs_are_paused = true where not c.jobs_are_paused returning 1`);
  if (jobs_are_paused) return changed.length > 0;
  return (
    (await query(sql`update service_controls set jobs_are_paused = false where jobs_are_paused returning 1`)).length > 0
  );
}
