import type { Logger } from 'pino';
import { trackBlobs } from '../../platform/blobs/tracked-blobs.ts';
import { SERVICE } from '../../platform/db/request-context.ts';
import { openRequestStats } from '../../platform/http/load/request-stats.ts';
import { observedMail } from '../../platform/providers/mail/observed-mail.ts';
import { openRenderingStats } from '../../platform/sandbox/rendering/stats.ts';
import type { Config } from '../config.ts';
import { archiveWal } from './archive-wal.ts';
import { openFiles } from './data-dir.ts';
import { readExternalConfig } from './external-config.ts';
import { openMail, openPayments } from './from-config.ts';
import type { ServiceHooks } from './hooks.ts';
import { serveMetrics } from './metrics/serve-metrics.ts';
import { openDatabase } from './open-database.ts';
import { releaseMemoryWhenIdle } from './release-memory.ts';
import { startApi } from './start-api.ts';
import { startJobSchedule, startWorkers } from './start-workers.ts';
import { stopInReverse } from './stop-in-reverse.ts';
import { superviseWorker } from './supervised-worker.ts';
import { startTracing } from './tracing.ts';

export interface Service {
  /** Address of the API, such as http://127.0.0.1:8080; "" for a worker. */
  address: string;
  /** The link for creating the first user; undefined if a user exists. */
  welcome: string | undefined;
  /** Returns the pid of the supervised PostgreSQL, if there is one. */
  postgresPid(): number | undefined;
  /** Waits for requests and the current step of each job, then stops everything in reverse order. */
  stop(): Promise<void>;
}

/** Starts everything that the configuration requires. Throws a StartError with advice. */
export async function startService(config: Config, log: Logger, hooks: ServiceHooks = {}): Promise<Service> {
  const { onStop, stop } = stopInReverse();
  try {
    const external = readExternalConfig(config, log);
    await startTracing(config, log, onStop);
    const { db, postgres } = await openDatabase(config, external.plans, log, hooks, onStop);
    const blobs = trackBlobs(await openFiles(config, onStop), db.in(SERVICE).query);
    if (postgres && config.BACKUP_WAL !== undefined) archiveWal(config, postgres, blobs, log, onStop);
    const rendering = openRenderingStats();
    const requests = openRequestStats();
    const observers = await serveMetrics({ config, db, rendering, requests, log }, onStop);
    const mail = observedMail(await openMail(config, log), observers.onMail);
    const { plans } = external;
    const payments = await openPayments(config, plans);
    const parts = { config, db, blobs, mail, payments, plans, log, rendering, ...observers };
    const process =
      config.ROLE === 'all' && hooks.forkWorker
        ? superviseWorker({ ...parts, connection: postgres?.connection, fork: hooks.forkWorker }, onStop)
        : undefined;
    const worker = config.ROLE === 'web' ? undefined : startWorkers({ ...parts, process }, hooks, onStop);
    if (worker) startJobSchedule(parts, worker, onStop);
    const started = { ...parts, postgres, external, requests, wakeWorker: () => worker?.wake() };
    const api = config.ROLE === 'worker' ? undefined : await startApi(started, hooks, onStop);
    const stopReleasing = releaseMemoryWhenIdle();
    onStop(async () => stopReleasing());
    return { address: api?.address ?? '', welcome: api?.welcome, postgresPid: () => postgres?.pid, stop };
  } catch (error) {
    await stop().catch((err: unknown) => log.error({ err }, 'cleanup after a failed start was not clean'));
    throw error;
  }
}
