import { createServer } from 'node:http';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { JOBS } from '../app.ts';
import { StartError } from '../core/start-error.ts';
import type { ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import type { RequestStats } from '../http/load/request-stats.ts';
import type { OnAttempt } from '../jobs/define-job.ts';
import type { RenderingStats } from '../sandbox/rendering/stats.ts';
import { registerDatabaseMetrics } from './database-metrics.ts';
import type { OnStop } from './hooks.ts';
import { openJobMetrics } from './job-metrics.ts';
import { registerRenderingMetrics } from './rendering-metrics.ts';
import { registerRequestMetrics } from './request-metrics.ts';
import { addUsageMetrics } from './usage-metrics.ts';

/**
 * Serves Prometheus' text format on its own port, so that it needs no authorization in the API. Returns what records
 * the attempts of jobs. Errors: StartError.
 */
export async function serveMetrics(
  {
    host,
    port,
    db,
    rendering,
    requests,
    log,
  }: {
    host: string;
    port: number;
    db: ServiceDb;
    rendering: RenderingStats;
    requests: RequestStats;
    log: Logger;
  },
  onStop: OnStop,
): Promise<OnAttempt> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerRenderingMetrics(registry, rendering);
  registerRequestMetrics(registry, requests);
  registerDatabaseMetrics(registry, db.usage);
  const { query } = db.in(SERVICE);
  addUsageMetrics(registry, query, (err) => log.warn({ err }, 'the usage of workspaces could not be measured'));
  const onAttempt = openJobMetrics(registry, { query, jobs: JOBS, log });
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new StartError(`METRICS_PORT ${port} cannot be used (${error.code}): set it to a free port, or to nothing.`),
      ),
    );
    server.listen(port, host, resolve);
  });
  onStop(() => new Promise((resolve) => server.close(resolve)));
  return onAttempt;
}
