import type { Db } from '../../platform/db/db.ts';
import { type RequeuedJob, requeueFailedJob } from '../../platform/jobs/background-queue.ts';
import { type Actor, record } from './audit.ts';

/** Puts a failed job back into the queue with all its attempts; undefined where there is no such failed job. */
export function retryFailedJob(db: Db, by: Actor, job_id: string): Promise<RequeuedJob | undefined> {
  return db.transaction(async (query) => {
    const job = await requeueFailedJob(query, job_id);
    if (!job) return undefined;
    const { name, result, workspace_id } = job;
    const target = { kind: 'job', id: job_id };
    await record(query, by, { workspace_id, event: 'job.retried', target, before: {}, after: { name, result } });
    return job;
  });
}

/** Where a quotation begins; an apostrophe within a word begins none. */
const QUOTATION = /(?<!\p{L})'|["“‘«`<]/u;
const SHOWN_MAX = 200;

/**
 * What of an error an operator may see who must not see texts of tenants: libraries quote what they could not read, and mail
 * servers whom they could not reach. The command `ibid jobs` shows all of it.
 */
export function withoutQuotations(error: string): string {
  const [before = ''] = error.split(QUOTATION);
  const shown = before
    .replace(/\S+@\S+/g, '…')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, SHOWN_MAX);
  return before === error && shown.length < SHOWN_MAX ? shown : `${shown} …`;
}
