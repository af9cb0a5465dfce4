import type { Db, Query } from '../../platform/db/db.ts';
import { listFailedJobs } from '../../platform/jobs/background-queue.ts';
import type { Config } from '../config.ts';
import { COMMAND } from '../operator/audit.ts';
import { retryFailedJob } from '../operator/failed-jobs.ts';
import { readArguments } from './arguments.ts';
import { UsageError, withDatabase } from './with-database.ts';

type Print = (line: string) => void;

export const JOBS_USAGE = `  ibid jobs                                                     lists permanently failed background jobs with their errors
  ibid jobs retry JOB_ID                                        retries one of them, with all its attempts`;

/** Runs `ibid jobs …`. Throws UsageError. */
export async function runJobsCommand(config: Config, args: readonly string[], print: Print): Promise<void> {
  const { positionals } = readArguments(args, { options: {}, most: 2, usage: JOBS_USAGE });
  const [action, job_id] = positionals;
  if (action === undefined) return withDatabase(config, ({ query }) => printFailedJobs(query, print));
  if (action !== 'retry') throw new UsageError(`unknown command "jobs ${action}".\n\n${JOBS_USAGE}`);
  if (job_id === undefined)
    throw new UsageError(`give the ID of a job: "ibid jobs" lists the failed ones.\n\n${JOBS_USAGE}`);
  return withDatabase(config, (db) => retryJob(db, job_id, print));
}

/** Prints failed background jobs, the latest first, one per line with fields separated by tabs. */
async function printFailedJobs(query: Query, print: Print): Promise<void> {
  for (const job of await listFailedJobs(query)) {
    const tenant = job.wiki_id ?? job.workspace_id ?? job.user_id ?? '-';
    // Errors of mail servers and libraries may contain line breaks and tabs.
    const error = job.error.replace(/\s+/g, ' ');
    print([job.job_id, job.name, tenant, job.failed_at, error].join('\t'));
  }
}

/** Requeues a failed job with all its attempts. Throws UsageError if no failed job has this id. */
async function retryJob(db: Db, job_id: string, print: Print): Promise<void> {
  const job = await retryFailedJob(db, COMMAND, job_id);
  if (!job) throw new UsageError(`no failed job "${job_id}": list them with ibid jobs.`);
  print(job.result === 'queued' ? `${job_id} is queued again` : `${job_id} was removed, because a newer one is queued`);
}
