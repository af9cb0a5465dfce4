import { Counter, type Registry } from 'prom-client';
import type { RequestStats } from '../../../platform/http/load/request-stats.ts';

/** Registers the number and duration of requests in this process, by group of endpoints. */
export function registerRequestMetrics(registry: Registry, { spending }: RequestStats): void {
  const registers = [registry];
  new Counter({
    name: 'ibid_requests_total',
    help: 'Requests by endpoint group, kind (read, write, stream) and status class.',
    labelNames: ['group', 'kind', 'status'],
    registers,
    collect() {
      this.reset();
      for (const { group, kind, answers } of spending()) {
        for (const [status, count] of Object.entries(answers)) this.inc({ group, kind, status }, count);
      }
    },
  });
  new Counter({
    name: 'ibid_request_seconds_total',
    help: 'Duration of requests, from the first byte of the request to the last byte of the response.',
    labelNames: ['group', 'kind'],
    registers,
    collect() {
      this.reset();
      for (const { group, kind, seconds } of spending()) this.inc({ group, kind }, seconds);
    },
  });
}
