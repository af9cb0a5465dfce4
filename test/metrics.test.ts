import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import { JOBS } from '../src/app.ts';
import { sql } from '../src/platform/db/sql.ts';
import { TAGS } from '../src/platform/http/openapi/tags.ts';
import { LANES } from '../src/platform/jobs/define-job.ts';
import { cleanUp } from './clean-up.ts';
import { addressOf } from './database-address.ts';
import { longTest } from './extent.ts';
import { freePort, makeFolder, spawnService, worldOfProcess } from './process.ts';
import { type Sample, sampleOf, scrape } from './scrape.ts';
import { until } from './until.ts';
import { openWorld } from './world.ts';

const namesOf = (samples: Sample[]) => new Set(samples.map(({ name }) => name));

test('metrics count the jobs of each kind, lane and status, but not of kinds unknown to this release', async () => {
  const port = await freePort();
  // Without workers, so that queued jobs stay queued.
  const world = await openWorld({ ROLE: 'web', METRICS_PORT: String(port) });
  await world.db.query(sql`
    insert into background_jobs (name, lane, key, status, run_after) values
      ('prune-idempotency-keys', 'maintenance', 'a', 'queued', now() - interval '1 hour'),
      ('prune-idempotency-keys', 'maintenance', 'b', 'queued', now() + interval '1 hour'),
      ('send-sign-in-mail', 'mail', 'c', 'failed', now() - interval '1 hour'),
      ('of-another-release', 'mail', 'd', 'queued', now() - interval '2 hours')`);
  const samples = await scrape(port);
  const jobs = samples.filter(({ name }) => name === 'ibid_jobs');
  assert.equal(jobs.length, JOBS.length * 3, 'every kind is there in each status, also with 0');
  const nonZero = jobs.filter(({ value }) => value > 0).map(({ labels, value }) => ({ ...labels, value }));
  assert.deepEqual(
    nonZero.toSorted((a, b) => a.value - b.value),
    [
      { name: 'send-sign-in-mail', lane: 'mail', status: 'failed', value: 1 },
      { name: 'prune-idempotency-keys', lane: 'maintenance', status: 'queued', value: 2 },
    ],
  );
  const oldest = samples.filter(({ name }) => name === 'ibid_jobs_oldest_waiting_seconds');
  assert.deepEqual(new Set(oldest.map(({ labels }) => labels.lane)), new Set(Object.keys(LANES)));
  assert.ok((sampleOf(oldest, 'ibid_jobs_oldest_waiting_seconds', { lane: 'maintenance' }) ?? 0) >= 3_600);
  assert.equal(sampleOf(oldest, 'ibid_jobs_oldest_waiting_seconds', { lane: 'mail' }), 0);
});

test('metrics time each attempt of a job by its outcome', async () => {
  const port = await freePort();
  const world = await openWorld({ METRICS_PORT: String(port) });
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n' });
  await world.db.transaction(async (_, runScript) =>
    runScript(`
      create function fail_for_test() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
      create trigger fail_for_test before insert on search_documents for each row
        when (new.wiki_id = '${owner.wiki_id}') execute function fail_for_test();`),
  );
  await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'B', markdown: 'Some words.' });
  const samples = await until(
    'both attempts are counted',
    () => scrape(port),
    (seen) =>
      sampleOf(seen, 'ibid_job_seconds_count', { name: 'ingest', outcome: 'succeeded' }) === 1 &&
      (sampleOf(seen, 'ibid_job_seconds_count', { name: 'merge-search-index', outcome: 'retried' }) ?? 0) > 0,
  );
  assert.ok((sampleOf(samples, 'ibid_job_seconds_sum', { name: 'ingest', outcome: 'succeeded' }) ?? 0) > 0);
  const outcomes = samples.filter(({ name }) => name === 'ibid_job_seconds_count').map(({ labels }) => labels.outcome);
  assert.deepEqual([...new Set(outcomes)].sort(), ['retried', 'succeeded']);
});

longTest('a scrape does not wait for a hanging database', async () => {
  const port = await freePort();
  const world = await openWorld({ METRICS_PORT: String(port) });
  const owner = await world.owner();
  await world.db.transaction(async (query) => {
    await query(sql`lock table jobs in access exclusive mode`);
    let isAnswered = false;
    const waiting = owner.get(`/v1/wikis/${owner.wiki_id}/jobs`).finally(() => {
      isAnswered = true;
    });
    for (const samples of [await scrape(port), ...(await Promise.all([scrape(port), scrape(port)]))]) {
      assert.ok(namesOf(samples).has('process_cpu_seconds_total'));
      assert.ok(!namesOf(samples).has('ibid_jobs'), 'what is not known is left out');
    }
    assert.equal(isAnswered, false, 'a request that needs the table still waits for it');
    const [counting] = await world.db.query<{ count: number }>(sql`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%from background_jobs%union all%'`);
    assert.ok((counting?.count ?? 0) <= 1, 'scrapes wait for one statement together');
    waiting.catch(() => undefined);
  });
  await until('the counts are back', async () => namesOf(await scrape(port)).has('ibid_jobs'));
});

longTest('while the database is stopped, a scrape returns all metrics that do not come from it', async () => {
  const folder = await makeFolder();
  const startDatabase = () => startPostgres({ dataDir: join(folder, 'database'), log: () => undefined });
  let database = await startDatabase();
  cleanUp(() => database.stop());
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = addressOf(database.connection);
  const service = spawnService({
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    DATABASE_URL: url,
    DATA_DIR: join(folder, 'data'),
  });
  await service.ready;
  const world = worldOfProcess(`http://127.0.0.1:${port}`, url);
  cleanUp(() => world.db.close());
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n' });
  const ingested = { name: 'ingest', outcome: 'succeeded' };
  await until('the upload is counted', async () =>
    sampleOf(await scrape(metricsPort), 'ibid_job_seconds_count', ingested),
  );
  await database.stop();
  for (let i = 0; i < 3; i += 1) {
    const samples = await scrape(metricsPort);
    assert.equal(sampleOf(samples, 'ibid_job_seconds_count', ingested), 1);
    assert.ok(!namesOf(samples).has('ibid_jobs') && !namesOf(samples).has('ibid_jobs_oldest_waiting_seconds'));
  }
  database = await startDatabase();
  await until('the counts are back', async () => namesOf(await scrape(metricsPort)).has('ibid_jobs'));
  service.kill('SIGTERM');
  assert.equal((await service.ended).code, 0, service.stdout());
});

test('metrics count and time requests by group, kind and status, without labels that clients choose', async () => {
  const port = await freePort();
  const world = await openWorld({ ROLE: 'web', METRICS_PORT: String(port) });
  const owner = await world.owner();
  const pages = `/v1/wikis/${owner.wiki_id}/pages`;
  for (let i = 0; i < 3; i += 1) assert.equal((await owner.get(pages)).status, 200);
  assert.equal((await owner.get(`${pages}/page_unknown`)).status, 404);
  assert.equal((await owner.post(pages, { title: 'A', markdown: 'x' })).status, 201);
  const samples = await scrape(port);
  const requests = (labels: Record<string, string>) => sampleOf(samples, 'ibid_requests_total', labels);
  assert.equal(requests({ group: 'pages', kind: 'read', status: '2xx' }), 3);
  assert.equal(requests({ group: 'pages', kind: 'read', status: '4xx' }), 1);
  assert.equal(requests({ group: 'pages', kind: 'write', status: '2xx' }), 1);
  assert.ok((sampleOf(samples, 'ibid_request_seconds_total', { group: 'pages', kind: 'read' }) ?? 0) > 0);
  const groups = new Set(
    samples.filter(({ name }) => name === 'ibid_requests_total').map(({ labels }) => labels.group),
  );
  assert.ok(
    [...groups].every((group) => group !== undefined && group in TAGS),
    [...groups].join(),
  );
});
