import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScheduled } from '../../../../test/jobs.ts';
import { type Client, type Owner, openWorld, waitForUpload } from '../../../../test/world.ts';
import { sql } from '../../../platform/db/sql.ts';
import { enqueueDue } from '../../../platform/jobs/background-queue.ts';
import { pauseAllJobs } from '../../../platform/jobs/pause-jobs.ts';
import { removeDeletedWiki } from './remove-deleted-wiki.job.ts';

const world = await openWorld();
const { db } = world;

const trashOf = ({ workspace_id }: { workspace_id: string }) => `/v1/workspaces/${workspace_id}/deleted-wikis`;
const remove = (client: Client, wiki_id: string) => client.send('DELETE', `/v1/wikis/${wiki_id}`);
const idsOf = (rows: { wiki_id: string }[]) => rows.map(({ wiki_id }) => wiki_id);

async function newWiki(client: Client, { workspace_id }: Owner, slug: string): Promise<string> {
  const { status, body } = await client.post(`/v1/workspaces/${workspace_id}/wikis`, { title: `Wiki ${slug}`, slug });
  assert.equal(status, 201, JSON.stringify(body));
  return body.wiki_id;
}

/** Backdates the deletion of a wiki in the trash by a number of days. */
async function age(wiki_id: string, days: number): Promise<void> {
  await db.query(sql`update wikis set deleted_at = deleted_at - ${days} * interval '1 day' where wiki_id = ${wiki_id}`);
}

test('a restored wiki has all its content again, and its jobs resume', async () => {
  const owner = await world.owner();
  const wiki_id = await newWiki(owner, owner, 'handbook');
  await world.upload(owner, wiki_id, { 'a.md': '# Apples\n\nRed ones.\n' });
  const { body: page } = await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Pears', markdown: 'Green ones.' });
  const before = await owner.get(`/v1/wikis/${wiki_id}/pages`);
  const form = new FormData();
  form.append('files', new Blob(['# Plums\n\nBlue ones.\n']), 'plums.md');
  const uploaded = await owner.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
  assert.equal((await remove(owner, wiki_id)).status, 204);

  const [deleted] = (await owner.get(trashOf(owner))).body;
  assert.deepEqual([deleted.wiki_id, deleted.slug, deleted.title], [wiki_id, 'handbook', 'Wiki handbook']);
  assert.equal(Date.parse(deleted.purged_after) - Date.parse(deleted.deleted_at), 30 * 86_400_000);
  await runScheduled(world, removeDeletedWiki);
  assert.equal((await owner.get(`/v1/wikis/${wiki_id}`)).status, 404);

  const restored = await owner.post(`${trashOf(owner)}/${wiki_id}/restore`);
  assert.deepEqual(
    [restored.status, restored.body.slug, restored.body.workspace_id],
    [200, 'handbook', owner.workspace_id],
  );
  assert.deepEqual((await owner.get(trashOf(owner))).body, []);
  assert.equal((await waitForUpload(owner, wiki_id, uploaded.body.upload_id)).body.status, 'completed');
  const after = await owner.get(`/v1/wikis/${wiki_id}/pages`);
  const known = new Set(before.body.map((it: { page_id: string }) => it.page_id));
  assert.deepEqual(
    after.body.filter((it: { page_id: string }) => known.has(it.page_id)),
    before.body,
  );
  assert.ok(after.body.some(({ title }: { title: string }) => title === 'Plums'));
  assert.equal((await owner.get(`/v1/wikis/${wiki_id}/pages/${page.page_id}/revisions`)).body.length, 1);
  const { body: events } = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events?type=wiki.restored`);
  assert.equal(events[0].target_id, wiki_id);
});

test('a wiki whose slug was taken in the meantime is restored under a numbered slug', async () => {
  const owner = await world.owner();
  const wiki_id = await newWiki(owner, owner, 'plans');
  await remove(owner, wiki_id);
  await newWiki(owner, owner, 'plans');
  const { status, body } = await owner.post(`${trashOf(owner)}/${wiki_id}/restore`);
  assert.deepEqual([status, body.slug], [200, 'plans-2']);
});

test('members who may delete a wiki may restore it, and other members do not learn that it existed', async () => {
  const owner = await world.owner();
  const member = await world.member(owner.workspace_id, 'member');
  const other = await world.member(owner.workspace_id, 'member');
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const stranger = await world.owner();
  const own = await newWiki(member, owner, 'own');
  const owners = await newWiki(owner, owner, 'owners');
  await remove(member, own);
  await remove(owner, owners);

  assert.deepEqual(idsOf((await owner.get(trashOf(owner))).body), [own, owners]);
  assert.deepEqual(idsOf((await member.get(trashOf(owner))).body), [own]);
  assert.deepEqual((await other.get(trashOf(owner))).body, []);
  for (const [client, status] of [
    [other, 404],
    [viewer, 403],
    [stranger, 403],
    [world.anonymous, 401],
  ] as const) {
    assert.equal((await client.post(`${trashOf(owner)}/${own}/restore`)).status, status);
    assert.equal((await client.send('DELETE', `${trashOf(owner)}/${own}`)).status, status);
  }
  assert.equal((await stranger.post(`${trashOf(stranger)}/${own}/restore`)).status, 404, 'a wiki of another workspace');
  assert.equal((await member.post(`${trashOf(owner)}/${owners}/restore`)).status, 404);
  assert.equal((await member.post(`${trashOf(owner)}/${own}/restore`)).status, 200);
  assert.equal((await member.post(`${trashOf(owner)}/${own}/restore`)).status, 404, 'it is not in the trash now');
  assert.equal((await owner.send('DELETE', `${trashOf(owner)}/${own}`)).status, 404);
});

test('a wiki cannot be restored after 30 days, nor after it was deleted from the trash', async () => {
  const owner = await world.owner();
  const [old, fresh, purged] = [
    await newWiki(owner, owner, 'old'),
    await newWiki(owner, owner, 'fresh'),
    await newWiki(owner, owner, 'purged'),
  ];
  for (const wiki_id of [old, fresh, purged]) {
    await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Page', markdown: 'text' });
    await remove(owner, wiki_id);
  }
  await age(old, 31);
  await age(fresh, 29);
  assert.equal((await owner.send('DELETE', `${trashOf(owner)}/${purged}`)).status, 204);
  for (const wiki_id of [old, purged]) {
    assert.equal((await owner.post(`${trashOf(owner)}/${wiki_id}/restore`)).status, 404);
  }
  assert.deepEqual(idsOf((await owner.get(trashOf(owner))).body), [fresh]);
  await runScheduled(world, removeDeletedWiki);
  const left = await db.query<{ wiki_id: string }>(sql`
    select w.wiki_id from wikis w join pages p on p.wiki_id = w.wiki_id where w.wiki_id = any (${[old, fresh, purged]}::text[])`);
  assert.deepEqual(idsOf(left), [fresh]);
  assert.equal((await owner.post(`${trashOf(owner)}/${fresh}/restore`)).status, 200);
});

test('a legal hold keeps deleted wikis in the trash, from which they can still be restored', async () => {
  const owner = await world.owner();
  const wiki_id = await newWiki(owner, owner, 'held');
  await remove(owner, wiki_id);
  await owner.post(`/v1/workspaces/${owner.workspace_id}/legal-hold`, { reason: 'A case' });
  const { status, body } = await owner.send('DELETE', `${trashOf(owner)}/${wiki_id}`);
  assert.deepEqual([status, body.error], [409, 'legal_hold']);
  await age(wiki_id, 40);
  await runScheduled(world, removeDeletedWiki);
  assert.equal((await owner.post(`${trashOf(owner)}/${wiki_id}/restore`)).status, 200);
});

test('a delayed removal deletes nothing of a wiki that was restored under a legal hold', async () => {
  const owner = await world.owner();
  const wiki_id = await newWiki(owner, owner, 'saved');
  await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Page', markdown: 'text' });
  await remove(owner, wiki_id);
  await age(wiki_id, 31);
  await pauseAllJobs(db.query, true);
  await db.query(sql`delete from schedules where name = ${removeDeletedWiki.name}`);
  await enqueueDue(db.query, removeDeletedWiki);
  await owner.post(`/v1/workspaces/${owner.workspace_id}/legal-hold`, { reason: 'A case' });
  assert.equal((await owner.post(`${trashOf(owner)}/${wiki_id}/restore`)).status, 200);
  await owner.post(`/v1/workspaces/${owner.workspace_id}/legal-hold/lift`, { reason: 'Settled' });
  await pauseAllJobs(db.query, false);
  await runScheduled(world, removeDeletedWiki);
  assert.equal((await owner.get(`/v1/wikis/${wiki_id}/pages`)).body.length, 1);
});

test('of a concurrent restore and purge, exactly one succeeds', async () => {
  const owner = await world.owner();
  for (let round = 0; round < 10; round += 1) {
    const wiki_id = await newWiki(owner, owner, `round-${round}`);
    await remove(owner, wiki_id);
    const answers = await Promise.all([
      owner.post(`${trashOf(owner)}/${wiki_id}/restore`),
      owner.send('DELETE', `${trashOf(owner)}/${wiki_id}`),
    ]);
    const [restored, purged] = answers.map(({ status }) => status < 300);
    assert.notEqual(restored, purged, answers.map(({ status }) => status).join());
    assert.equal((await owner.get(`/v1/wikis/${wiki_id}`)).status, restored ? 200 : 404);
  }
});

test('the description of a wiki can be changed, and a rename alone leaves it unchanged', async () => {
  const owner = await world.owner();
  const at = `/v1/wikis/${owner.wiki_id}`;
  const changed = await owner.patch(at, { title: 'Guide', description: ' How we work ' });
  assert.deepEqual([changed.status, changed.body.description], [200, 'How we work']);
  assert.equal((await owner.patch(at, { title: 'Manual' })).body.description, 'How we work');
  const refused = await owner.patch(at, { title: 'Manual', description: 'x'.repeat(1_001) });
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_request']);
  assert.equal((await owner.patch(at, { title: 'Manual', description: '' })).body.description, '');
});
