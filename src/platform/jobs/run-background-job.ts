import type { ServiceDb } from '../db/db.ts';
import { type RequestContext, SERVICE } from '../db/request-context.ts';
import {
  backoffSeconds,
  CRASHES_MAX,
  failBackgroundJob,
  finishBackgroundJob,
  releaseBackgroundJob,
} from './background-queue.ts';
import type { ClaimedBackgroundJob } from './claim-background-job.ts';
import type { BackgroundJob, Outcome, ServicesOf } from './define-job.ts';
import { isUnavailable } from './run-record-job.ts';

/** How long to wait for a job that does not stop after its timeout. */
const GRACE_SECONDS = 30;
const UNAVAILABLE_SECONDS = 2;

/** Runs one attempt of a background job and records its result. */
export async function runBackgroundJob(
  definition: BackgroundJob,
  run: { db: ServiceDb; job: ClaimedBackgroundJob; services: ServicesOf; stopping: AbortSignal },
): Promise<Outcome> {
  const { db, job, stopping } = run;
  const services = run.services(job.workspace_id ?? '');
  const { query } = db.in(SERVICE);
  const { log } = services;
  const attempts = definition.attempts === 'forever' ? Number.POSITIVE_INFINITY : definition.attempts;
  const context = { db: db.in(contextOf(definition, job)), target: job, input: job.input, services };
  const about = { job: job.name, job_id: job.job_id, wiki_id: job.wiki_id, workspace_id: job.workspace_id };
  const fail = async (error: unknown) => {
    // Two transactions, because the rows of the tenant and of the queue are visible in different contexts.
    await context.db.transaction(async (query) => definition.onFailure?.(query, context, error));
    await failBackgroundJob(query, job, messageOf(error));
    return 'failed' as const;
  };
  if (job.failures > attempts || job.crashes >= CRASHES_MAX) {
    log.error(
      { ...about, failures: job.failures, crashes: job.crashes },
      'a background job failed: every worker that ran it was lost',
    );
    return fail(new Error('every process that ran it ended'));
  }
  const timeout = AbortSignal.timeout(definition.timeoutSeconds * 1_000);
  try {
    const signal = AbortSignal.any([stopping, timeout]);
    await withTimeout(definition.run({ ...context, signal }), definition.timeoutSeconds);
    timeout.throwIfAborted();
    const unfinished = { pauseSeconds: 0, error: '', countsAsFailure: false };
    if (stopping.aborted) {
      await releaseBackgroundJob(query, job, unfinished);
      return 'interrupted';
    }
    await finishBackgroundJob(query, job);
    return 'succeeded';
  } catch (err) {
    if (isUnavailable(err)) {
      log.warn({ err, ...about }, 'the database or the file store is unavailable; the background job will be retried');
      const later = { pauseSeconds: UNAVAILABLE_SECONDS, error: messageOf(err), countsAsFailure: false };
      await releaseBackgroundJob(query, job, later);
      return 'interrupted';
    }
    if (job.failures < attempts) {
      log.warn({ err, ...about, failures: job.failures }, 'an attempt of a background job failed');
      const later = { pauseSeconds: backoffSeconds(job.failures), error: messageOf(err), countsAsFailure: true };
      await releaseBackgroundJob(query, job, later);
      return 'retried';
    }
    log.error({ err, ...about, failures: job.failures }, 'a background job failed');
    return fail(err);
  }
}

function contextOf(definition: BackgroundJob, { wiki_id, workspace_id }: ClaimedBackgroundJob): RequestContext {
  if (definition.for === 'wiki') return { who: 'job', path: { wiki_id: wiki_id ?? '' } };
  if (definition.for === 'workspace') return { who: 'job', path: { workspace_id: workspace_id ?? '' } };
  return SERVICE;
}

/**
 * Frees the slot of a job that does not stop within the grace period after its timeout. The attempt number fences off
 * its later writes.
 */
async function withTimeout(work: Promise<void>, timeoutSeconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it did not stop within ${GRACE_SECONDS} s after its timeout`)),
      (timeoutSeconds + GRACE_SECONDS) * 1_000,
    );
  });
  try {
    await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
}
