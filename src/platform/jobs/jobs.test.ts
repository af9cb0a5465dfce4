import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { longTest } from '../../../test/extent.ts';
import { freePort, makeFolder, spawnService, worldOfProcess } from '../../../test/process.ts';
import { until } from '../../../test/until.ts';
import { type Client, makeDatabase, type Owner, openWorld, waitForUpload } from '../../../test/world.ts';
import { newId } from '../core/ids.ts';
import { sql } from '../db/sql.ts';

/** The API has two database connections and no worker; another service runs the jobs. */
const DATABASE_URL = await makeDatabase();
const DATA_DIR = join(await makeFolder(), 'data');
const world = await openWorld({ DATABASE_URL, DATA_DIR, ROLE: 'web', DATABASE_CONNECTIONS: '2' });
await openWorld({ DATABASE_URL, DATA_DIR, ROLE: 'worker' });
const { db } = world;

interface Event {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

interface Stream {
  status: number;
  events: Event[];
  comments(): number;
  isOver(): boolean;
  stop(): void;
}

/** Follows a job like a browser's EventSource. */
async function follow(address: string, client: Client, path: string, seen?: string): Promise<Stream> {
  const stopping = new AbortController();
  const response = await fetch(`${address}${path}/events`, {
    headers: { authorization: `Bearer ${client.token}`, ...(seen && { 'last-event-id': seen }) },
    signal: stopping.signal,
  });
  const events: Event[] = [];
  let comments = 0;
  let over = false;
  const read = async () => {
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString('utf8');
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
        );
        const { id = '', event = '', data } = fields;
        if (data !== undefined) events.push({ id, event, data: JSON.parse(data) });
        else if ('' in fields) comments += 1;
      }
    }
  };
  read()
    .catch(() => undefined)
    .finally(() => {
      over = true;
    });
  return {
    status: response.status,
    events,
    comments: () => comments,
    isOver: () => over,
    stop: () => stopping.abort(),
  };
}

/** Waits for the current state, the first event of each stream. */
async function receives({ events }: Stream): Promise<void> {
  await until(
    'the current state of the job',
    () => events,
    ({ length }) => length === 1,
  );
}

/** Waits until the service ends the stream. */
async function streamEnds({ events, isOver }: Stream): Promise<void> {
  await until(
    'the service ends the stream',
    () => ({ events, isOver: isOver() }),
    (seen) => seen.isOver,
  );
}

/** Creates a job that stays queued for longer than any test; returns its path. */
async function waitingJob({ wiki_id }: Owner): Promise<string> {
  const job_id = newId('job');
  await db.query(sql`
    insert into jobs (wiki_id, job_id, kind, run_after) values (${wiki_id}, ${job_id}, 'ingest', now() + interval '1 day')`);
  return `/v1/wikis/${wiki_id}/jobs/${job_id}`;
}

async function uploadMany(client: Owner, files: number): Promise<{ upload_id: string; job: string }> {
  const form = new FormData();
  for (let i = 0; i < files; i += 1)
    form.append('files', new Blob([`# Page ${i}\n\n${'*Words*. '.repeat(50)}`]), `${i}.md`);
  const { status, body } = await client.send('POST', `/v1/wikis/${client.wiki_id}/uploads`, { body: form });
  assert.equal(status, 201, JSON.stringify(body));
  const { body: jobs } = await client.get(`/v1/wikis/${client.wiki_id}/jobs?upload_id=${body.upload_id}`);
  return { upload_id: body.upload_id, job: `/v1/wikis/${client.wiki_id}/jobs/${jobs[0].job_id}` };
}

test('a job can be followed from its current state to its end, even if another process runs it', async () => {
  const owner = await world.owner();
  const { job } = await uploadMany(owner, 120);
  const stream = await follow(world.address, owner, job);
  assert.equal(stream.status, 200);
  await streamEnds(stream);
  const { body: ended } = await owner.get(job);
  assert.ok(stream.events.length >= 2, 'there must be more than one state');
  assert.deepEqual(stream.events.at(-1)?.data, ended);
  assert.equal(ended.status, 'completed');
  const progress = stream.events.map(({ data }) => Number(data.progress));
  assert.deepEqual(
    progress,
    progress.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(stream.events.map(({ id }) => id)).size, stream.events.length, 'no state is sent twice');
  assert.ok(stream.events.every(({ event }) => event === 'job'));

  const again = await follow(world.address, owner, job);
  await streamEnds(again);
  assert.deepEqual(again.events, stream.events.slice(-1));
  assert.equal(
    (await follow(world.address, owner, job, again.events[0]?.id)).status,
    204,
    'the stream has nothing more to send',
  );
  const head = await owner.send('HEAD', `${job}/events`);
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream; charset=utf-8']);
});

test('a reopened stream sends only new states, and heartbeats', async () => {
  const owner = await world.owner();
  const job = await waitingJob(owner);
  const first = await follow(world.address, owner, job);
  await receives(first);
  first.stop();
  const again = await follow(world.address, owner, job, first.events[0]?.id);
  await until('the stream has started', again.comments);
  assert.equal(again.events.length, 0);
  await owner.post(`${job}/cancel`);
  await streamEnds(again);
  assert.deepEqual(
    again.events.map(({ data }) => data.status),
    ['cancelled'],
  );
});

test('a stream ends when its key is revoked or its reader is no longer a member, and other users cannot open one', async () => {
  const owner = await world.owner();
  const job = await waitingJob(owner);
  const [member, leaver, stranger] = [
    await world.member(owner.workspace_id, 'viewer'),
    await world.member(owner.workspace_id, 'member'),
    await world.owner(),
  ];
  assert.equal((await world.anonymous.get(`${job}/events`)).status, 401);
  assert.equal((await stranger.get(`${job}/events`)).status, 403);
  assert.equal((await stranger.get(`${job.replace(owner.wiki_id, stranger.wiki_id)}/events`)).status, 404);
  const streams = [await follow(world.address, member, job), await follow(world.address, leaver, job)];
  await Promise.all(streams.map(receives));
  await db.query(sql`update api_keys set revoked_at = now() where user_id = ${member.user_id}`);
  await owner.post(`/v1/workspaces/${owner.workspace_id}/members/${leaver.membership_id}/deactivate`);
  await db.query(sql`update jobs set progress = 1, updated_at = now() where job_id = ${job.split('/').at(-1)}`);
  await Promise.all(streams.map(streamEnds));
  assert.deepEqual(
    streams.map(({ events }) => events.length),
    [1, 1],
    'a reader who lost access gets no further state',
  );
});

test('a credential follows at most twenty jobs at once, and streams hold no database connection', async () => {
  const owner = await world.owner();
  const other = await world.member(owner.workspace_id, 'viewer');
  const job = await waitingJob(owner);
  const streams: Stream[] = [];
  for (let i = 0; i < 20; i += 1) streams.push(await follow(world.address, owner, job));
  await Promise.all(streams.map(receives));
  const refused = await owner.get(`${job}/events`);
  assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limited']);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  const others = await follow(world.address, other, job);
  await receives(others);
  assert.equal((await owner.get(job)).status, 200);
  streams[0]?.stop();
  await until(
    'a slot for another stream is free',
    async () => {
      const next = await follow(world.address, owner, job);
      next.stop();
      return next.status;
    },
    (status) => status === 200,
  );
  for (const stream of [...streams, others]) stream.stop();
});

test('a stopping service ends its streams without waiting for them', async () => {
  const address = `http://127.0.0.1:${await freePort()}`;
  const service = spawnService({ PORT: new URL(address).port, DATABASE_URL, DATA_DIR, ROLE: 'web' });
  await service.ready;
  const there = worldOfProcess(address, DATABASE_URL);
  cleanUp(() => there.db.close());
  const owner = await there.owner();
  const stream = await follow(address, owner, await waitingJob(owner));
  await receives(stream);
  service.kill('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  await streamEnds(stream);
});

longTest('a cancelled job stops soon, its upload fails, and its sources are kept and counted', async () => {
  const owner = await world.owner();
  const { wiki_id } = owner;
  const { upload_id, job } = await uploadMany(owner, 300);
  await until(
    'the job is running',
    async () => (await owner.get(job)).body,
    ({ progress }) => progress > 0,
  );
  const cancelled = await owner.post(`${job}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelled']);
  assert.equal(cancelled.body.error, 'cancelled: the job was cancelled');
  assert.ok(cancelled.body.finished_at);
  const { body: upload } = await owner.get(`/v1/wikis/${wiki_id}/uploads/${upload_id}`);
  assert.deepEqual(
    [upload.status, upload.status_label, upload.error],
    ['failed', 'failed', 'cancelled: the upload was cancelled'],
  );
  const countSources = async () =>
    (await db.query<{ n: number }>(sql`select count(*)::int as n from sources where wiki_id = ${wiki_id}`))[0]?.n ?? 0;
  const made = await countSources();
  assert.ok(made > 0 && made < 300, `${made} sources`);
  assert.equal(upload.source_count, made);
  for (const path of [`${job}/cancel`, `/v1/wikis/${wiki_id}/uploads/${upload_id}/cancel`]) {
    assert.equal((await owner.post(path)).status, 409);
  }

  // The worker is free for the next job of the wiki, and processes no further file of the cancelled job.
  const next = await world.upload(owner, wiki_id, { 'next.md': '# Next' });
  assert.equal(next.body.status, 'completed');
  assert.equal(await countSources(), made + 1);

  const retried = await owner.post(`/v1/wikis/${wiki_id}/uploads/${upload_id}/retry`);
  assert.deepEqual([retried.status, retried.body.status], [200, 'queued']);
  const { body: ended } = await waitForUpload(owner, wiki_id, upload_id);
  assert.deepEqual([ended.status, ended.source_count], ['completed', 300]);
  assert.equal(await countSources(), 301);
  const { body: jobs } = await owner.get(`/v1/wikis/${wiki_id}/jobs?upload_id=${upload_id}`);
  assert.deepEqual(
    jobs.map(({ status }: { status: string }) => status),
    ['cancelled', 'completed'],
  );
});

test('after many concurrent cancellations and retries an upload has at most one job and no duplicate source', async () => {
  const owner = await world.owner();
  const { wiki_id } = owner;
  const { upload_id } = await uploadMany(owner, 60);
  const path = `/v1/wikis/${wiki_id}/uploads/${upload_id}`;
  for (let round = 0; round < 6; round += 1) {
    const answers = await Promise.all(
      ['cancel', 'retry', 'cancel', 'retry', 'cancel'].map((verb) => owner.post(`${path}/${verb}`)),
    );
    for (const { status, body } of answers)
      assert.ok(status === 200 || body.error === 'upload_state', JSON.stringify(body));
  }
  await owner.post(`${path}/retry`);
  const { body: ended } = await waitForUpload(owner, wiki_id, upload_id);
  assert.deepEqual([ended.status, ended.source_count], ['completed', 60], JSON.stringify(ended));
  const [counted] = await db.query(sql`
    select (select count(*)::int from jobs where upload_id = ${upload_id} and finished_at is null) as open,
      (select count(*)::int from sources where wiki_id = ${wiki_id}) as sources,
      (select count(*)::int from revisions where wiki_id = ${wiki_id}) as revisions`);
  assert.deepEqual(counted, { open: 0, sources: 60, revisions: 60 });
});

longTest('a job that always ends its worker fails with the reason after a limited number of attempts', async () => {
  const database = await makeDatabase();
  const dataDir = join(await makeFolder(), 'data');
  const alone = await openWorld({ DATABASE_URL: database, DATA_DIR: dataDir, ROLE: 'web' });
  const owner = await alone.owner();
  const { wiki_id } = owner;
  // Large enough for the worker to be killed before it has written anything.
  const form = new FormData();
  form.append('files', new Blob([`# Long\n\n${'*word* [link](x.md)\n\n'.repeat(40_000)}`]), 'long.md');
  const { body: upload } = await owner.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
  const jobOf = async () => (await owner.get(`/v1/wikis/${wiki_id}/jobs?upload_id=${upload.upload_id}`)).body[0];
  // Counts three of the job's five attempts as already lost in the same way.
  await alone.db.query(sql`update jobs set failures = 3`);
  let kills = 0;
  for (let before = await jobOf(); before.finished_at === undefined && kills < 10; before = await jobOf()) {
    const worker = spawnService({ DATABASE_URL: database, DATA_DIR: dataDir, ROLE: 'worker' });
    await until('a worker has the job', jobOf, ({ attempt }) => attempt > before.attempt);
    if (kills >= 2) await until('the job has ended', jobOf, ({ finished_at }) => finished_at !== undefined);
    worker.kill('SIGKILL');
    await worker.ended;
    kills += 1;
    await alone.db.query(sql`delete from workers`);
  }
  const job = await jobOf();
  assert.deepEqual([job.status, job.attempt], ['failed', 3], JSON.stringify(job));
  assert.match(job.error, /^worker_lost: gave up after \d attempts: every worker process ended or stalled$/);
  const { body: ended } = await owner.get(`/v1/wikis/${wiki_id}/uploads/${upload.upload_id}`);
  assert.deepEqual([ended.status, ended.error], ['failed', job.error]);
  assert.deepEqual((await owner.get(`/v1/wikis/${wiki_id}/sources`)).body, []);
});

longTest('an orderly stop does not count as a failed attempt of a running job', async () => {
  const database = await makeDatabase();
  const dataDir = join(await makeFolder(), 'data');
  const alone = await openWorld({ DATABASE_URL: database, DATA_DIR: dataDir, ROLE: 'web' });
  const owner = await alone.owner();
  const { job } = await uploadMany(owner, 400);
  const worker = spawnService({ DATABASE_URL: database, DATA_DIR: dataDir, ROLE: 'worker' });
  await until('the job has made progress', async () => (await owner.get(job)).body.progress > 0);
  worker.kill('SIGTERM');
  assert.equal((await worker.ended).code, 0);
  const [row] = await alone.db.query(sql`select status, attempt, failures from jobs`);
  assert.deepEqual(row, { status: 'queued', attempt: 1, failures: 0 });
});

longTest(
  'an attempt whose worker dies counts, and a background job without attempts left is kept as failed',
  async () => {
    const alone = await openWorld({ DATABASE_URL: await makeDatabase() });
    await alone.db.query(sql`
    insert into background_jobs (name, lane, key, input, status, attempt, failures, worker_id)
    values ('send-sign-in-mail', 'mail', 'lost', '{}', 'running', 5, 5, 'a worker that is gone')`);
    const rowOf = async () =>
      (await alone.db.query(sql`select status, error from background_jobs where key = 'lost'`))[0];
    const row = await until('the job is not tried again', rowOf, (seen) => seen?.status === 'failed');
    assert.deepEqual(row, { status: 'failed', error: 'every process that ran it ended' });
  },
);
