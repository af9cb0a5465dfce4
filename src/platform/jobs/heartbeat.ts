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
 * Renews the lease of a worker while it runs jobs, aborts public jobs that it has lost, and requeues jobs of dead
 * workers and its own attempts whose end could not be recorded. Also renews the lease of the supervised process: a live
 * process is not dead, even if the machine gives it no CPU time to renew the lease itself. Heartbeats never overlap, so
 * a slow database does not get a second on top of the first.
 */
export function startHeartbeat(options: {
  query: Query;
  worker_id: string;
  /** The public jobs that the worker runs, each with a controller to abort it if it is lost. */
  records: ReadonlyMap<ClaimedJob, AbortController>;
  /** Attempts whose end could not be recorded. They are removed here once they are given up. */
  unrecorded: Set<Attempt>;
  isIdle: () => boolean;
  /** Returns the worker of the process that this process supervises, while it is alive. */
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
    // If this heartbeat was suspended for too long, the leases that it renewed may have expired. The next heartbeat
    // renews them before it requeues.
    if (performance.now() - begun < HEARTBEAT_MS)
      await requeueLostJobs(query, other === undefined ? [worker_id] : [worker_id, other]);
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
