import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../../test/until.ts';
import { collectAll, releaseMemoryWhenIdle } from './release-memory.ts';

const LOOK_MS = 30;

test('memory is released once when a process becomes idle, and not while it works', async (t) => {
  let collections = 0;
  const collect = collectAll();
  const stop = releaseMemoryWhenIdle(LOOK_MS, () => {
    collections += 1;
    collect();
  });
  t.after(stop);
  const heap = () => process.memoryUsage().heapTotal;
  let kept: object[] | undefined = Array.from({ length: 500_000 }, (_, i) => ({ i, text: `text ${i}` }));
  assert.equal(kept.length, 500_000);
  const grown = heap();
  kept = undefined;
  for (const began = performance.now(); performance.now() - began < 10 * LOOK_MS; await delay(1)) {
    for (const from = performance.now(); performance.now() - from < LOOK_MS / 4; );
  }
  assert.equal(collections, 0, 'it was collected while it worked');
  await until(
    'memory is given back',
    async () => collections,
    (count) => count > 0,
  );
  assert.ok(heap() < grown / 2, `${heap()} of ${grown} bytes are left`);
  await delay(12 * LOOK_MS);
  assert.equal(collections, 1, 'it was collected again, although nothing was done meanwhile');
});
