import type { Logger } from 'pino';
import type { Query } from '../db/db.ts';
import type { ClaimedJob } from './define-job.ts';
import { LeaseLost } from './record-queue.ts';
import {
  type Attempt,
  abandonJobs,
  endLease,
  findLostJobs,
  renewLease,
  renewLeaseOf,
  requeueLostJobs,
} from './workers.ts';

const HEARTBEAT_MS = 3_000;

/**
 * Renews the lease of a worker while it runs jobs, tells it which public jobs it has lost, and requeues the jobs of
 * dead workers and its own attempts whose end could not be recorded. The worker of a process that this one sees alive is not
 * dead, even if the machine gives that process no time to renew its lease itself. Heartbeats never overlap: a slow database does not get a second one on top of the first.
 */
export function startHeartbeat(options: {
  query: Query;
  worker_id: string;
  /** The public jobs that the worker runs, each with the controller that aborts it when it is lost. */
  records: ReadonlyMap<ClaimedJob, AbortController>;
  /** Attempts whose end could not be recorded; emptied when they were given up. */
  unrecorded: Set<Attempt>;
  isIdle: () => boolean;
  /** The worker of the process that this one supervises, while that is alive. */
  supervised: () => string | undefined;
  log: Logger;
}): { stop(): Promise<void> } {
  const { query, worker_id, records, unrecorded, isIdle, supervised, log } = options;
  let inProgress: Promise<void> | undefined;

  async function sendHeartbeat(): Promise<void> {
    const begun = performance.now();
    if (!isIdle()) await renewLease(query, worker_id);
    const other = supervised();
    if (other !== undefined) await renewLeaseOf(query, other);
    const lost = await findLostJobs(query, [...records.keys()]);
    for (const [job, controller] of records) {
      if (lost.includes(job.job_id))
        controller.abort(new LeaseLost(`job ${job.job_id} was cancelled or given to another attempt`));
    }
    const abandoned = [...unrecorded];
    await abandonJobs(query, worker_id, abandoned);
    for (const attempt of abandoned) unrecorded.delete(attempt);
    // If this process stood still meanwhile, the leases that it renewed may have expired; the next heartbeat renews them first.
    if (performance.now() - begun < HEARTBEAT_MS) await requeueLostJobs(query);
  }

  function startHeartbeatOnce(): void {
    inProgress ??= sendHeartbeat()
      .catch((err: unknown) => log.warn({ err }, 'a heartbeat of the worker failed'))
      .finally(() => {
        inProgress = undefined;
      });
  }

  startHeartbeatOnce();
  const timer = setInterval(startHeartbeatOnce, HEARTBEAT_MS);
  return {
    async stop() {
      clearInterval(timer);
      await inProgress;
      await endLease(query, worker_id).catch((err: unknown) => log.warn({ err }, 'the worker could not end its lease'));
    },
  };
}
