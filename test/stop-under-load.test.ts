import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { sql } from '../src/db/sql.ts';
import { startWebService } from './process.ts';

const WRITES = 200;

test('a stop with 200 writes in progress answers all of them, closes their connections, and is orderly', async (t) => {
  const { port, service, world } = await startWebService();
  const owner = await world.owner();
  const agent = new Agent({ keepAlive: true, maxSockets: WRITES });
  const path = `/v1/workspaces/${owner.workspace_id}/wikis`;
  const sent: Promise<unknown>[] = [];
  const answers = Array.from({ length: WRITES }, async (_, i) => {
    const body = JSON.stringify({ title: `Wiki ${i}` });
    const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' };
    const writing = request({ port, path, agent, method: 'POST', headers });
    sent.push(once(writing, 'finish'));
    writing.end(body);
    const [response] = (await once(writing, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return {
      status: response.statusCode ?? 0,
      connection: response.headers.connection,
      retryAfter: response.headers['retry-after'],
      endedAt: performance.now(),
    };
  });
  await Promise.all([...sent, Promise.any(answers)]);
  const stoppedAt = performance.now();
  service.kill('SIGTERM');
  const ended = await service.ended;
  const took = performance.now() - stoppedAt;
  const all = await Promise.all(answers);
  const late = all.filter(({ endedAt }) => endedAt > stoppedAt);
  t.diagnostic(
    `the stop took ${took.toFixed(0)} ms, with ${late.length} writes in progress, of which ${late.filter(({ status }) => status === 201).length} were done`,
  );
  assert.deepEqual(ended, { code: 0, signal: null });
  for (const { status, retryAfter } of all) {
    // What has to wait for longer than a second is told to try again, at another process.
    if (status !== 201) assert.deepEqual([status, retryAfter !== undefined], [503, true]);
  }
  assert.ok(late.length > 0, 'writes were in progress');
  assert.ok(late.some(({ connection }) => connection === 'close'));
  const [row] = await world.db.query<{ count: number }>(sql`select count(*)::int as count from wikis`);
  assert.equal(row?.count, all.filter(({ status }) => status === 201).length + 1, 'what was acknowledged is there');
});
