import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../test/process.ts';
import { until } from '../../../test/until.ts';
import { type Client, makeDatabase, openWorld, waitForUpload } from '../../../test/world.ts';
import { sql } from '../db/sql.ts';
import type { Job } from './schema.ts';

test('a workspace that uploads many files into several wikis does not delay another workspace', async () => {
  const place = { DATABASE_URL: await makeDatabase(), DATA_DIR: join(await makeFolder(), 'data') };
  const world = await openWorld({ ...place, ROLE: 'web' });
  const [busy, other] = [await world.owner(), await world.owner()];
  const wikis = [busy.wiki_id];
  for (const title of ['Second', 'Third', 'Fourth', 'Fifth']) {
    const { body } = await busy.post(`/v1/workspaces/${busy.workspace_id}/wikis`, { title });
    wikis.push(body.wiki_id);
  }
  await world.db.query(sql`alter table pages set (autovacuum_enabled = off)`);
  for (const wiki_id of wikis) await upload(busy, wiki_id, 200);
  const jobs = async (): Promise<Job[]> => {
    const lists = await Promise.all(wikis.map((wiki_id) => busy.get(`/v1/wikis/${wiki_id}/jobs`)));
    return lists.flatMap(({ body }) => body);
  };

  // Uploading through the service with the worker wakes it immediately.
  const working = await openWorld(place);
  const late = working.as(other.token);
  await until('two jobs are running', jobs, (seen) => seen.filter(({ status }) => status === 'running').length >= 2);
  await waitForUpload(late, other.wiki_id, await upload(late, other.wiki_id, 1));
  const ended = await until('all jobs have ended', jobs, (seen) => seen.every(({ status }) => status === 'completed'));

  const [job] = (await other.get(`/v1/wikis/${other.wiki_id}/jobs`)).body as Job[];
  const begun = ended.filter(({ started_at = '' }) => started_at < String(job?.started_at));
  assert.equal(begun.length, 2, 'of the five jobs, two run and three wait when the other job begins');

  // The job has analyzed the tables that it filled, although autovacuum is off.
  await until(
    'the PostgreSQL statistics show hundreds of pages',
    () =>
      world.db.query<{ known: number }>(
        sql`select reltuples::int as known from pg_class where oid = 'pages'::regclass`,
      ),
    ([row]) => (row?.known ?? 0) > 500,
  );
});

async function upload(client: Client, wiki_id: string, files: number): Promise<string> {
  const form = new FormData();
  for (let i = 0; i < files; i += 1) form.append('files', new Blob([`# Page ${i}\n\nIts words.\n`]), `${i}.md`);
  const { status, body } = await client.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
  assert.equal(status, 201, JSON.stringify(body));
  return body.upload_id;
}
