import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { PoolConfig } from 'pg';
import type { Logger } from 'pino';
import type { ServiceDb } from '../../platform/db/db.ts';
import { SERVICE } from '../../platform/db/request-context.ts';
import type { OnAttempt } from '../../platform/jobs/define-job.ts';
import type { WorkerProcess } from '../../platform/jobs/worker.ts';
import { endLease } from '../../platform/jobs/workers.ts';
import type { OnMail } from '../../platform/providers/mail/observed-mail.ts';
import { NOTHING_SPENT, type RenderingStats } from '../../platform/sandbox/rendering/stats.ts';
import type { OnStop } from './hooks.ts';
import { type FromWorker, REPORT_MS, type ToWorker } from './worker-messages.ts';

/** Restarts after a crash wait for 1, 2, 4, … seconds, up to this maximum. */
const PAUSE_MAX_SECONDS = 60;
/** A process that lived this long did not fail at startup. */
const STABLE_MS = 60_000;
/**
 * A process that missed this many reports in a row hangs. That takes five minutes, because a busy machine may starve it
 * of CPU time.
 */
const REPORTS_MISSED = 100;
/** Less than the time limit for the stop of the whole service. */
const STOP_MS = 12_000;

/** One run of the process. */
interface Life {
  child: ChildProcess;
  startedAt: number;
  /** Set when it starts to claim jobs. */
  worker_id: string | undefined;
  missed: number;
  spent: typeof NOTHING_SPENT;
}

/**
 * Supervises the process for public jobs: starts it when a job is due, restarts it after a crash, and ends it with the
 * service. The process exits by itself when it has been idle for a while, and when this process is gone.
 */
export function superviseWorker(
  options: {
    fork: () => ChildProcess;
    /** The service's own PostgreSQL; undefined if the process reads DATABASE_URL from its environment. */
    connection: PoolConfig | undefined;
    db: ServiceDb;
    log: Logger;
    rendering: RenderingStats;
    onAttempt?: OnAttempt | undefined;
    onMail?: OnMail | undefined;
  },
  onStop: OnStop,
): WorkerProcess {
  const { db, log, rendering, onAttempt, onMail } = options;
  let life: Life | undefined;
  let crashes = 0;
  let mayStartAt = 0;
  let isStopping = false;

  function receive(to: Life, message: FromWorker): void {
    to.missed = 0;
    if (message.kind === 'ready') to.worker_id = message.worker_id;
    else if (message.kind === 'attempt') onAttempt?.(message.name, message.outcome, message.seconds);
    else if (message.kind === 'mail') onMail?.(message.outcome);
    else {
      rendering.addOfProcess('upload', message.spent, to.spent);
      to.spent = message.spent;
    }
  }

  /** Ends the lease of a process that is gone, so that its jobs need not wait for the lease to expire. */
  async function release({ worker_id }: Life): Promise<void> {
    if (worker_id === undefined) return;
    await endLease(db.in(SERVICE).query, worker_id).catch((err: unknown) =>
      log.warn({ err }, 'the lease of a terminated worker process could not be released; it expires by itself'),
    );
  }

  function onEnd(ended: Life, code: number | null, signal: NodeJS.Signals | null): void {
    life = undefined;
    receive(ended, { kind: 'report', spent: { ...ended.spent, pending: 0 } });
    if (code === 0 || isStopping) {
      crashes = 0;
      return;
    }
    crashes = performance.now() - ended.startedAt > STABLE_MS ? 1 : crashes + 1;
    const seconds = Math.min(2 ** (crashes - 1), PAUSE_MAX_SECONDS);
    mayStartAt = performance.now() + 1_000 * seconds;
    log.error({ code, signal, seconds }, 'the worker process ended unexpectedly; a new one continues its jobs');
    void release(ended);
  }

  function start(): void {
    if (life || isStopping || performance.now() < mayStartAt) return;
    const child = options.fork();
    const started: Life = {
      child,
      startedAt: performance.now(),
      worker_id: undefined,
      missed: 0,
      spent: NOTHING_SPENT,
    };
    life = started;
    const watch = setInterval(() => {
      // Counted instead of timed, because a timer of this process may be late itself.
      started.missed += 1;
      if (started.missed <= REPORTS_MISSED) return;
      log.error('the worker process does not respond; terminating it');
      child.kill('SIGKILL');
    }, REPORT_MS);
    child.on('message', (message) => receive(started, message as FromWorker));
    let isOver = false;
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      if (isOver) return;
      isOver = true;
      clearInterval(watch);
      onEnd(started, code, signal);
    };
    child.once('exit', end);
    child.once('error', (err) => {
      log.error({ err }, 'the worker process could not be started');
      if (child.pid === undefined) end(null, null);
    });
    send({ kind: 'begin', connection: options.connection });
  }

  function send(message: ToWorker): void {
    // The process may be exiting; the information is also in the database.
    if (life?.child.connected) life.child.send(message, () => undefined);
  }

  onStop(async () => {
    isStopping = true;
    const child = life?.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(late);
  });
  return {
    isRunning: () => life?.worker_id !== undefined,
    worker_id: () => life?.worker_id,
    start,
    wake: () => send({ kind: 'wake' }),
  };
}
