import { createServer } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { StartError } from '../core/start-error.ts';
import type { OnStop } from './hooks.ts';

/** Serves Prometheus' text format on its own port, so that it needs no authorization in the API. Errors: StartError. */
export async function serveMetrics(host: string, port: number, onStop: OnStop): Promise<void> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
}
