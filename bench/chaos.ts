import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../test/until.ts';
import { type LoadedCluster, startLoadedCluster, untilSafe, untilWhole, untilWritten } from './cluster-load.ts';
import type { Node } from './patroni-cluster.ts';
import type { Host } from './separate-hosts.ts';

/** CHAOS: how often each fault hits the primary. FREEZE_SECONDS: how long it is stopped; longer than Patroni's ttl. */
const TIMES = Number(process.env.CHAOS || 1);
const FREEZE_MS = 1_000 * Number(process.env.FREEZE_SECONDS || 45);

/** CHAOS_ONLY: the faults whose name has this in it. */
const ONLY = process.env.CHAOS_ONLY ?? '';

/** Each begins a fault of the primary, and returns how it ends. */
const FAULTS: Record<string, (cluster: LoadedCluster, node: Node, host: Host) => Promise<() => Promise<void>>> = {
  'a network partition': async (_cluster, _node, host) => {
    host.cut();
    return async () => host.mend();
  },
  'a full disk': async (cluster, node, host) => {
    host.fillDisk();
    // The segments of the write-ahead log that are there already are used up.
    await until('PostgreSQL meets the end of its disk', () =>
      cluster
        .onNode(node, `select pg_logical_emit_message(false, 'fill', repeat('x', 8000000))`)
        .then(() => false)
        .catch(() => true),
    );
    return async () => host.freeDisk();
  },
  'a frozen machine': async (_cluster, _node, host) => {
    host.freeze();
    const until = performance.now() + FREEZE_MS;
    return async () => {
      await delay(Math.max(0, until - performance.now()));
      host.thaw();
    };
  },
};

test('partitions, full disks and frozen machines of the primary lose nothing that was acknowledged', async (t) => {
  const cluster = await startLoadedCluster({ onHosts: true });
  t.after(cluster.stop);
  const { seen } = cluster;
  const waits: number[] = [];
  for (let i = 0; i < TIMES; i += 1) {
    for (const [name, begin] of Object.entries(FAULTS).filter(([name]) => name.includes(ONLY))) {
      const before = (await until('a primary', cluster.primary)) as Node;
      await untilSafe(cluster);
      const [writes, refusals, since] = [seen.acknowledged.length, seen.unavailable, performance.now()];
      const endFault = await begin(cluster, before, before.host as Host);
      const { now, waitMs, commitMs } = await untilWritten(cluster, before);
      waits.push(waitMs);
      const seconds = Math.round((performance.now() - since) / 1_000);
      await endFault();
      await untilWhole(cluster);
      const { length: lost } = await cluster.lost();
      console.log(
        `${new Date().toISOString()} ${name} of ${before.name}, ${lost} lost so far: ${now.name} is the primary, and a write succeeded ${Math.round(waitMs)} ms after that (PostgreSQL committed after ${Math.round(commitMs)} ms), ${seconds} s after the fault; ${seen.acknowledged.length - writes} writes and ${seen.unavailable - refusals} answers 503 until all nodes were back`,
      );
    }
  }
  await cluster.end();
  const lost = await cluster.lost();
  const { acknowledged, wrong, stale, unavailable } = seen;
  console.log(
    `${waits.length} faults, ${acknowledged.length} acknowledged writes, ${lost.length} lost, ${stale} stale reads, ${unavailable} answers 503, longest wait ${Math.round(Math.max(...waits))} ms`,
  );
  assert.deepEqual({ lost: lost.length, wrong, stale }, { lost: 0, wrong: [], stale: 0 });
});
