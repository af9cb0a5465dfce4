import type { Logger } from 'pino';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Query } from '../../../platform/db/db.ts';
import { countJobs, STATUSES } from '../../../platform/jobs/count-jobs.ts';
import { type AnyJob, LANES, type OnAttempt } from '../../../platform/jobs/define-job.ts';
import { sharedRead } from './shared-read.ts';

/** How long a scrape waits for the database. After that it omits the metrics read from there. */
const READ_TIMEOUT_MS = 1_000;

/**
 * Registers the metrics of jobs, with labels whose values the code enumerates. Returns a function to call after each
 * attempt.
 */
export function openJobMetrics(
  registry: Registry,
  { query, jobs, log }: { query: Query; jobs: readonly AnyJob[]; log: Logger },
): OnAttempt {
  const onFailed = (err: unknown) => log.warn({ err }, 'could not count jobs for a metrics scrape');
  const read = sharedRead(() => countJobs(query), READ_TIMEOUT_MS, onFailed);
  const registers = [registry];
  new Gauge({
    name: 'ibid_jobs',
    help: 'Jobs of all processes. Finished public jobs are not counted.',
    labelNames: ['name', 'lane', 'status'],
    registers,
    async collect() {
      const counts = await read();
      this.reset();
      for (const { name, lane } of counts ? jobs : []) {
        for (const status of STATUSES) {
          const found = counts?.find((count) => count.name === name && count.status === status);
          this.set({ name, lane, status }, found?.count ?? 0);
        }
      }
    },
  });
  new Gauge({
    name: 'ibid_jobs_oldest_waiting_seconds',
    help: 'How long the oldest due job in the lane has been waiting; 0 if there is none.',
    labelNames: ['lane'],
    registers,
    async collect() {
      const counts = await read();
      this.reset();
      for (const lane of counts ? Object.keys(LANES) : []) {
        const names = new Set(jobs.filter((job) => job.lane === lane).map(({ name }) => name));
        const waiting = (counts ?? []).filter(({ name, status }) => status === 'queued' && names.has(name));
        this.set({ lane }, Math.max(0, ...waiting.map(({ overdue_seconds }) => overdue_seconds)));
      }
    },
  });
  const seconds = new Histogram({
    name: 'ibid_job_seconds',
    help: 'Duration of the attempts of jobs in this process: succeeded, retried, failed (the last attempt), or interrupted (by a stop, a cancellation, or because the database or the file store was unavailable).',
    labelNames: ['name', 'outcome'],
    buckets: [0.01, 0.1, 1, 10, 60, 600],
    registers,
  });
  return (name, outcome, duration) => seconds.observe({ name, outcome }, duration);
}
