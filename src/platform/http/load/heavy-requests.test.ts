import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../../../app.ts';
import { openHeavyRequests } from './heavy-requests.ts';

const forever = () => new AbortController().signal;
const turn = () => new Promise(setImmediate);

/** Enters when it is the tenant's turn, and returns a function that leaves. */
function openHeavy() {
  const queue = openHeavyRequests();
  return {
    async enter(tenant: string, abandoned: () => AbortSignal) {
      const entered = await queue.enter(tenant, abandoned);
      return () => queue.leave(entered);
    },
  };
}

test('two heavy requests of a tenant run at once, further ones wait in order, and other tenants do not wait', async () => {
  const heavy = openHeavy();
  const running = await Promise.all([heavy.enter('many', forever), heavy.enter('many', forever)]);
  const order: number[] = [];
  const leaves = [0, 1].map(async (n) => {
    const leave = await heavy.enter('many', forever);
    order.push(n);
    return leave;
  });
  const leaveOther = await heavy.enter('other', forever);
  await turn();
  assert.deepEqual(order, []);
  running[0]?.();
  await turn();
  assert.deepEqual(order, [0]);
  running[1]?.();
  (await leaves[0])?.();
  (await leaves[1])?.();
  leaveOther();
  assert.deepEqual(order, [0, 1]);
});

test('a heavy request leaves the queue with its client, and after 256 waiting requests the next is refused', async () => {
  const heavy = openHeavy();
  const running = await Promise.all([heavy.enter('many', forever), heavy.enter('many', forever)]);
  const gone = new AbortController();
  const waiting = Array.from({ length: 256 }, () => heavy.enter('many', () => gone.signal));
  for (const one of waiting) one.catch(() => undefined);
  await assert.rejects(heavy.enter('many', forever), { code: 'rate_limited' });
  gone.abort(new Error('gone'));
  for (const one of waiting) await assert.rejects(one, { message: 'gone' });
  for (const leave of running) leave();
  for (let i = 0; i < 2; i += 1) await heavy.enter('many', forever);
});

test('searches, suggestions and trees are heavy', () => {
  const heavy = ENDPOINTS.filter(({ isHeavy }) => isHeavy).map(({ path }) => path);
  assert.deepEqual(heavy.sort(), [
    '/v1/wikis/:wiki_id/pages/search',
    '/v1/wikis/:wiki_id/pages/search/facets',
    '/v1/wikis/:wiki_id/pages/search/view',
    '/v1/wikis/:wiki_id/sources/search',
    '/v1/wikis/:wiki_id/suggest',
    '/v1/wikis/:wiki_id/tree',
  ]);
});
