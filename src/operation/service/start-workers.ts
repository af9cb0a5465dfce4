import type { Logger } from 'pino';
import { JOBS } from '../../app.ts';
import { openSignatures } from '../../platform/access/signatures.ts';
import type { ServiceDb } from '../../platform/db/db.ts';
import { SERVICE } from '../../platform/db/request-context.ts';
import { type JobServices, LANES, type OnAttempt } from '../../platform/jobs/define-job.ts';
import { startSchedule } from '../../platform/jobs/schedule.ts';
import { startWorker, type Worker, type WorkerProcess } from '../../platform/jobs/worker.ts';
import type { Mail } from '../../platform/providers/mail/mail.ts';
import type { Payments, Plan } from '../../platform/providers/payments/payments.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import { openDocumentReader } from '../../platform/sandbox/document-reader.ts';
import { NICE } from '../../platform/sandbox/priority.ts';
import type { RenderingStats } from '../../platform/sandbox/rendering/stats.ts';
import { openSandbox } from '../../platform/sandbox/sandbox.ts';
import { V8 } from '../../platform/sandbox/v8-options.ts';
import type { Config } from '../config.ts';
import { limitsOf, publicUrlOf } from './from-config.ts';
import type { OnStop, ServiceHooks } from './hooks.ts';
import { scheduledBackups } from './scheduled-backups.ts';

/** Processes for the files of uploads and imports. */
const RENDERING_PROCESSES = 2;

interface WorkerNeeds {
  config: Config;
  db: ServiceDb;
  blobs: Blobs;
  mail: Mail;
  payments: Payments;
  plans: readonly Plan[];
  log: Logger;
  rendering: RenderingStats;
  onAttempt?: OnAttempt | undefined;
  /** The process for public jobs, if it is separate. */
  process?: WorkerProcess | undefined;
}

export function startWorkers(needs: WorkerNeeds, hooks: Pick<ServiceHooks, 'jobServices'>, onStop: OnStop): Worker {
  const { config, db, blobs, mail, payments, plans, log, rendering, onAttempt, process } = needs;
  // Page reads have a higher CPU priority than uploads.
  const sandbox = openSandbox({
    processes: RENDERING_PROCESSES,
    nice: NICE.files,
    v8: V8.files,
    stats: rendering,
    onError: (err) => log.error({ err }, 'a file could not be compiled and is shown as plain text'),
  });
  onStop(() => sandbox.close());
  const reader = openDocumentReader();
  onStop(() => reader.close());
  const shared = {
    blobs,
    mail,
    payments,
    plans,
    signatures: openSignatures(db.in(SERVICE).query),
    publicUrl: publicUrlOf(config),
    limits: limitsOf(config),
    backups: scheduledBackups(config),
    log,
  };
  const services = (workspace_id: string): JobServices => {
    const own = { ...shared, sandbox: sandbox.of(workspace_id), reader: reader.of(workspace_id) };
    return hooks.jobServices?.(own) ?? own;
  };
  const slots = { ...LANES, uploads: uploadSlots(config) };
  const worker = startWorker({ db, jobs: JOBS, slots, services, log, onAttempt, process });
  onStop(() => worker.stop());
  return worker;
}

/** Starts the schedule, which enqueues jobs and wakes this worker. */
export function startJobSchedule({ db, log }: Pick<WorkerNeeds, 'db' | 'log'>, worker: Worker, onStop: OnStop): void {
  const schedule = startSchedule({ db, jobs: JOBS, log, onEnqueued: worker.wake });
  onStop(() => schedule.stop());
}

/** Each upload may be writing or reading a snapshot, and requests need a connection too. */
function uploadSlots({ DATABASE_CONNECTIONS }: Config): number {
  return Math.max(1, Math.min(LANES.uploads, DATABASE_CONNECTIONS - 1));
}
