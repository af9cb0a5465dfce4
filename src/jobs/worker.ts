import type { Logger } from 'pino';
import type { Query, ScopedDb, ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/scope.ts';
import { toApiError } from '../http/errors.ts';
import { type ClaimedJob, claimJob, FAILURES_MAX, holdJob, LeaseLost, releaseJob } from './queue.ts';

/** How long an idle worker waits before it looks again, when nobody wakes it. */
const LOOK_MS = 1_000;
const HEARTBEAT_MS = 3_000;

/** What a kind of job does; the database is what is visible of the job's wiki. Both end the job themselves, in the transaction of their last write. */
export interface JobKind {
  kind: string;
  /** Works until the end, or stops early when `stopping` is aborted. What it throws is a failed attempt. */
  run(db: ScopedDb, job: ClaimedJob, stopping: AbortSignal): Promise<void>;
  /** Ends a job that failed too often. */
  giveUp(query: Query, job: ClaimedJob, error: string): Promise<void>;
}

/** Work that no job stands for: done at the start and again every so often, by every worker. */
export interface Chore {
  name: string;
  every_ms: number;
  run(): Promise<void>;
}

export interface Worker {
  /** Says that there is work, so that it need not wait for the next look. */
  wake(): void;
  /** Lets the present step end, puts an unfinished job back and stops. */
  stop(): Promise<void>;
}

/** Works on one job at a time until stopped. Whatever fails, it goes on. */
export function startWorker(options: {
  db: ServiceDb;
  kinds: readonly JobKind[];
  chores?: readonly Chore[];
  log: Logger;
}): Worker {
  const { db, kinds, chores = [], log } = options;
  const due = new Map(chores.map((chore) => [chore, 0]));
  const names = kinds.map((kind) => kind.kind);
  const stopping = new AbortController();
  let rouse = () => {};
  let roused = false;

  async function pause(): Promise<void> {
    if (roused || stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      rouse = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      roused = false;
      let worked = false;
      try {
        const job = await claimJob(db.in(SERVICE).query, names);
        if (job) {
          worked = true;
          await work(db.in({ who: 'job', path: { wiki_id: job.wiki_id } }), job);
        }
      } catch (err) {
        log.warn({ err }, 'the worker could not claim or release a job; it tries again');
      }
      if (!worked) {
        await doChores();
        await pause();
      }
    }
  }

  async function doChores(): Promise<void> {
    for (const [chore, at] of due) {
      if (performance.now() < at || stopping.signal.aborted) continue;
      due.set(chore, performance.now() + chore.every_ms);
      await chore
        .run()
        .catch((err: unknown) => log.warn({ err, chore: chore.name }, 'a chore failed; it is done again'));
    }
  }

  async function work(db: ScopedDb, job: ClaimedJob): Promise<void> {
    const kind = kinds.find((candidate) => candidate.kind === job.kind);
    if (!kind) throw new Error(`there is no job kind ${job.kind}`);
    const heartbeat = setInterval(() => {
      holdJob(db.query, job).catch((err) => log.warn({ err, job_id: job.job_id }, 'a heartbeat failed'));
    }, HEARTBEAT_MS);
    try {
      await kind.run(db, job, stopping.signal);
      if (stopping.signal.aborted) await releaseJob(db, job, undefined);
    } catch (err) {
      if (err instanceof LeaseLost) {
        log.warn({ job_id: job.job_id }, 'another worker took the job over');
        return;
      }
      if (databaseWasAway(err)) {
        log.warn({ err, job_id: job.job_id }, 'the database went away from a job, which is taken up again');
        await releaseJob(db, job, undefined);
        return;
      }
      log.error({ err, job_id: job.job_id, failures: job.failures }, 'a job failed');
      const text = 'internal_error: the work was interrupted; it is tried again';
      if (job.failures < FAILURES_MAX) await releaseJob(db, job, text);
      else await db.transaction((query) => kind.giveUp(query, job, 'internal_error: given up after repeated failures'));
    } finally {
      clearInterval(heartbeat);
    }
  }

  const done = loop();
  return {
    wake() {
      roused = true;
      rouse();
    },
    async stop() {
      stopping.abort();
      rouse();
      await done;
    },
  };
}

/** No fault of the job, so no attempt that failed; a statement that takes too long is one. */
function databaseWasAway(error: unknown): boolean {
  const timedOut = (error as { code?: string }).code === '57014';
  return !timedOut && toApiError(error).code === 'database_unavailable';
}
