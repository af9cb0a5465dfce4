import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Turn } from '../core/queue/fair-queue.ts';
import type { PoolLane } from './lane-limits.ts';
import { openPoolLanes } from './pool-lanes.ts';
import { openTopSpenders } from './top-spenders.ts';

/** Takes slots until one has to wait, and returns the slots taken. */
function fill(lanes: ReturnType<typeof openPoolLanes>, lane: PoolLane, tenantOf: (n: number) => string): Turn[] {
  const taken: Turn[] = [];
  for (;;) {
    const slot = lanes.enter(lane, tenantOf(taken.length));
    if (slot instanceof Promise) {
      slot.then(lanes.leave, () => undefined);
      return taken;
    }
    taken.push(slot);
  }
}

for (const connections of [4, 6, 10, 50]) {
  test(`with ${connections} connections, any number of writes and jobs leaves some connections to reads, and vice versa`, () => {
    const busy = openPoolLanes(connections);
    const writes = fill(busy, 'writes', (n) => `w${n}`);
    const jobs = fill(busy, 'jobs', (n) => `j${n}`);
    assert.ok(writes.length <= connections * 0.6 && writes.length + jobs.length < connections);
    assert.ok(fill(busy, 'reads', (n) => `r${n}`).length >= 1);
    const read = openPoolLanes(connections);
    fill(read, 'reads', (n) => `r${n}`);
    assert.ok(!(read.enter('writes', 'w') instanceof Promise));
    assert.ok(!(read.enter('jobs', 'j') instanceof Promise));
  });

  test(`with ${connections} connections, one tenant leaves some of each lane to other tenants`, () => {
    for (const lane of ['reads', 'writes'] as const) {
      const lanes = openPoolLanes(connections);
      fill(lanes, lane, () => 'greedy');
      assert.ok(!(lanes.enter(lane, 'other') instanceof Promise), lane);
    }
  });
}

test('waiting tenants take turns, however many requests each of them has', async () => {
  const lanes = openPoolLanes(10);
  const order: string[] = [];
  const taken = fill(lanes, 'writes', (n) => `t${n}`);
  const waiting = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(async (tenant) => {
    const slot = await lanes.enter('writes', tenant);
    order.push(tenant);
    lanes.leave(slot);
  });
  for (const slot of taken) lanes.leave(slot);
  await Promise.all(waiting);
  assert.deepEqual(order.slice(0, 3).sort(), ['a', 'b', 'c']);
  assert.deepEqual([lanes.usage('writes').used, lanes.usage('writes').waiting], [0, 0]);
});

test('a tenant with 256 waiting requests gets a 429, and a lane with 1,000 waiting requests a 503', () => {
  const lanes = openPoolLanes(10);
  const taken = fill(lanes, 'writes', (n) => `t${n}`);
  const enter = (tenant: string) => void (lanes.enter('writes', tenant) as Promise<Turn>).catch(() => undefined);
  for (let i = 0; i < 256; i += 1) enter('greedy');
  assert.throws(() => lanes.enter('writes', 'greedy'), { code: 'rate_limited', status: 429, retry_after: 2 });
  for (let i = lanes.usage('writes').waiting; i < 1_000; i += 1) enter(`t${i}`);
  assert.throws(() => lanes.enter('writes', 'other'), { code: 'overloaded', status: 503, retry_after: 2 });
  for (const slot of taken) lanes.leave(slot);
});

test('a request that waits longer than its lane allows is refused, and takes no slot afterwards', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lanes = openPoolLanes(10);
  const taken = fill(lanes, 'reads', (n) => `t${n}`);
  const waiting = lanes.enter('reads', 'late') as Promise<Turn>;
  // Once to start the watch, then until the limit.
  for (const ms of [50, 20_000]) t.mock.timers.tick(ms);
  await assert.rejects(waiting, { code: 'overloaded' });
  for (const slot of taken) lanes.leave(slot);
  assert.deepEqual([lanes.usage('reads').used, lanes.usage('reads').waiting], [0, 0]);
});

/** Opens lanes in which a tenant has held its whole share for ten seconds. */
function openWithHeavyTenant(t: TestContext, lane: PoolLane) {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const lanes = openPoolLanes(10);
  const taken = fill(lanes, lane, () => 'heavy');
  now += 10_000;
  return { lanes, taken, pass: (ms: number) => void (now += ms) };
}

for (const lane of ['reads', 'writes'] as const) {
  test(`a heavy user of ${lane} is limited to a tenth of the connections while other tenants are active, and regains its share afterwards`, (t) => {
    const { lanes, taken, pass } = openWithHeavyTenant(t, lane);
    assert.equal(taken.length, 4);
    lanes.leave(lanes.enter('reads', 'other') as Turn);
    // A request that is already waiting gets the first returned connection.
    for (const slot of taken) lanes.leave(slot);
    assert.equal(lanes.usage(lane).used, 1);
    assert.equal(fill(lanes, lane, () => 'heavy').length, 0);
    const others = fill(lanes, lane, () => 'other');
    assert.equal(others.length, 4, 'a tenant that used little gets the whole share');
    others.forEach(lanes.leave);
    pass(2_001);
    assert.ok(!(lanes.enter(lane, 'heavy') instanceof Promise), 'no other tenant is active');
  });
}

test('a light user goes before a heavy one, however long the heavy one waits', async (t) => {
  const { lanes, taken } = openWithHeavyTenant(t, 'writes');
  const others = fill(lanes, 'writes', (n) => `t${n}`);
  const order: string[] = [];
  const waiting = ['heavy', 'small'].map(async (tenant) => {
    const slot = await lanes.enter('writes', tenant);
    order.push(tenant);
    lanes.leave(slot);
  });
  for (const slot of [...others, ...taken]) lanes.leave(slot);
  await Promise.all(waiting);
  assert.deepEqual(order, ['small', 'heavy']);
});

test('past usage never limits the service itself', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const lanes = openPoolLanes(10);
  fill(lanes, 'reads', (n) => (n < 3 ? '' : 'full'))
    .slice(3)
    .forEach(lanes.leave);
  now += 10_000;
  void lanes.enter('writes', 'other');
  assert.ok(!(lanes.enter('reads', '') instanceof Promise));
});

test('a request that gives up waiting leaves promptly, and takes no slot afterwards', async () => {
  const lanes = openPoolLanes(10);
  const taken = fill(lanes, 'reads', (n) => `t${n}`);
  const gone = new AbortController();
  const waiting = lanes.enter('reads', 'late', () => gone.signal) as Promise<Turn>;
  const before = lanes.usage('reads').waiting;
  gone.abort(new Error('gone'));
  await assert.rejects(waiting, { message: 'gone' });
  assert.equal(lanes.usage('reads').waiting, before - 1);
  await assert.rejects(lanes.enter('reads', 'late', () => gone.signal) as Promise<Turn>, { message: 'gone' });
  for (const slot of taken) lanes.leave(slot);
  assert.equal(lanes.usage('reads').waiting, 0);
});

test('a heavy spender is listed at the top, however many others spend little', () => {
  const spenders = openTopSpenders();
  for (let i = 0; i < 20_000; i += 1) {
    spenders.add(`small ${i}`, 0.001);
    if (i % 20 === 0) spenders.add(`large ${i % 3}`, 1);
  }
  assert.deepEqual(
    spenders
      .top(3)
      .map(([name]) => name)
      .sort(),
    ['large 0', 'large 1', 'large 2'],
  );
});
