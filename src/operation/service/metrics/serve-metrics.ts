import { createServer } from 'node:http';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { JOBS } from '../../../app.ts';
import type { ServiceDb } from '../../../platform/db/db.ts';
import { SERVICE } from '../../../platform/db/request-context.ts';
import type { RequestStats } from '../../../platform/http/load/request-stats.ts';
import type { OnAttempt } from '../../../platform/jobs/define-job.ts';
import { MAIL_OUTCOMES, type OnMail } from '../../../platform/providers/mail/observed-mail.ts';
import type { RenderingStats } from '../../../platform/sandbox/rendering/stats.ts';
import type { Config } from '../../config.ts';
import type { OnStop } from '../hooks.ts';
import { VERSION } from '../version.ts';
import { registerCertificateMetrics } from './certificate-metrics.ts';
import { registerDatabaseMetrics } from './database-metrics.ts';
import { openJobMetrics } from './job-metrics.ts';
import { registerRenderingMetrics } from './rendering-metrics.ts';
import { registerReplicaMetrics } from './replica-metrics.ts';
import { registerRequestMetrics } from './request-metrics.ts';
import { registerStateMetrics } from './state-metrics.ts';
import { registerDiskMetrics } from './storage-metrics.ts';
import { addUsageMetrics } from './usage-metrics.ts';

/** Receives events of this process, and of the process that it starts for jobs. */
export interface Observers {
  onAttempt: OnAttempt;
  onMail: OnMail;
}

/**
 * Serves Prometheus' text format on METRICS_PORT, so that it needs no authorization in the API. Returns observers of
 * job attempts and mail; empty without METRICS_PORT. Throws StartError.
 */
export async function serveMetrics(
  measured: { config: Config; db: ServiceDb; rendering: RenderingStats; requests: RequestStats; log: Logger },
  onStop: OnStop,
): Promise<Partial<Observers>> {
  const { HOST: host, METRICS_PORT: port } = measured.config;
  if (port === undefined) return {};
  const registry = new Registry();
  const observers = registerAll(registry, measured);
  const server = createServer(async (request, response) => {
    // The liveness of a worker, which has no other port; does not query the database.
    if (request.url === '/livez') return void response.writeHead(200).end();
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new StartError(
          `METRICS_PORT ${port} cannot be used (${error.code}): set it to a free port, or leave it empty.`,
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  onStop(() => new Promise((resolve) => server.close(resolve)));
  return observers;
}

function registerAll(
  registry: Registry,
  { config, db, rendering, requests, log }: Parameters<typeof serveMetrics>[0],
): Observers {
  const { query } = db.in(SERVICE);
  const warn = (message: string) => (err: unknown) => log.warn({ err }, message);
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'ibid_build_info',
    help: 'Always 1; the labels give the version and its Node.js.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: VERSION, node: process.version }, 1);
  registerRequestMetrics(registry, requests);
  registerRenderingMetrics(registry, rendering);
  registerDatabaseMetrics(registry, db.usage);
  registerReplicaMetrics(registry, db.replicas);
  registerDiskMetrics(registry, config);
  registerCertificateMetrics(registry, config, warn('could not check a certificate'));
  registerStateMetrics(registry, query, warn('could not read the state of the service for a metrics scrape'));
  addUsageMetrics(registry, query, warn('could not measure the usage of workspaces'));
  return { onAttempt: openJobMetrics(registry, { query, jobs: JOBS, log }), onMail: openMailMetrics(registry) };
}

function openMailMetrics(registry: Registry): OnMail {
  const counter = new Counter({
    name: 'ibid_mail_total',
    help: "Messages by the mail server's response: sent, deferred (to be retried) or refused.",
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of MAIL_OUTCOMES) counter.inc({ outcome }, 0);
  return (outcome) => counter.inc({ outcome });
}
