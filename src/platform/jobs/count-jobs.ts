import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';

export const STATUSES = ['queued', 'running', 'failed'] as const;

export interface JobCount {
  name: string;
  status: (typeof STATUSES)[number];
  count: number;
  /** Since when the one that waits longest is due; at most 0 if none is. */
  overdue_seconds: number;
}

/** The jobs of all processes by name and status. Public ones that have ended are not counted. */
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
