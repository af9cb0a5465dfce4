import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../../test/until.ts';
import { openWorld } from '../../../test/world.ts';
import { ENDPOINTS } from '../../app.ts';
import { isShed, openLoadShedding, SHED_LIMITS } from './load-shedding.ts';

/** Under load, what can wait is refused before reads and saves are. */
test('a late event loop and many requests refuse previews, exports, imports and searches first, and then everything', () => {
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
    'GET /v1/wikis/:wiki_id/sources/:source_id/verification',
    'GET /v1/wikis/:wiki_id/sources/search',
    'GET /v1/wikis/:wiki_id/suggest',
    'POST /v1/wikis/:wiki_id/exports',
    'POST /v1/wikis/:wiki_id/imports',
    'POST /v1/wikis/:wiki_id/preview',
  ]);
});

test('a single pause of the event loop refuses nothing', async () => {
  const load = openLoadShedding();
  const since = performance.now();
  while (performance.now() - since < 3 * SHED_LIMITS.first.delay_ms);
  // The pause is seen by the sample of a window.
  for (let i = 0; i < 25; i += 1) {
    await pause(100);
    load.enter(true);
    load.leave();
  }
  load.stop();
});

test('requests that have ended, refused or served, are counted out', () => {
  const load = openLoadShedding();
  for (let i = 0; i < SHED_LIMITS.first.requests; i += 1) load.enter(false);
  assert.throws(() => load.enter(true), { code: 'overloaded', status: 503, retry_after: 2 });
  load.enter(false);
  for (let i = 0; i < 2; i += 1) load.leave();
  load.enter(true);
  load.stop();
});

test('after hundreds of requests that were served, refused or abandoned a search is still served', async () => {
  const world = await openWorld({ ROLE: 'web' });
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
