import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { until } from '../../../../test/until.ts';
import { openWorld } from '../../../../test/world.ts';
import { openLargeBodies } from './large-bodies.ts';

const world = await openWorld({ ROLE: 'web' });
const MEGABYTE = 2 ** 20;
const forever = () => new AbortController().signal;

test('a tenant reads four megabytes of large bodies at a time, in order of arrival, while other tenants read theirs', async () => {
  const bodies = openLargeBodies();
  const first = await Promise.all(Array.from({ length: 4 }, () => bodies.enter('a', MEGABYTE, forever())));
  const order: number[] = [];
  const waiting = [0, 1].map(async (n) => {
    const leave = await bodies.enter('a', MEGABYTE, forever());
    order.push(n);
    return leave;
  });
  await Promise.all(Array.from({ length: 4 }, () => bodies.enter('b', MEGABYTE, forever())));
  assert.deepEqual(order, []);
  // Calling it twice must count only once.
  first[0]?.();
  first[0]?.();
  await waiting[0];
  assert.deepEqual(order, [0]);
  first[1]?.();
  await waiting[1];
  assert.deepEqual(order, [0, 1]);
});

test("a body above the tenant's share is read if the tenant reads no other, and all tenants share 32 megabytes", async () => {
  const bodies = openLargeBodies();
  const leaves = await Promise.all(Array.from({ length: 3 }, (_, n) => bodies.enter(`t${n}`, 9 * MEGABYTE, forever())));
  let isIn = false;
  const last = bodies.enter('last', 9 * MEGABYTE, forever()).then(() => {
    isIn = true;
  });
  await new Promise(setImmediate);
  assert.equal(isIn, false);
  leaves[0]?.();
  await last;
});

test('at most 256 bodies of a tenant wait (then 429), and a body leaves the queue when its client disconnects', async () => {
  const bodies = openLargeBodies();
  const leave = await bodies.enter('a', 4 * MEGABYTE, forever());
  const gone = new AbortController();
  const waiting = Array.from({ length: 256 }, () => {
    const one = bodies.enter('a', MEGABYTE, gone.signal);
    one.catch(() => undefined);
    return one;
  });
  await assert.rejects(bodies.enter('a', MEGABYTE, forever()), { code: 'rate_limited', retry_after: 2 });
  gone.abort(new Error('gone'));
  for (const one of waiting) await assert.rejects(one, { message: 'gone' });
  leave();
  await bodies.enter('a', 4 * MEGABYTE, forever());
});

test('large bodies are decoded singly with pauses for other work, and a tenant with one body does not wait for all bodies of another', async () => {
  const bodies = openLargeBodies();
  const seen: string[] = [];
  const work = (name: string) =>
    bodies.inTurn(name, () => {
      const began = performance.now();
      while (performance.now() - began < 5);
      seen.push(name);
    });
  let ticks = 0;
  const ticking = setInterval(() => (ticks += 1), 1);
  const all = [...Array.from({ length: 10 }, () => work('many')), work('one')];
  assert.equal(seen.length, 1, 'the first request starts immediately');
  await Promise.all(all);
  clearInterval(ticking);
  assert.ok(seen.indexOf('one') < 3, seen.join(' '));
  assert.ok(ticks >= 10, `other work ran only ${ticks} times`);
  await assert.rejects(
    bodies.inTurn('many', () => {
      throw new Error('no JSON');
    }),
    { message: 'no JSON' },
  );
});

test('clients that announce large bodies without sending them block only their own workspace, until they disconnect', async () => {
  const [slow, other] = [await world.owner(), await world.owner()];
  const { hostname, port } = new URL(world.address);
  const path = ({ wiki_id }: { wiki_id: string }) => `/v1/wikis/${wiki_id}/preview`;
  // The first request tells the service the workspace of the caller.
  for (const one of [slow, other]) assert.equal((await one.get(`/v1/wikis/${one.wiki_id}`)).status, 200);
  const sockets: Socket[] = [];
  for (let i = 0; i < 4; i += 1) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(
      `POST ${path(slow)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${slow.token}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${MEGABYTE}\r\nExpect: 100-continue\r\n\r\n`,
    );
    // The response 100 means that the body has a place.
    await once(socket, 'data');
  }
  const large = { markdown: 'x '.repeat(50_000) };
  let isAnswered = false;
  const waiting = slow.post(path(slow), large).finally(() => {
    isAnswered = true;
  });
  assert.equal((await other.post(path(other), large)).status, 200);
  assert.equal((await slow.post(path(slow), { markdown: 'small' })).status, 200);
  assert.equal(isAnswered, false);
  for (const socket of sockets) socket.destroy();
  await until('the large request is answered', () => isAnswered);
  assert.equal((await waiting).status, 200);
});
