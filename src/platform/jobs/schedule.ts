import type { Logger } from 'pino';
import type { ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import { enqueueDue } from './background-queue.ts';
import { type AnyJob, type BackgroundJob, isRecordJob } from './define-job.ts';

export interface Schedule {
  /** Stops after the enqueueing in progress. */
  stop(): Promise<void>;
}

/**
 * Enqueues scheduled jobs when they are due, on timers of its own, and runs none of them. Every process checks when it
 * starts and then at the job's interval. Several processes do no harm, because a job is queued once per key.
 */
export function startSchedule(options: {
  db: ServiceDb;
  jobs: readonly AnyJob[];
  log: Logger;
  onEnqueued: () => void;
}): Schedule {
  const { db, jobs, log, onEnqueued } = options;
  const { query } = db.in(SERVICE);
  const timers = new Map<BackgroundJob, NodeJS.Timeout>();
  const inProgress = new Set<Promise<void>>();
  let isStopping = false;

  async function enqueue(job: BackgroundJob): Promise<void> {
    try {
      if ((await enqueueDue(query, job)) > 0) onEnqueued();
    } catch (err) {
      log.warn({ err, job: job.name }, 'failed to enqueue a scheduled job; its next run tries again');
    }
  }

  function enqueueRepeatedly(job: BackgroundJob): void {
    const enqueueing = enqueue(job).finally(() => {
      inProgress.delete(enqueueing);
      if (!isStopping)
        timers.set(
          job,
          setTimeout(() => enqueueRepeatedly(job), (job.every ?? 0) * 1_000),
        );
    });
    inProgress.add(enqueueing);
  }

  for (const job of jobs) if (!isRecordJob(job) && job.every !== undefined) enqueueRepeatedly(job);
  return {
    async stop() {
      isStopping = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(inProgress);
    },
  };
}
