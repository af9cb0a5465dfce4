import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { addressOf } from './database-address.ts';
import { extent, longTest } from './extent.ts';
import { freePort, makeFolder, type ServiceProcess, spawnService, worldOfProcess } from './process.ts';
import { until } from './until.ts';
import { type Client, makeDatabase, type World, waitForUpload } from './world.ts';

/** Enough files that a job has batches before and after its worker is stopped. */
const FILES = extent(240, 120);

async function uploadMany(client: Client, wiki_id: string): Promise<string> {
  const form = new FormData();
  for (let i = 0; i < FILES; i += 1) {
    form.append('files', new Blob([`# Page ${i}\n\n${'*Words*, [links](1.md). '.repeat(30)}\n`]), `${i}.md`);
  }
  const { status, body } = await client.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
  assert.equal(status, 201, JSON.stringify(body));
  return body.upload_id;
}

async function jobOf(client: Client, wiki_id: string, upload_id: string) {
  const { status, body } = await client.get(`/v1/wikis/${wiki_id}/jobs?upload_id=${upload_id}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body[0];
}

const underWay = (client: Client, wiki_id: string, upload_id: string) =>
  until(
    'the job is under way',
    () => jobOf(client, wiki_id, upload_id),
    ({ progress }) => progress > 0,
  );

/** Asserts that the upload completed and made each of its records once. */
async function assertMadeOnce(world: World, client: Client, wiki_id: string, upload_id: string) {
  const { body: upload } = await client.get(`/v1/wikis/${wiki_id}/uploads/${upload_id}`);
  assert.equal(upload.status_label, 'ready', JSON.stringify(upload));
  assert.equal(upload.summary, `${FILES} files: ${FILES} new sources, ${FILES} new pages.`);
  const [counted] = await world.db.query(sql`
    select (select count(*)::int from sources where wiki_id = ${wiki_id}) as sources,
      (select count(*)::int from revisions where wiki_id = ${wiki_id}) as revisions,
      (select count(*)::int from page_sources where wiki_id = ${wiki_id}) as page_sources,
      (select count(*)::int from audit_events where type = 'upload.completed'
        and target_id = ${upload_id}) as events`);
  assert.deepEqual(counted, { sources: FILES, revisions: FILES, page_sources: FILES, events: 1 });
}

test('a worker takes over from a dead or suspended one, and nothing is made twice', async (t) => {
  const database = await makeDatabase();
  const dataDir = join(await makeFolder(), 'data');
  const port = await freePort();
  const env = { DATABASE_URL: database, DATA_DIR: dataDir };
  const startWorker = async () => {
    const worker = spawnService({ ...env, ROLE: 'worker' });
    await worker.ready;
    return worker;
  };
  const web = spawnService({ ...env, ROLE: 'web', PORT: String(port) });
  const [, first, second] = await Promise.all([web.ready, startWorker(), startWorker()]);
  const world = worldOfProcess(`http://127.0.0.1:${port}`, database);
  cleanUp(() => world.db.close());

  // The second worker is suspended while the first is killed, to measure the time without a worker.
  second.kill('SIGSTOP');
  const owner = await world.owner();
  const { wiki_id } = owner;
  const upload_id = await uploadMany(owner, wiki_id);
  await underWay(owner, wiki_id, upload_id);
  first.kill('SIGKILL');
  await first.ended;
  const killed = performance.now();
  const labels: string[] = [];
  const seen = async () => {
    const { body } = await owner.get(`/v1/wikis/${wiki_id}/uploads/${upload_id}`);
    if (labels.at(-1) !== body.status_label) labels.push(body.status_label);
    return { upload: body, job: await jobOf(owner, wiki_id, upload_id) };
  };
  await until('the worker is missed', seen, ({ upload }) => upload.status_label === 'unknown');
  t.diagnostic(`missed ${((performance.now() - killed) / 1000).toFixed(1)} s after its death`);
  second.kill('SIGCONT');
  await until('the upload has ended', seen, ({ upload }) => upload.finished_at !== undefined);
  assert.deepEqual(labels, ['running', 'unknown', 'running', 'ready']);
  await assertMadeOnce(world, owner, wiki_id, upload_id);
  assert.equal((await jobOf(owner, wiki_id, upload_id)).attempt, 2, 'The second worker must have taken over.');

  // Now the second worker is suspended during a job, and resumed after a third one has finished that job.
  const { next, next_id } = await suspendedDuringJob(world, second);
  await world.db.query(
    sql`delete from workers where worker_id = (select worker_id from jobs where upload_id = ${next_id})`,
  );
  const third = await startWorker();
  await waitForUpload(next, next.wiki_id, next_id);
  second.kill('SIGCONT');
  const lost = (log: string) => /given to another attempt/.test(log);
  await until('the worker that stood still sees that it lost the job', second.stdout, lost);
  await assertMadeOnce(world, next, next.wiki_id, next_id);
  for (const process of [second, third, web]) process.kill('SIGTERM');
  for (const process of [second, third, web]) assert.equal((await process.ended).code, 0, process.stdout());
});

/** Returns an upload whose job is running at the suspended worker. */
async function suspendedDuringJob(world: World, worker: ServiceProcess) {
  for (let tries = 1; ; tries += 1) {
    assert.ok(
      tries <= 10,
      'The worker must stand still in the middle of a job, and was faster ten times; give it more files.',
    );
    const next = await world.owner();
    const next_id = await uploadMany(next, next.wiki_id);
    await underWay(next, next.wiki_id, next_id);
    await suspendWorker(world, worker);
    if ((await jobOf(next, next.wiki_id, next_id)).status === 'running') return { next, next_id };
    // The worker finished before it was suspended.
    worker.kill('SIGCONT');
  }
}

/** Suspends a worker while it has no open transaction, whose locks would block all others. */
async function suspendWorker(world: World, worker: ServiceProcess): Promise<void> {
  await until(
    'the worker stands still between two transactions',
    async () => {
      worker.kill('SIGSTOP');
      const open = await world.db.query(sql`
        select query from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`);
      if (open.length > 0) worker.kill('SIGCONT');
      return open;
    },
    (open) => open.length === 0,
  );
}

longTest(
  'while an external database is unavailable, requests get 503, and jobs continue by themselves when it is back',
  async () => {
    const folder = await makeFolder();
    const startDatabase = () => startPostgres({ dataDir: join(folder, 'database'), log: () => undefined });
    let database = await startDatabase();
    cleanUp(() => database.stop());
    const url = addressOf(database.connection);
    const address = `http://127.0.0.1:${await freePort()}`;
    const service = spawnService({ PORT: new URL(address).port, DATABASE_URL: url, DATA_DIR: join(folder, 'data') });
    await service.ready;
    const world = worldOfProcess(address, url);
    cleanUp(() => world.db.close());
    const owner = await world.owner();
    const { wiki_id } = owner;
    const upload_id = await uploadMany(owner, wiki_id);

    await underWay(owner, wiki_id, upload_id);
    await database.stop();
    const form = new FormData();
    form.append('files', new Blob(['x']), 'x.md');
    const answers = await Promise.all([
      owner.get('/v1/workspaces'),
      owner.post('/v1/workspaces', { name: 'x' }),
      owner.post('/v1/onboarding'),
      owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, { email: 'a@example.com', role: 'member' }),
      owner.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form }),
      owner.post('/v1/workspaces', { name: 5 }),
      owner.get('/readyz'),
    ]);
    for (const { status, headers, body } of answers) {
      assert.equal(status, 503, JSON.stringify(body));
      assert.deepEqual(Object.keys(body), ['error', 'message', 'request_id']);
      assert.equal(body.error, 'database_unavailable');
      assert.ok(Number(headers.get('retry-after')) > 0, 'A client must get Retry-After.');
    }
    assert.equal((await owner.get('/livez')).status, 200);
    assert.equal((await world.anonymous.get('/v1/workspaces')).status, 401);

    database = await startDatabase();
    await until(
      'the service is ready again',
      async () => (await owner.get('/readyz')).status,
      (status) => status === 200,
    );
    await waitForUpload(owner, wiki_id, upload_id);
    await assertMadeOnce(world, owner, wiki_id, upload_id);
    assert.ok(!service.isOver(), 'It must be the same process all the time.');
  },
);
