import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSizedCache } from './sized-cache.ts';

test('a full cache stays within its size and evicts entries not used recently before used ones', () => {
  const cache = openSizedCache<number>(100_000);
  for (let i = 0; i < 1_000; i += 1) {
    cache.set(`key ${i}`, i, 800);
    assert.equal(cache.get('key 0'), 0, `after ${i + 1}`);
  }
  const kept = Array.from({ length: 1_000 }, (_, i) => cache.get(`key ${i}`)).filter((value) => value !== undefined);
  assert.ok(kept.length >= 85 && kept.length <= 100, `${kept.length} values of a thousandth each are kept`);
  assert.deepEqual(
    kept.slice(1),
    kept.slice(1).toSorted((a, b) => a - b),
  );
  assert.equal(kept.at(-1), 999);
  cache.set('key 999', -1, 100_001);
  assert.equal(
    cache.get('key 999'),
    undefined,
    'a value larger than the cache is not kept, and neither is the value that it replaces',
  );
});

test('inserting into a full cache of many entries costs at most 60 times as much as into a cache with room', () => {
  let next = 0;
  const fill = (cache: ReturnType<typeof openSizedCache>, count: number) => {
    const began = performance.now();
    for (let i = 0; i < count; i += 1) cache.set(`key ${next++}`, next, 0);
    return performance.now() - began;
  };
  const full = openSizedCache(200 * 50_000);
  fill(full, 120_000);
  const times = Array.from({ length: 7 }, () => {
    const roomy = openSizedCache(200 * 50_000);
    fill(roomy, 1_000);
    return { roomy: fill(roomy, 4_000), full: fill(full, 4_000) };
  });
  const least = (of: 'roomy' | 'full') => Math.min(...times.map((time) => time[of]));
  assert.ok(
    least('full') < 60 * least('roomy'),
    `${least('full')} ms in a full cache, ${least('roomy')} ms in a cache with room`,
  );
});
