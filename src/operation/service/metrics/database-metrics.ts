import { Counter, Gauge, type Registry } from 'prom-client';
import { clockSkewMs } from '../../../platform/core/clock.ts';
import type { QueueUsage } from '../../../platform/core/queue/fair-queue.ts';
import type { ServiceDb } from '../../../platform/db/db.ts';

/** Registers the use of database connections by lane, and the workspaces that hold them longest. */
export function registerDatabaseMetrics(registry: Registry, usage: ServiceDb['usage']): void {
  const registers = [registry];
  const ofLanes = (name: string, help: string, value: (usage: Readonly<QueueUsage>) => number) => ({
    name: `ibid_database_${name}`,
    help,
    labelNames: ['lane'] as const,
    registers,
    collect(this: Counter<'lane'> | Gauge<'lane'>) {
      this.reset();
      for (const [lane, each] of Object.entries(usage().lanes)) this.inc({ lane }, value(each));
    },
  });
  new Gauge(ofLanes('connections_used', 'Connections in use.', ({ used }) => used));
  new Gauge(ofLanes('waiting', 'Requests and jobs waiting for a connection.', ({ waiting }) => waiting));
  new Counter(ofLanes('waits_total', 'Times that a lane had no free connection.', ({ waits }) => waits));
  new Counter(
    ofLanes('share_waits_total', 'Times that a tenant waited for its own requests.', ({ share_waits }) => share_waits),
  );
  new Counter(ofLanes('wait_seconds_total', 'Time spent waiting for connections.', ({ wait_seconds }) => wait_seconds));
  new Counter(
    ofLanes(
      'refused_total',
      'Requests refused because the queue was full or the wait was too long.',
      ({ refused }) => refused,
    ),
  );
  new Counter(ofLanes('seconds_total', 'Time that connections were in use.', ({ held_seconds }) => held_seconds));
  new Gauge({
    name: 'ibid_workspace_database_seconds',
    help: 'Recent connection time of the 20 workspaces that used connections longest; halved every 5 minutes.',
    labelNames: ['workspace_id'],
    registers,
    collect() {
      this.reset();
      for (const [workspace_id, seconds] of usage().workspaces) this.set({ workspace_id }, seconds);
    },
  });
  new Gauge({
    name: 'ibid_clock_skew_seconds',
    help: "How far the clock of this process is ahead of the database's.",
    registers,
    collect() {
      this.set(clockSkewMs() / 1_000);
    },
  });
}
