import type { Logger } from 'pino';
import type { Query, ScopedDb, ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import { toApiError, toStorageError } from '../http/to-api-error.ts';
import { type ClaimedJob, claimJob, FAILURES_MAX, holdJob, LeaseLost, releaseJob } from './queue.ts';

/** How long an idle worker waits before it looks again, when nobody wakes it. */
const LOOK_MS = 1_000;
const HEARTBEAT_MS = 3_000;

/** How long a job waits for what was away from it. */
const AWAY_SECONDS = 2;

/** What a kind of job does; the database is what is visible of the job's wiki. Both end the job themselves, in the transaction of their last write. */
export interface JobKind {
  kind: string;
  /** Works until the end, or stops early when `stopping` is aborted: on an orderly stop, and when the job was cancelled or taken over. What it throws is a failed attempt. */
  run(db: ScopedDb, job: ClaimedJob, stopping: AbortSignal): Promise<void>;
  /** Ends a job that failed too often. */
  giveUp(query: Query, job: ClaimedJob, error: string): Promise<void>;
}

/** Work that no job stands for: done at the start and again every so often, by every worker. */
interface ScheduledTask {
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

/**
 * Works on jobs until stopped, on `at_once` of them at most. The second half of these places is for workspaces of which
 * nothing is in work, so that whoever uploads much keeps nobody else waiting. Whatever fails, it goes on.
 */
export function startWorker(options: {
  db: ServiceDb;
  kinds: readonly JobKind[];
  at_once?: number;
  chores?: readonly ScheduledTask[];
  log: Logger;
}): Worker {
  const { db, kinds, at_once = 1, chores = [], log } = options;
  const due = new Map(chores.map((chore) => [chore, 0]));
  const names = kinds.map((kind) => kind.kind);
  const stopping = new AbortController();
  const working = new Set<Promise<void>>();
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
      if (await beginJob()) continue;
      await doChores();
      await pause();
    }
    await Promise.all(working);
  }

  /** Answers whether there was one, and room for it. */
  async function beginJob(): Promise<boolean> {
    if (working.size >= at_once) return false;
    try {
      const job = await claimJob(db.in(SERVICE).query, names, working.size >= Math.ceil(at_once / 2));
      if (!job) return false;
      const done = work(db.in({ who: 'job', path: { wiki_id: job.wiki_id } }), job)
        .catch((err) => log.warn({ err, job_id: job.job_id }, 'a job could not be put back; its lease runs out'))
        .finally(() => {
          working.delete(done);
          wake();
        });
      working.add(done);
      return true;
    } catch (err) {
      log.warn({ err }, 'the worker could not claim a job; it tries again');
      return false;
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
    // Its worker ended so often without a word that it is the job which ends it.
    if (job.failures > FAILURES_MAX) {
      log.error({ job_id: job.job_id, failures: job.failures }, 'a job is given up: whatever worked on it ended');
      const text = 'worker_lost: given up, because each process that worked on it ended';
      await db.transaction((query) => kind.giveUp(query, job, text));
      return;
    }
    const lost = new AbortController();
    const heartbeat = setInterval(() => {
      holdJob(db.query, job).catch((err) => {
        log.warn({ err, job_id: job.job_id }, 'a heartbeat failed');
        if (err instanceof LeaseLost) lost.abort(err);
      });
    }, HEARTBEAT_MS);
    try {
      await kind.run(db, job, AbortSignal.any([stopping.signal, lost.signal]));
      lost.signal.throwIfAborted();
      if (stopping.signal.aborted) await releaseJob(db, job, undefined);
    } catch (err) {
      if (err instanceof LeaseLost) {
        log.warn({ job_id: job.job_id }, 'another worker took the job over, or it was cancelled');
        return;
      }
      if (somethingWasAway(err)) {
        log.warn(
          { err, job_id: job.job_id },
          'the database or the file store went away from a job, which is taken up again',
        );
        await releaseJob(db, job, undefined, AWAY_SECONDS);
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

  function wake(): void {
    roused = true;
    rouse();
  }

  const done = loop();
  return {
    wake,
    async stop() {
      stopping.abort();
      rouse();
      await done;
    },
  };
}

/** No fault of the job, so no attempt that failed; a statement that takes too long is one, and a file that is gone does not come back. */
function somethingWasAway(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  if (code === '57014' || code === 'ENOENT') return false;
  return /^(database|storage)_unavailable$/.test(toApiError(toStorageError(error)).code);
}
