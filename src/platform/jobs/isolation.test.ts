import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { until } from '../../../test/until.ts';
import { makeDatabase, type Owner, openWorld, waitForUpload } from '../../../test/world.ts';
import { sql } from '../db/sql.ts';

const world = await openWorld({ DATABASE_URL: await makeDatabase(), DATABASE_CONNECTIONS: '6' });
const { db } = world;

/** Returns whether all writes to the wiki are in its search index. */
async function isIndexed(wiki_id: string): Promise<boolean> {
  return (await db.query(sql`select 1 from search_pending where wiki_id = ${wiki_id}`)).length === 0;
}

async function write(owner: Owner, title: string): Promise<void> {
  const { status } = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title, markdown: 'Some words.' });
  assert.equal(status, 201);
}

test('a wiki whose index cannot be merged does not delay other wikis, and is merged once the fault is fixed', async () => {
  const [faulty, healthy] = [await world.owner(), await world.owner()];
  await db.transaction(async (_, runScript) =>
    runScript(`
      create function fail_for_test() returns trigger language plpgsql as
        $$ begin raise exception 'the index of this wiki is broken'; end $$;
      create trigger fail_for_test before insert on search_documents for each row
        when (new.wiki_id = '${faulty.wiki_id}') execute function fail_for_test();`),
  );
  await write(faulty, 'Broken');
  await until(
    'an attempt has failed',
    () =>
      db.query<{ failures: number; error: string }>(sql`
      select name, status, failures, error from background_jobs where wiki_id = ${faulty.wiki_id}`),
    (jobs) => jobs.some(({ failures, error }) => failures > 0 && error !== ''),
  );
  await write(healthy, 'Sound');
  await until('the healthy wiki is indexed', () => isIndexed(healthy.wiki_id));
  assert.equal(await isIndexed(faulty.wiki_id), false);
  await db.transaction((_, runScript) => runScript('drop function fail_for_test cascade'));
  await db.query(sql`update background_jobs set run_after = now() where wiki_id = ${faulty.wiki_id}`);
  await until('the faulty wiki is indexed, too', () => isIndexed(faulty.wiki_id));
});

test('an upload runs while the removal of a deleted wiki takes long', async () => {
  const [leaving, staying] = [await world.owner(), await world.owner()];
  await write(leaving, 'Doomed');
  await db.transaction(async (query) => {
    await query(sql`select 1 from pages where wiki_id = ${leaving.wiki_id} for update`);
    assert.equal((await leaving.send('DELETE', `/v1/wikis/${leaving.wiki_id}`)).status, 204);
    const inTrash = `/v1/workspaces/${leaving.workspace_id}/deleted-wikis/${leaving.wiki_id}`;
    assert.equal((await leaving.send('DELETE', inTrash)).status, 204);
    // Enqueued here, because the schedule checks only once a minute.
    await db.query(sql`
      insert into background_jobs (name, lane, key, wiki_id)
      values ('remove-deleted-wiki', 'maintenance', ${leaving.wiki_id}, ${leaving.wiki_id}) on conflict do nothing`);
    await until(
      'the removal waits for the lock',
      () =>
        db.query<{ query: string }>(sql`
        select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
      (waiting) => waiting.some((statement) => statement.query.includes('delete from pages')),
    );
    const { body } = await world.upload(staying, staying.wiki_id, { 'a.md': '# A\n' });
    assert.equal(body.status, 'completed');
  });
  await until(
    'the wiki is deleted',
    () => db.query(sql`select wiki_id from wikis where wiki_id = ${leaving.wiki_id}`),
    (rows) => rows.length === 0,
  );
});

longTest('heartbeats do not wait for the row of their own job, and take no connections from requests', async () => {
  const owner = await world.owner();
  const form = new FormData();
  for (let i = 0; i < 400; i += 1)
    form.append('files', new Blob([`# Page ${i}\n\n${'Words. '.repeat(200)}`]), `${i}.md`);
  const { body: upload } = await owner.send('POST', `/v1/wikis/${owner.wiki_id}/uploads`, { body: form });
  const isRunning = sql`from jobs where upload_id = ${upload.upload_id} and status = 'running'`;
  await until('the job runs', async () => (await db.query(sql`select 1 ${isRunning}`)).length > 0);
  await db.transaction(async (query) => {
    const [held] = await query<{ worker_id: string }>(sql`select worker_id ${isRunning} for update`);
    assert.ok(held, 'the upload must be long enough to be observed while it runs');
    const aliveUntil = async () => {
      const [row] = await db.query<{ at: string }>(sql`
        select alive_until::text as at from workers where worker_id = ${held.worker_id}`);
      return row?.at;
    };
    const seen = new Set<string | undefined>();
    await until(
      'four heartbeats were sent',
      async () => {
        seen.add(await aliveUntil());
        const waiting = await db.query(sql`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
        assert.ok(waiting.length <= 1, 'only the job itself may wait for its row');
        return seen;
      },
      ({ size }) => size >= 5,
    );
    assert.equal((await owner.get('/v1/me')).status, 200);
  });
  await waitForUpload(owner, owner.wiki_id, upload.upload_id);
});
