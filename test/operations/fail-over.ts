import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../until.ts';
import { startLoadedCluster, untilSafe, untilWhole, untilWritten } from './cluster-load.ts';
import type { Node } from './patroni-cluster.ts';

/** FAIL_OVERS: number of changes of the primary, alternating between a switchover and the death of its node. */
const TIMES = Number(process.env.FAIL_OVERS || 4);

test('failovers and switchovers of a Patroni cluster lose no acknowledged write', async (t) => {
  const cluster = await startLoadedCluster();
  t.after(cluster.stop);
  const waits: number[] = [];
  for (let i = 0; i < TIMES; i += 1) {
    const before = (await until('a primary', cluster.primary)) as Node;
    await untilSafe(cluster);
    const isSwitch = i % 2 === 0;
    if (isSwitch) await switchOver(before);
    else await before.kill();
    const { now, waitMs, commitMs } = await untilWritten(cluster, before);
    waits.push(waitMs);
    console.log(
      `${isSwitch ? 'switch-over' : 'fail-over'} ${before.name} → ${now.name}: a write ${Math.round(waitMs)} ms after the primary was there, PostgreSQL commits after ${Math.round(commitMs)} ms`,
    );
    if (!isSwitch) before.start();
    await untilWhole(cluster);
  }
  await cluster.end();
  const lost = await cluster.lost();
  const { acknowledged, wrong, stale, unavailable } = cluster.seen;
  console.log(
    `${TIMES} changes of the primary, ${acknowledged.length} acknowledged writes, ${lost.length} lost, ${stale} stale reads, ${unavailable} answers 503, longest wait ${Math.round(Math.max(...waits))} ms`,
  );
  assert.deepEqual({ lost: lost.length, wrong, stale }, { lost: 0, wrong: [], stale: 0 });
});

async function switchOver(leader: Node): Promise<void> {
  const response = await fetch(`http://${leader.api}/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader: leader.name }),
  });
  assert.ok(response.ok, await response.text());
}
