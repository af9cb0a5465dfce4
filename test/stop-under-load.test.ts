import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { GIVE_UP_MS } from '../src/platform/http/load/stop-requests.ts';
import { startWebService } from './process.ts';

const WRITES = 200;

test('a stop with 200 writes in progress answers all of them, closes their connections, and exits with 0', async (t) => {
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
    // A request that has to wait for longer than a second gets Retry-After, to be retried at another process.
    if (status !== 201) assert.deepEqual([status, retryAfter !== undefined], [503, true]);
  }
  assert.ok(late.length > 0, 'writes were in progress');
  assert.ok(late.some(({ connection }) => connection === 'close'));
  const [row] = await world.db.query<{ count: number }>(sql`select count(*)::int as count from wikis`);
  assert.equal(row?.count, all.filter(({ status }) => status === 201).length + 1, 'what was acknowledged is there');
});

/** Returns requests of every kind that may have to wait, by path below /v1 and body. */
function waitingRequests(wiki_id: string, n: number): [string, string, object | undefined][] {
  const markdown = `# Page ${n}\n\n${'Some *words* with [a link](https://example.com) and `code`. '.repeat(250)}`;
  const wiki = `/v1/wikis/${wiki_id}`;
  return [
    ['POST', `${wiki}/pages`, { title: `Page ${n}`, markdown }],
    ['POST', `${wiki}/preview`, { markdown }],
    ['POST', `${wiki}/pages`, { title: `Large ${n}`, markdown: markdown.repeat(6) }],
    ['GET', `${wiki}/pages/search?query=words`, undefined],
    ['GET', `${wiki}/tree`, undefined],
  ];
}

for (const renderers of ['cold', 'busy']) {
  test(`a stop answers every waiting request, with 503 and Retry-After if it was not done, while renderers are ${renderers}`, async (t) => {
    const { port, service, world } = await startWebService();
    const owner = await world.owner();
    const agent = new Agent({ keepAlive: true, maxSockets: 500 });
    const ask = async ([method, path, body]: [string, string, object | undefined]) => {
      const text = body && JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${owner.token}`,
        ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      };
      const asking = request({ port, path, agent, method, headers });
      const isSent = once(asking, 'finish');
      asking.end(text);
      const answer = once(asking, 'response').then(async ([response]: IncomingMessage[]) => {
        response?.resume();
        await once(response as IncomingMessage, 'end');
        const { statusCode: status = 0, headers = {} } = response ?? {};
        return { path, status, retryAfter: headers['retry-after'], endedAt: performance.now() };
      });
      answer.catch(() => undefined);
      await isSent;
      return { answer };
    };
    const kinds = (n: number) => waitingRequests(owner.wiki_id, n);
    if (renderers === 'busy') for (const kind of kinds(0)) await (await ask(kind)).answer;
    const asked = await Promise.all(Array.from({ length: 24 }, (_, i) => kinds(i + 1).map(ask)).flat());
    const stoppedAt = performance.now();
    service.kill('SIGTERM');
    const ended = await service.ended;
    const answers = await Promise.allSettled(asked.map(({ answer }) => answer));
    const lost = answers.filter(({ status }) => status === 'rejected');
    assert.deepEqual(lost, [], `${lost.length} of ${answers.length} connections were reset`);
    const done = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const refused = done.filter(({ status }) => status >= 300);
    for (const { status, path, retryAfter } of refused) {
      assert.deepEqual([status, retryAfter !== undefined], [503, true], path);
    }
    t.diagnostic(`${refused.length} of ${done.length} were refused`);
    assert.ok(refused.length > 0, 'requests were waiting');
    const first = Math.min(...refused.map(({ endedAt }) => endedAt)) - stoppedAt;
    assert.ok(first < GIVE_UP_MS, 'what has not begun is refused while what runs has time to end');
    assert.deepEqual(ended, { code: 0, signal: null });
    assert.doesNotMatch(service.stdout(), /internal_error/);
    const [row] = await world.db.query<{ count: number }>(sql`
      select count(*)::int as count from pages where title ~ '^(Page|Large) '`);
    const saved = done.filter(({ path, status }) => path.endsWith('/pages') && status === 201).length;
    assert.ok((row?.count ?? 0) >= saved, 'what was acknowledged is there');
  });
}
