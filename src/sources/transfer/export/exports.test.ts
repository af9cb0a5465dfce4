import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ended, exported, newWiki, unzipped } from '../../../../test/archives.ts';
import { cleanUp } from '../../../../test/clean-up.ts';
import { runScheduled } from '../../../../test/jobs.ts';
import { makeDatabase, openWorld } from '../../../../test/world.ts';
import { deleteUnreferencedBlobs } from '../../../platform/blobs/delete-unreferenced-blobs.job.ts';
import { sql } from '../../../platform/db/sql.ts';
import { removeDeletedWiki } from '../../../wiki/wikis/trash/remove-deleted-wiki.job.ts';
import { deleteExpiredExports } from './delete-expired-exports.job.ts';

const folder = await mkdtemp(join(tmpdir(), 'ibid-exports-'));
cleanUp(() => rm(folder, { recursive: true, force: true }));
const database = await makeDatabase();
const world = await openWorld({ DATABASE_URL: database, DATA_DIR: folder });
const owner = await world.owner('ada@example.com');
const deletedWikis = `/v1/workspaces/${owner.workspace_id}/deleted-wikis`;
async function attach(wiki_id: string, page_id: string, text: string): Promise<{ attachment_id: string }> {
  const form = new FormData();
  form.append('file', new Blob([text]), 'note.txt');
  return (await owner.send('POST', `/v1/wikis/${wiki_id}/pages/${page_id}/attachments`, { body: form })).body;
}

test('an export contains every page in readable files, with its complete history and attachments', async () => {
  const wiki_id = await newWiki(owner);
  const pages = `/v1/wikis/${wiki_id}/pages`;
  const { body: guide } = await owner.post(pages, {
    title: 'The "Guide": 日本',
    markdown: '# Guide\r\n',
    slug: 'guide',
  });
  await owner.post(pages, { title: 'Setup', markdown: 'no end', parent_page_id: guide.page_id, status: 'draft' });
  await owner.post(pages, { title: 'Index', markdown: 'x', parent_page_id: guide.page_id });
  await owner.patch(`${pages}/${guide.page_id}`, { markdown: '# Second\n', base_revision: 1 });
  const { attachment_id } = await attach(wiki_id, guide.page_id, 'attached');
  const { body: thrown } = await owner.post(pages, { title: 'Thrown away', markdown: 'x' });
  await owner.send('DELETE', `${pages}/${thrown.page_id}`);
  const files = await unzipped(await exported(world, owner, wiki_id));
  assert.deepEqual(
    [...files.keys()],
    [
      'ibid.json',
      'people.jsonl',
      'pages.jsonl',
      'history.jsonl',
      'attachments.jsonl',
      'pages/guide/index.md',
      'pages/guide/index/index.md',
      'pages/guide/setup.md',
      `attachments/${attachment_id}/note.txt`,
      'ibid-seal.json',
    ],
  );
  const page = String(files.get('pages/guide/index.md'));
  assert.ok(page.startsWith('---\ntitle: "The \\"Guide\\": 日本"\nslug: "guide"\n'), page);
  assert.match(page, /\ncreated_by: "ada <ada@example\.com>"\n/);
  assert.ok(page.endsWith('\n---\n# Second\n'), page);
  assert.ok(String(files.get('pages/guide/setup.md')).endsWith('\n---\nno end'));
  const history = String(files.get('history.jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    history.map(({ revision, markdown }) => [revision, markdown]),
    [
      [1, '# Guide\r\n'],
      [2, '# Second\n'],
      [1, 'x'],
      [1, 'no end'],
    ],
  );
  assert.equal(String(files.get(`attachments/${attachment_id}/note.txt`)), 'attached');
});

test('only members who may export can download an export, in ranges and until it expires; then its file is deleted', async () => {
  const wiki_id = await newWiki(owner, 'Handed out');
  const { body: made } = await owner.post(`/v1/wikis/${wiki_id}/exports`);
  const path = `/v1/wikis/${wiki_id}/exports/${made.job_id}/content`;
  const job = await ended(owner, wiki_id, made.job_id);
  assert.deepEqual([job.kind, job.status, job.progress], ['export', 'completed', 100]);
  const whole = await owner.get(path);
  assert.deepEqual([whole.status, whole.headers.get('content-type')], [200, 'application/zip']);
  assert.equal(whole.headers.get('content-disposition'), 'attachment; filename="handed-out.zip"');
  const part = await owner.get(path, { range: 'bytes=0-3' });
  assert.deepEqual([part.status, part.body], [206, 'PK\x03\x04']);
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.equal((await viewer.get(path)).status, 403);
  const types = await world.db.query(
    sql`select type from audit_events where target_id = ${made.job_id} order by event_id`,
  );
  assert.deepEqual(types, [{ type: 'export.created' }, { type: 'export.completed' }]);
  const sha256 = whole.headers.get('etag')?.slice(1, -1) ?? '';
  await world.db.query(
    sql`update exports set expires_at = now() - interval '1 second' where export_id = ${made.job_id}`,
  );
  assert.equal((await owner.get(path)).status, 404);
  await runScheduled(world, deleteExpiredExports);
  assert.deepEqual(await world.db.query(sql`select 1 from exports where export_id = ${made.job_id}`), []);
  await world.db.query(sql`update blobs set kept_at = now() - interval '2 days' where sha256 = ${sha256}`);
  await runScheduled(world, deleteUnreferencedBlobs);
  await assert.rejects(stat(join(folder, 'blobs', sha256.slice(0, 2), sha256)), { code: 'ENOENT' });
});

test('a deleted wiki disappears at once with all its content, and a worker removes its rows after the final deletion', async () => {
  const wiki_id = await newWiki(owner, 'Doomed');
  const pages = `/v1/wikis/${wiki_id}/pages`;
  await world.upload(owner, wiki_id, { 'a/b/c.md': '# C\n' });
  const { body: page } = await owner.post(pages, { title: 'Page', markdown: 'x' });
  const { attachment_id } = await attach(wiki_id, page.page_id, 'of the doomed');
  const { body: job } = await owner.post(`/v1/wikis/${wiki_id}/exports`);
  await ended(owner, wiki_id, job.job_id);
  const viewer = await world.member(owner.workspace_id, 'member');
  assert.equal((await viewer.send('DELETE', `/v1/wikis/${wiki_id}`)).status, 403);
  assert.equal((await owner.send('DELETE', `/v1/wikis/${wiki_id}`)).status, 204);
  const addresses = [
    '',
    '/pages',
    `/pages/${page.page_id}`,
    '/tree',
    `/attachments/${attachment_id}`,
    '/jobs',
    '/sources',
    `/exports/${job.job_id}/content`,
  ];
  for (const address of addresses)
    assert.equal((await owner.get(`/v1/wikis/${wiki_id}${address}`)).status, 404, address);
  assert.equal((await owner.send('DELETE', `/v1/wikis/${wiki_id}`)).status, 404);
  assert.equal((await owner.post(pages, { title: 'x', markdown: 'x' })).status, 404);
  const { body: wikis } = await owner.get(`/v1/workspaces/${owner.workspace_id}/wikis?limit=500`);
  assert.ok(!wikis.some((wiki: { wiki_id: string }) => wiki.wiki_id === wiki_id));
  const made = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Doomed', slug: 'doomed' });
  assert.equal(made.status, 201, 'its slug is free');
  const [record] = await world.db.query<{ before: object }>(sql`
    select before from audit_events where type = 'wiki.deleted' and target_id = ${wiki_id}`);
  assert.deepEqual(record?.before, {
    wiki_id,
    workspace_id: owner.workspace_id,
    slug: 'doomed',
    title: 'Doomed',
    description: '',
  });
  assert.equal((await owner.send('DELETE', `${deletedWikis}/${wiki_id}`)).status, 204);
  await runScheduled(world, removeDeletedWiki);
  for (const table of [
    'wikis',
    'pages',
    'revisions',
    'page_texts',
    'page_links',
    'page_tags',
    'attachments',
    'uploads',
    'sources',
    'jobs',
    'exports',
  ]) {
    const rows = await world.db.query({ strings: [`select 1 from ${table} where wiki_id = '${wiki_id}'`], values: [] });
    assert.deepEqual(rows, [], table);
  }
});

test('deleting a wiki stops its waiting or running job, which then writes nothing', async () => {
  for (let round = 0; round < 5; round += 1) {
    const wiki_id = await newWiki(owner);
    const form = new FormData();
    for (let i = 0; i < 30; i += 1) form.append('files', new Blob([`# File ${i}\n`]), `file-${i}.md`);
    await owner.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
    const { body: job } = await owner.post(`/v1/wikis/${wiki_id}/exports`);
    if (round > 0) await owner.get(`/v1/wikis/${wiki_id}/jobs`);
    assert.equal((await owner.send('DELETE', `/v1/wikis/${wiki_id}`)).status, 204);
    const [row] = await world.db.query<{ status: string }>(sql`select status from jobs where job_id = ${job.job_id}`);
    assert.equal(row?.status, 'queued');
    assert.equal((await owner.send('DELETE', `${deletedWikis}/${wiki_id}`)).status, 204);
  }
  await runScheduled(world, removeDeletedWiki);
  assert.deepEqual(await world.db.query(sql`select 1 from wikis where workspace_id is null`), []);
});
