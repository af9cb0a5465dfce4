import type { Db } from '../../platform/db/db.ts';
import { type RequeuedJob, requeueFailedJob } from '../../platform/jobs/background-queue.ts';
import { type Actor, record } from './audit.ts';

/** Requeues a failed job with all its attempts. Returns undefined if no failed job has this id. */
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

/** Matches the start of a quotation, but not an apostrophe within a word. */
const QUOTATION = /(?<!\p{L})'|["“‘«`<]/u;
const SHOWN_MAX = 200;

/**
 * Cuts an error message at its first quotation and masks email addresses, for operators who must not see tenants'
 * texts. Libraries quote the input that they could not parse, and mail servers quote the recipient. The command `ibid
 * jobs` shows the whole message.
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
