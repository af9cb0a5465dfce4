import { once } from 'node:events';
import type { Logger } from 'pino';
import { loadPlans } from '../../organization/billing/plans.ts';
import { trackBlobs } from '../../platform/blobs/tracked-blobs.ts';
import { openServiceDb } from '../../platform/db/db.ts';
import { SERVICE } from '../../platform/db/request-context.ts';
import { observedMail } from '../../platform/providers/mail/observed-mail.ts';
import { lowerOwnPriority } from '../../platform/sandbox/priority.ts';
import { openRenderingStats } from '../../platform/sandbox/rendering/stats.ts';
import type { Config } from '../config.ts';
import { openFiles } from './data-dir.ts';
import { openMail, openPayments } from './from-config.ts';
import type { OnStop } from './hooks.ts';
import { followClock, serviceConnection } from './open-database.ts';
import { startWorkers } from './start-workers.ts';
import { stopInReverse } from './stop-in-reverse.ts';
import { startTracing } from './tracing.ts';
import { type FromWorker, REPORT_MS, type ToWorker } from './worker-messages.ts';

/** The worker needs few connections, even if requests may use many. */
const CONNECTIONS_MAX = 10;

/**
 * Runs jobs in a process that the service started (see `superviseWorker`), on the database that the service prepared.
 * `idle` resolves after WORKER_IDLE_SECONDS without a public job.
 */
export async function startWorkerProcess(
  config: Config,
  log: Logger,
): Promise<{ idle: Promise<void>; stop(): Promise<void> }> {
  const { onStop, stop } = stopInReverse();
  const begin = (await once(process, 'message')) as [ToWorker];
  if (begin[0].kind !== 'begin') throw new Error('the service did not report which database it uses');
  await startTracing(config, log, onStop);
  const db = openServiceDb({
    ...serviceConnection(config, begin[0].connection),
    connections: Math.min(config.DATABASE_CONNECTIONS, CONNECTIONS_MAX),
    onConnectionLost: (err) => log.warn({ err }, 'a connection to the database was lost'),
  });
  onStop(() => db.close());
  onStop(await followClock(db.in(SERVICE).query, log));
  const rendering = openRenderingStats();
  const report = () => tell({ kind: 'report', spent: rendering.spending.upload });
  onStop(async () => report());
  const plans = loadPlans(config.PLANS_FILE);
  const worker = startWorkers(
    {
      config,
      db,
      blobs: trackBlobs(await openFiles(config, onStop), db.in(SERVICE).query),
      mail: observedMail(await openMail(config, log), (outcome) => tell({ kind: 'mail', outcome })),
      payments: await openPayments(config, plans),
      plans,
      log,
      rendering,
      onAttempt: (name, outcome, seconds) => tell({ kind: 'attempt', name, outcome, seconds }),
    },
    {},
    onStop,
  );
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'wake') worker.wake();
  });
  // Start at normal priority, because an upload waits for it.
  lowerOwnPriority(config.WORKER_NICE);
  tell({ kind: 'ready', worker_id: worker.worker_id });
  const reports = setInterval(report, REPORT_MS);
  onStop(async () => clearInterval(reports));
  return { idle: whenIdle(worker.idleMs, 1_000 * config.WORKER_IDLE_SECONDS, onStop), stop };
}

function whenIdle(idleMs: () => number, limitMs: number, onStop: OnStop): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (idleMs() >= limitMs) resolve();
    }, 500);
    onStop(async () => clearInterval(timer));
  });
}

function tell(message: FromWorker): void {
  // Without a service this process exits anyway.
  process.send?.(message, () => undefined);
}
