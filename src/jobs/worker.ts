import { randomUUID } from 'node:crypto';
import type { ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import { claimBackgroundJob } from './background-queue.ts';
import { type AnyJob, type ClaimedJob, isRecordJob, type JobServices, type Lane } from './define-job.ts';
import { claimJob, LeaseLost } from './record-queue.ts';
import { runBackgroundJob } from './run-background-job.ts';
import { runRecordJob } from './run-record-job.ts';
import { endLease, lostJobs, prolongLease, requeueLostJobs } from './workers.ts';

/** How long an idle worker waits before it looks again, when it is not woken. */
const POLL_MS = 1_000;
const HEARTBEAT_MS = 3_000;

export interface Worker {
  /** Says that there are new jobs, so that it need not wait for the next look. */
  wake(): void;
  /** Lets the present step of each job end, puts unfinished jobs back and stops. */
  stop(): Promise<void>;
}

interface WorkerOptions {
  db: ServiceDb;
  jobs: readonly AnyJob[];
  /** How many jobs of a lane run at once in this process. */
  slots: Record<Lane, number>;
  services: JobServices;
}

/** Runs jobs until it is stopped. Whatever fails, it goes on. */
export function startWorker(options: WorkerOptions): Worker {
  const stopping = new AbortController();
  const runner = openRunner(options, stopping.signal, () => alarm.ring());
  const alarm = openAlarm(stopping.signal);

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      alarm.reset();
      if (!(await runner.claimOne())) await alarm.pause(POLL_MS);
    }
    await runner.settled();
  }

  const done = loop();
  return {
    wake: alarm.ring,
    async stop() {
      stopping.abort();
      alarm.ring();
      await done;
    },
  };
}

/** Claims jobs for which a slot is free and runs them. */
function openRunner({ db, jobs, slots, services }: WorkerOptions, stopping: AbortSignal, onFree: () => void) {
  const worker_id = randomUUID();
  const { query } = db.in(SERVICE);
  const { log } = services;
  const running = new Set<{ lane: Lane; done: Promise<void> }>();
  const records = new Map<ClaimedJob, AbortController>();
  const beat = oneAtATime(async () => {
    if (running.size > 0) await prolongLease(query, worker_id);
    const lost = await lostJobs(query, [...records.keys()]);
    for (const [job, controller] of records) {
      if (lost.includes(job.job_id)) controller.abort(new LeaseLost(`job ${job.job_id} was cancelled or taken over`));
    }
    await requeueLostJobs(query);
  });
  const heartbeat = setInterval(
    () => void beat().catch((err: unknown) => log.warn({ err }, 'a heartbeat of the worker failed')),
    HEARTBEAT_MS,
  );
  void beat().catch((err: unknown) => log.warn({ err }, 'the first heartbeat of the worker failed'));

  const inLane = (lane: Lane) => [...running].filter((one) => one.lane === lane).length;
  const hasRoom = ({ lane }: AnyJob) => inLane(lane) < slots[lane];
  /** The second half of a lane is for workspaces of which nothing is running, so that large uploads keep no other tenant waiting. */
  const isHalfFull = ({ lane }: AnyJob) => inLane(lane) >= Math.ceil(slots[lane] / 2);

  function start(lane: Lane, work: Promise<void>, about: object): void {
    const done = work
      .catch((err: unknown) =>
        log.warn({ err, ...about }, 'a job could not be put back; it is when its worker is missed'),
      )
      .finally(() => {
        running.delete(entry);
        onFree();
      });
    const entry = { lane, done };
    running.add(entry);
  }

  async function claimBackground(): Promise<boolean> {
    const names = jobs.filter((job) => !isRecordJob(job) && hasRoom(job)).map(({ name }) => name);
    if (names.length === 0) return false;
    const job = await claimBackgroundJob(query, names, worker_id);
    const definition = jobs.find(({ name }) => name === job?.name);
    if (!job || !definition || isRecordJob(definition)) return false;
    start(definition.lane, runBackgroundJob(definition, { db, job, services, stopping }), { job_id: job.job_id });
    return true;
  }

  async function claimRecord(onlyIdleWorkspaces: boolean): Promise<boolean> {
    const open = jobs.filter((job) => isRecordJob(job) && hasRoom(job) && isHalfFull(job) === onlyIdleWorkspaces);
    if (open.length === 0) return false;
    const job = await claimJob(query, { kinds: open.map(({ name }) => name), onlyIdleWorkspaces, worker_id });
    const definition = open.find(({ name }) => name === job?.kind);
    if (!job || !definition || !isRecordJob(definition)) return false;
    const controller = new AbortController();
    records.set(job, controller);
    const own = db.in({ who: 'job', path: { wiki_id: job.wiki_id } });
    const work = runRecordJob(definition, { db: own, job, services, stopping, lost: controller.signal });
    start(
      definition.lane,
      work.finally(() => records.delete(job)),
      { job_id: job.job_id },
    );
    return true;
  }

  return {
    /** Whether there was a job, and a slot for it. */
    async claimOne(): Promise<boolean> {
      try {
        return (await claimBackground()) || (await claimRecord(false)) || (await claimRecord(true));
      } catch (err) {
        log.warn({ err }, 'the worker could not claim a job; it tries again');
        return false;
      }
    },
    async settled(): Promise<void> {
      await Promise.all([...running].map(({ done }) => done));
      clearInterval(heartbeat);
      await endLease(query, worker_id).catch((err: unknown) => log.warn({ err }, 'the worker could not sign off'));
    },
  };
}

/** The work, but never twice at once: while it is under way, others get its promise. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  return () =>
    (underWay ??= work().finally(() => {
      underWay = undefined;
    }));
}

/** A pause that can be ended, also before it begins. */
function openAlarm(stopping: AbortSignal) {
  let hasRung = false;
  let end = () => {};
  return {
    reset: () => {
      hasRung = false;
    },
    ring: () => {
      hasRung = true;
      end();
    },
    async pause(ms: number): Promise<void> {
      if (hasRung || stopping.aborted) return;
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
