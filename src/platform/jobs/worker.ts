import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { traced } from '../core/tracing.ts';
import type { ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import { claimBackgroundJob } from './claim-background-job.ts';
import {
  type AnyJob,
  type ClaimedJob,
  isRecordJob,
  type Lane,
  type OnAttempt,
  type Outcome,
  type ServicesOf,
} from './define-job.ts';
import { startHeartbeat } from './heartbeat.ts';
import { claimJob, hasJobToClaim } from './record-queue.ts';
import { runBackgroundJob } from './run-background-job.ts';
import { runRecordJob } from './run-record-job.ts';
import { openSlots } from './slots.ts';
import type { Attempt } from './workers.ts';

/** Interval at which an idle worker polls, unless it is woken. */
const POLL_MS = 1_000;

export interface Worker {
  worker_id: string;
  /** Returns the milliseconds since this worker last ran a public job or was started; 0 while one is running. */
  idleMs(): number;
  /** Notifies the worker of new jobs, so that it does not wait for the next poll. */
  wake(): void;
  /** Lets the current step of each job end, puts unfinished jobs back and stops. */
  stop(): Promise<void>;
}

/** A separate process for jobs, started when there is a public job. */
export interface WorkerProcess {
  /** Returns whether it is claiming jobs, public and background. */
  isRunning(): boolean;
  /** Returns the ID of its worker, from its first claim until it has ended. */
  worker_id(): string | undefined;
  /** Starts it, unless it is running or has recently failed. */
  start(): void;
  wake(): void;
}

interface WorkerOptions {
  db: ServiceDb;
  jobs: readonly AnyJob[];
  /** Maximum number of running jobs per lane in this process. */
  slots: Record<Lane, number>;
  services: ServicesOf;
  log: Logger;
  onAttempt: OnAttempt | undefined;
  /**
   * Runs the public jobs, and the background jobs too while it is running. If undefined, this process runs all jobs.
   */
  process?: WorkerProcess | undefined;
}

/** Runs jobs until it is stopped. Errors do not end it. */
export function startWorker(options: WorkerOptions): Worker {
  const stopping = new AbortController();
  const wakeSignal = openWakeSignal(stopping.signal);
  const runner = openRunner(options, stopping.signal, wakeSignal.ring);

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      wakeSignal.reset();
      if (!(await runner.claimOne())) await wakeSignal.pause(POLL_MS);
    }
    await runner.stop();
  }

  const done = loop();
  return {
    worker_id: runner.worker_id,
    idleMs: runner.idleMs,
    wake() {
      wakeSignal.ring();
      options.process?.wake();
    },
    async stop() {
      stopping.abort();
      wakeSignal.ring();
      await done;
    },
  };
}

/** Claims and runs jobs in free slots. */
function openRunner(options: WorkerOptions, stopping: AbortSignal, onFree: () => void) {
  const { db, jobs, services, log } = options;
  const worker_id = randomUUID();
  const { query } = db.in(SERVICE);
  const recordKinds = jobs.filter(isRecordJob).map(({ name }) => name);
  const records = new Map<ClaimedJob, AbortController>();
  let lastRecordAt = performance.now();
  const unrecorded = new Set<Attempt>();
  const slots = openSlots(options.slots, {
    onFree,
    onError: (err) => log.warn({ err }, 'failed to put a job back; the next heartbeat tries again'),
  });
  const heartbeat = startHeartbeat({
    query,
    worker_id,
    records,
    unrecorded,
    isIdle: slots.isEmpty,
    supervised: () => options.process?.worker_id(),
    log,
  });

  /** Reports an attempt. An attempt whose result could not be recorded counts as interrupted. */
  async function report({ name }: AnyJob, { job_id, attempt }: Attempt, end: Promise<Outcome>): Promise<void> {
    const start = performance.now();
    let outcome: Outcome = 'interrupted';
    try {
      outcome = await end;
    } catch (error) {
      unrecorded.add({ job_id, attempt });
      throw error;
    } finally {
      options.onAttempt?.(name, outcome, (performance.now() - start) / 1_000);
    }
  }

  async function claimBackground(): Promise<boolean> {
    const kinds = jobs.filter((job) => !isRecordJob(job) && slots.hasRoom(job));
    if (kinds.length === 0) return false;
    const job = await claimBackgroundJob(query, kinds, worker_id);
    const definition = jobs.find(({ name }) => name === job?.name);
    if (!job || !definition || isRecordJob(definition)) return false;
    const end = inJobSpan(definition, job, () => runBackgroundJob(definition, { db, job, services, stopping }));
    slots.fill(definition.lane, report(definition, job, end));
    return true;
  }

  async function claimRecord(onlyIdleWorkspaces: boolean): Promise<boolean> {
    const open = jobs
      .filter(isRecordJob)
      .filter((job) => slots.hasRoom(job) && slots.isHalfFull(job) === onlyIdleWorkspaces);
    if (open.length === 0) return false;
    const job = await claimJob(query, { kinds: open.map(({ name }) => name), onlyIdleWorkspaces, worker_id });
    const definition = open.find(({ name }) => name === job?.kind);
    if (!job || !definition) return false;
    const controller = new AbortController();
    records.set(job, controller);
    const own = db.in({ who: 'job', acts_for: job.acts_for, path: { wiki_id: job.wiki_id } });
    const end = inJobSpan(definition, job, () =>
      runRecordJob(definition, { db: own, job, services, log, stopping, lost: controller.signal }),
    );
    slots.fill(
      definition.lane,
      report(definition, job, end).finally(() => {
        records.delete(job);
        lastRecordAt = performance.now();
      }),
    );
    return true;
  }

  /** While the other process is running it claims all jobs, so that this process is free for requests. */
  async function claimBeside(other: WorkerProcess): Promise<boolean> {
    if (other.isRunning()) return false;
    if (await claimBackground()) return true;
    if (await hasJobToClaim(query, recordKinds)) other.start();
    return false;
  }

  return {
    worker_id,
    idleMs: () => (records.size > 0 ? 0 : performance.now() - lastRecordAt),
    /** Returns whether a job was claimed. */
    async claimOne(): Promise<boolean> {
      try {
        if (options.process) return await claimBeside(options.process);
        return (await claimBackground()) || (await claimRecord(false)) || (await claimRecord(true));
      } catch (err) {
        log.warn({ err }, 'the worker failed to claim a job; it tries again');
        return false;
      }
    },
    async stop(): Promise<void> {
      await slots.settled();
      await heartbeat.stop();
    },
  };
}

/** Traces each attempt of a job. */
function inJobSpan(
  { name, lane }: AnyJob,
  { job_id, attempt }: Attempt,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const about = { 'ibid.job': name, 'ibid.job_id': job_id, 'ibid.lane': lane, 'ibid.attempt': attempt };
  return traced(`job ${name}`, 'consumer', about, async (span) => {
    const outcome = await run();
    span?.set({ 'ibid.outcome': outcome });
    if (outcome === 'failed' || outcome === 'retried') span?.fail({ code: outcome });
    return outcome;
  });
}

/** Creates a pause that can be ended, even before it starts. */
function openWakeSignal(stopping: AbortSignal) {
  let isWoken = false;
  let end = () => {};
  return {
    reset: () => {
      isWoken = false;
    },
    ring: () => {
      isWoken = true;
      end();
    },
    async pause(ms: number): Promise<void> {
      if (isWoken || stopping.aborted) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
