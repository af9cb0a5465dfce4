import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { longTest } from '../../../../test/extent.ts';
import { until } from '../../../../test/until.ts';
import { openWorld } from '../../../../test/world.ts';
import { ENDPOINTS } from '../../../app.ts';
import { isShed, openLoadShedding, SHED_LIMITS } from './load-shedding.ts';

const world = await openWorld({ ROLE: 'web' });

test('under load, previews, exports, imports and searches are refused first, and then all requests', () => {
  const { first, all } = SHED_LIMITS;
  for (const load of [
    { requests: first.requests, delay_ms: 0 },
    { requests: 0, delay_ms: first.delay_ms + 1 },
  ]) {
    assert.deepEqual([isShed(load, true), isShed(load, false)], [true, false]);
  }
  for (const load of [
    { requests: all.requests, delay_ms: 0 },
    { requests: 0, delay_ms: all.delay_ms + 1 },
  ]) {
    assert.deepEqual([isShed(load, true), isShed(load, false)], [true, true]);
  }
  assert.deepEqual([isShed({ requests: 0, delay_ms: 0 }, true)], [false]);
  const waiting = ENDPOINTS.filter(({ canWait }) => canWait).map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(waiting.sort(), [
    'GET /v1/wikis/:wiki_id/pages/search',
    'GET /v1/wikis/:wiki_id/pages/search/facets',
    'GET /v1/wikis/:wiki_id/pages/search/view',
    'GET /v1/wikis/:wiki_id/sources/:source_id/verification',
    'GET /v1/wikis/:wiki_id/sources/search',
    'GET /v1/wikis/:wiki_id/suggest',
    'POST /v1/wikis/:wiki_id/exports',
    'POST /v1/wikis/:wiki_id/imports',
    'POST /v1/wikis/:wiki_id/preview',
  ]);
});

longTest('a single pause of the event loop refuses nothing', async () => {
  const load = openLoadShedding();
  const since = performance.now();
  while (performance.now() - since < 3 * SHED_LIMITS.first.delay_ms);
  // Waits until the samples include the pause.
  for (let i = 0; i < 25; i += 1) {
    await pause(100);
    load.enter('a', true)();
  }
  load.stop();
});

test('requests that have ended, refused or served, no longer count', () => {
  const load = openLoadShedding();
  const leaves = Array.from({ length: SHED_LIMITS.first.requests }, () => load.enter('a', false));
  assert.throws(() => load.enter('a', true), { code: 'overloaded', status: 503, retry_after: 2 });
  load.enter('a', false);
  for (const leave of leaves.slice(0, 2)) leave();
  load.enter('a', true);
  load.stop();
});

test('the tenants with the most requests in progress are refused first, and all tenants at twice the limits', () => {
  const load = openLoadShedding();
  const { first, all } = SHED_LIMITS;
  /** Enters a hundred requests for each of `count` tenants; returns functions that end them. */
  const hundreds = (count: number) =>
    Array.from({ length: count }, (_, i) => Array.from({ length: 100 }, () => load.enter(`busy ${i}`, false))).flat();
  const leaves = hundreds(first.requests / 100);
  for (const tenant of ['few', 'fewer', 'few']) load.enter(tenant, true)();
  assert.throws(() => load.enter('busy 0', true), { code: 'overloaded' });
  for (const leave of leaves) leave();
  hundreds(all.requests / 100);
  for (const canWait of [true, false]) assert.throws(() => load.enter('busy 0', canWait), { code: 'overloaded' });
  assert.throws(() => load.enter('few', true), { code: 'overloaded' }, 'low-priority requests, at twice their limit');
  load.enter('few', false);
  load.stop();
  assert.equal(isShed({ requests: 0, delay_ms: first.delay_ms + 1 }, true, true), false);
  assert.equal(isShed({ requests: 0, delay_ms: 2 * first.delay_ms + 1 }, true, true), true);
});

test('a tenant with any number of requests in progress is refused itself, and no other tenant is', () => {
  const load = openLoadShedding();
  const leaves = Array.from({ length: SHED_LIMITS.all.requests }, () => load.enter('many', false));
  for (const canWait of [true, false]) assert.throws(() => load.enter('many', canWait), { code: 'overloaded' });
  for (let i = 0; i < 50; i += 1) load.enter('few', true);
  for (const leave of leaves) leave();
  load.enter('many', true);
  load.stop();
});

longTest('a thousand clients of one tenant that send their bodies slowly do not affect other tenants', async () => {
  const [slow, other] = [await world.owner(), await world.owner()];
  for (const one of [slow, other]) assert.equal((await one.get(`/v1/wikis/${one.wiki_id}`)).status, 200);
  const search = ({ wiki_id }: { wiki_id: string }) => `/v1/wikis/${wiki_id}/pages/search?query=x`;
  const { hostname, port } = new URL(world.address);
  const sockets = await Promise.all(
    Array.from({ length: 2.2 * SHED_LIMITS.first.requests }, async () => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(
        `PATCH /v1/wikis/${slow.wiki_id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${slow.token}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
      );
      return socket;
    }),
  );
  await until(
    'the tenant has as many requests in progress as it may',
    async () => (await slow.get(search(slow))).status,
    (status) => status === 503,
  );
  for (let i = 0; i < 10; i += 1) {
    assert.equal((await other.get(search(other))).status, 200);
    await pause(100);
  }
  assert.equal((await other.get(`/v1/wikis/${other.wiki_id}`)).status, 200);
  for (const socket of sockets) socket.destroy();
  await until(
    'its searches are served again',
    async () => (await slow.get(search(slow))).status,
    (status) => status === 200,
  );
});

longTest('a search is still served after hundreds of served, refused or abandoned requests', async () => {
  const owner = await world.owner();
  const search = `/v1/wikis/${owner.wiki_id}/pages/search?query=x`;
  for (let i = 0; i < 12; i += 1) {
    await Promise.all(
      Array.from({ length: 10 }, () =>
        Promise.all([
          owner.get('/v1/me'),
          owner.get('/v1/wikis/nothing'),
          world.anonymous.get('/v1/me'),
          world.as('wrong').get('/v1/me'),
          owner.post('/v1/workspaces', 0),
        ]),
      ),
    );
  }
  const { hostname, port } = new URL(world.address);
  for (let i = 0; i < SHED_LIMITS.first.requests; i += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.end(`GET ${search} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`);
    await once(socket, 'finish');
    socket.destroy();
  }
  await until(
    'a search is served',
    async () => (await owner.get(search)).status,
    (status) => status === 200,
  );
});
