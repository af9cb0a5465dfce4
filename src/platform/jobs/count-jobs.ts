import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';

export const STATUSES = ['queued', 'running', 'failed'] as const;

export interface JobCount {
  name: string;
  status: (typeof STATUSES)[number];
  count: number;
  /** Seconds for which the first of them has been due; negative if it is not due yet. */
  overdue_seconds: number;
}

/** Counts the jobs of all processes by name and status, without public jobs that have ended. */
export function countJobs(query: Query): Promise<JobCount[]> {
  return query<JobCount>(sql`
    select name, status, count(*)::int as count, extract(epoch from now() - min(run_after))::float8 as overdue_seconds
    from (
      select name, status, run_after from background_jobs
      union all
      select kind, status, run_after from jobs where status in ('queued', 'running')
    ) j
    group by name, status`);
}
