import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { openServiceDb } from '../src/platform/db/db.ts';
import { SERVICE } from '../src/platform/db/request-context.ts';
import { type Sql, sql } from '../src/platform/db/sql.ts';
import { Bytes, Download } from '../src/platform/http/bytes.ts';
import { EventStream } from '../src/platform/http/event-stream.ts';
import { BUDGETS_MS, budgetOf, openBudget } from '../src/platform/http/handler/budget.ts';
import { cleanUp } from './clean-up.ts';
import { longTest } from './extent.ts';
import { freePort } from './process.ts';
import { until } from './until.ts';
import { makeDatabase, type Owner, openWorld } from './world.ts';

/** Use the budgets of production, because these tests check them. */
Object.assign(BUDGETS_MS, { read: 10_000, write: 30_000 });

/** No kind of work and no tenant can take all connections to the database. */
const DATABASE_URL = await makeDatabase();
const METRICS_PORT = String(await freePort());
const hold: { render?: Promise<void>; receive?: Promise<void> } = {};
const calls = { render: 0, receive: 0 };
const LARGE = 2 ** 20;
const world = await openWorld(
  { DATABASE_URL, METRICS_PORT, ROLE: 'web' },
  {
    services: (services) => ({
      ...services,
      renderPage: async (page, ...requester) => {
        if (page.markdown.length < LARGE) return services.renderPage(page, ...requester);
        calls.render += 1;
        await hold.render;
        // Render a trivial text instead: the tests control how long rendering takes.
        return services.renderPage({ ...page, markdown: 'x' }, ...requester);
      },
      blobs: {
        ...services.blobs,
        receive: async (stream) => {
          calls.receive += 1;
          await hold.receive;
          return services.blobs.receive(stream);
        },
      },
    }),
  },
);
const [attacker, victim] = await Promise.all([world.owner(), world.owner()]);

/** Returns the metrics of the connections, by name and lane. */
async function metrics(): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
  const lines = [...text.matchAll(/^(ibid_\S+?)\{(?:lane|workspace_id)="(\w+)"\} (\S+)$/gm)];
  return Object.fromEntries(lines.map(([, name, lane, value]) => [`${name} ${lane}`, Number(value)]));
}

const READ_WAITS = 'ibid_database_waits_total reads';

async function assertServed({ get, post, wiki_id }: Owner): Promise<void> {
  const pages = `/v1/wikis/${wiki_id}/pages`;
  for (const path of [pages, `${pages}/search?query=x`, '/v1/overview', `/v1/wikis/${wiki_id}/tree`]) {
    const { status, body } = await get(path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  }
  const { status, body } = await post(`${pages}`, { title: 'Meanwhile', markdown: 'text' });
  assert.equal(status, 201, JSON.stringify(body));
}

/** Runs a statement that locks rows, and returns a function that releases them. */
async function lock(statement: Sql): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const ended = world.db.transaction(async (query) => {
    await query(statement);
    locked.resolve();
    await done.promise;
  });
  ended.catch(locked.reject);
  await locked.promise;
  return async () => {
    done.resolve();
    await ended;
  };
}

const keyed = () => ({ 'idempotency-key': randomUUID() });
const statusesOf = (answers: { status: number }[]) => [...new Set(answers.map(({ status }) => status))];

longTest('200 writers of slowly rendered 1 MB pages with a key make no read of another tenant wait', async (t) => {
  const opened = Promise.withResolvers<void>();
  t.after(() => opened.resolve());
  await assertServed(victim);
  const before = (await metrics())[READ_WAITS];
  hold.render = opened.promise;
  const markdown = 'A line of text.\n'.repeat(2 ** 16);
  const writers = Array.from({ length: 200 }, () =>
    attacker.post(`/v1/wikis/${attacker.wiki_id}/pages`, { title: 'Slow', markdown }, keyed()),
  );
  // The bodies of the other writers are not read yet: a tenant may have four megabytes in progress at a time.
  await until(
    'as many are rendered as its share allows',
    () => calls.render,
    (count) => count >= 3,
  );
  await assertServed(victim);
  assert.equal((await metrics())[READ_WAITS], before);
  const used = await metrics();
  assert.equal(used['ibid_database_connections_used writes'], 0, 'a page that is rendered holds no connection');
  // Now the rendered pages are written, while the other tenant reads.
  opened.resolve();
  let reads = 0;
  let isOver = false;
  const written = Promise.all(writers).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    assert.equal((await victim.get(`/v1/wikis/${victim.wiki_id}/pages?limit=1`)).status, 200);
    reads += 1;
  }
  // On a slow machine, some writers may time out in the queue.
  assert.deepEqual(
    statusesOf(await written).filter((status) => status !== 503),
    [201],
  );
  assert.ok(reads > 0);
  assert.equal((await metrics())[READ_WAITS], before);
});

test('writers that wait for one row take at most their share of the connections; the others queue without one', async (t) => {
  const release = await lock(sql`select 1 from wikis where wiki_id = ${attacker.wiki_id} for update`);
  t.after(release);
  const writers = Array.from({ length: 100 }, () =>
    attacker.post(`/v1/wikis/${attacker.wiki_id}/pages`, { title: 'Locked', markdown: 'x' }, keyed()),
  );
  const waiting = await until('the others wait', metrics, (seen) => (seen['ibid_database_waiting writes'] ?? 0) >= 90);
  const before = waiting[READ_WAITS];
  assert.ok((waiting['ibid_database_connections_used writes'] ?? 0) <= 4, JSON.stringify(waiting));
  await assertServed(victim);
  assert.equal((await metrics())[READ_WAITS], before);
  await release();
  assert.deepEqual(statusesOf(await Promise.all(writers)), [201]);
});

test('a tenant whose queue is full gets 429 with Retry-After at once, and others are served', async (t) => {
  const release = await lock(sql`select 1 from wikis where wiki_id = ${attacker.wiki_id} for update`);
  t.after(release);
  const writers = Array.from({ length: 300 }, () =>
    attacker.patch(`/v1/wikis/${attacker.wiki_id}`, { title: 'Locked' }),
  );
  const refused = await Promise.race(writers);
  assert.equal(refused.status, 429, JSON.stringify(refused.body));
  assert.equal(refused.headers.get('retry-after'), '2');
  await assertServed(victim);
  await release();
  const answers = await Promise.all(writers);
  assert.deepEqual(statusesOf(answers).sort(), [200, 429]);
  assert.ok(answers.filter(({ status }) => status === 200).length >= 200);
});

test('slow reads of one tenant leave connections to the reads of others', async (t) => {
  const release = await lock(sql`lock table attachments in access exclusive mode`);
  t.after(release);
  const slow = Array.from({ length: 50 }, () => attacker.get(`/v1/wikis/${attacker.wiki_id}/pages/x/attachments`));
  await until('they wait', metrics, (seen) => (seen['ibid_database_waiting reads'] ?? 0) > 0);
  for (let i = 0; i < 5; i += 1) {
    assert.equal((await victim.get(`/v1/wikis/${victim.wiki_id}/pages`)).status, 200);
  }
  await release();
  assert.deepEqual(statusesOf(await Promise.all(slow)), [404]);
});

test('a request leaves the queue for a connection when its client disconnects', async (t) => {
  const release = await lock(sql`lock table attachments in access exclusive mode`);
  t.after(release);
  const leaving = new AbortController();
  const path = `${world.address}/v1/wikis/${attacker.wiki_id}/pages/x/attachments`;
  const headers = { authorization: `Bearer ${attacker.token}` };
  const slow = Array.from({ length: 50 }, () => fetch(path, { headers, signal: leaving.signal }));
  await until('they wait', metrics, (seen) => (seen['ibid_database_waiting reads'] ?? 0) > 40);
  leaving.abort();
  await Promise.allSettled(slow);
  await until('none waits', metrics, (seen) => seen['ibid_database_waiting reads'] === 0);
});

test('uploads to a store that hangs hold no connection', async (t) => {
  const opened = Promise.withResolvers<void>();
  t.after(() => opened.resolve());
  hold.receive = opened.promise;
  const uploads = Array.from({ length: 50 }, () => {
    const body = new FormData();
    body.append('files', new Blob(['# A file']), 'a.md');
    return attacker.send('POST', `/v1/wikis/${attacker.wiki_id}/uploads`, { body, headers: keyed() });
  });
  await until(
    'all are received',
    () => calls.receive,
    (count) => count >= 50,
  );
  const used = await metrics();
  assert.deepEqual(
    ['reads', 'writes', 'jobs'].map((lane) => used[`ibid_database_connections_used ${lane}`]),
    [0, 0, 0],
  );
  await assertServed(victim);
  hold.receive = undefined;
  opened.resolve();
  assert.deepEqual(statusesOf(await Promise.all(uploads)), [201]);
});

test('a statement that takes too long is cancelled, with an error of its own', async () => {
  const release = await lock(sql`lock table attachments in access exclusive mode`);
  const waiting = victim.get(`/v1/wikis/${victim.wiki_id}/pages/x/attachments`);
  await until('it is ended', async () => {
    const ended = await world.db.query(sql`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`);
    return ended.length;
  });
  const { status, body, headers } = await waiting;
  await release();
  assert.deepEqual([status, body.error], [503, 'time_limit_exceeded']);
  assert.equal(headers.get('retry-after'), '2');
});

test('a read has 10 seconds in the database, a write and a job 30', async () => {
  const db = openServiceDb({ connection: { connectionString: DATABASE_URL }, connections: 1 });
  cleanUp(() => db.close());
  const timeout = sql`select current_setting('statement_timeout') as timeout`;
  const own = db.in(SERVICE);
  assert.deepEqual(await own.query(timeout), [{ timeout: '10s' }]);
  assert.deepEqual(await own.write(timeout), [{ timeout: '30s' }]);
  assert.deepEqual(await own.transaction(async (query) => [await query(sql`select 1`), await query(timeout)][1]), [
    { timeout: '30s' },
  ]);
  assert.deepEqual(await db.in({ who: 'job' }).query(timeout), [{ timeout: '30s' }]);
});

test('a statement has no more time than the rest of its request', async () => {
  const db = openServiceDb({ connection: { connectionString: DATABASE_URL }, connections: 1 });
  cleanUp(() => db.close());
  const within = (ms: number) => db.in(SERVICE, { left: () => ms, abandoned: () => new AbortController().signal });
  const timeout = sql`select current_setting('statement_timeout') as timeout`;
  assert.deepEqual(await within(29_000).query(timeout), [{ timeout: '10s' }]);
  assert.deepEqual(await within(2_500).query(timeout), [{ timeout: '2500ms' }]);
  assert.deepEqual(await within(2_500).transaction((query) => query(timeout)), [{ timeout: '2500ms' }]);
  await assert.rejects(within(-1).write(sql`select pg_sleep(10)`), { code: '57014' });
});

test('a request that exceeds its time budget gets an error that says so, whatever it waits for', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const budget = openBudget(response, BUDGETS_MS.read);
  const signal = budget.abandoned();
  t.mock.timers.tick(BUDGETS_MS.read + 1);
  assert.deepEqual([signal.aborted, signal.reason.code, signal.reason.status], [true, 'time_limit_exceeded', 503]);
  for (const endpoint of ENDPOINTS) {
    const ms = budgetOf(endpoint);
    const isStream =
      endpoint.consumes !== undefined || endpoint.reply === EventStream || [Bytes, Download].includes(endpoint.reply);
    assert.equal(ms, isStream ? undefined : endpoint.method === 'GET' ? 10_000 : 30_000, endpoint.path);
  }
});

test('the metrics name the workspaces that used connections longest', async () => {
  const seen = await metrics();
  assert.ok((seen[`ibid_workspace_database_seconds ${attacker.workspace_id}`] ?? 0) > 0, JSON.stringify(seen));
});
