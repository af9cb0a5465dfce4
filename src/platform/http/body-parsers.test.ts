import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import { bodyTimeout } from './body-parsers.ts';

/** The web application calls the API in-process, without a connection that could be closed. */
test('an in-process call whose body is refused unread has no timeout that crashes the process', async (t) => {
  const app = fastify({ bodyLimit: 10 });
  app.addHook('onRequest', async (request) => bodyTimeout(request, false));
  app.post('/', () => 'read');
  await app.ready();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const answer = await app.inject({ method: 'POST', url: '/', payload: { text: 'x'.repeat(100) } });
  assert.equal(answer.statusCode, 413);
  t.mock.timers.tick(60_000);
});
