import { Counter, Gauge, type Registry } from 'prom-client';
import type { ServiceDb } from '../../../platform/db/db.ts';
import type { ReplicaUsage } from '../../../platform/db/replicas/replica-usage.ts';

/** Registers metrics of how this process uses each replica, and of its lag, by host and port. */
export function registerReplicaMetrics(registry: Registry, replicas: ServiceDb['replicas']): void {
  const of = (name: string, help: string, value: (usage: Readonly<ReplicaUsage>) => number) => ({
    name,
    help,
    labelNames: ['server'] as const,
    registers: [registry],
    collect(this: Counter<'server'> | Gauge<'server'>) {
      this.reset();
      for (const usage of replicas()) this.inc({ server: usage.server }, value(usage));
    },
  });
  new Gauge(
    of('ibid_replica_up', '1 while the replica answers reads, 0 while the primary answers them.', ({ isUp }) =>
      isUp ? 1 : 0,
    ),
  );
  new Gauge(of('ibid_replica_lag_seconds', 'Replication lag at the last check.', ({ lag_seconds }) => lag_seconds));
  new Gauge(of('ibid_replica_lag_bytes', 'The same, in bytes of the write-ahead log.', ({ lag_bytes }) => lag_bytes));
  new Counter(of('ibid_replica_reads_total', 'Reads answered by the replica.', ({ reads }) => reads));
  new Counter(
    of(
      'ibid_replica_fallbacks_total',
      'Reads sent to the replica but answered by the primary.',
      ({ fallbacks }) => fallbacks,
    ),
  );
}
