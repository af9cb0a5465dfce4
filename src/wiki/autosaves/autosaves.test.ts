import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScheduled } from '../../../test/jobs.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { sql } from '../../platform/db/sql.ts';
import { deleteExpiredAutosaves } from './delete-expired-autosaves.job.ts';

const world = await sharedWorld();
const owner = await world.owner();
const wiki = `/v1/wikis/${owner.wiki_id}`;
const member = await world.member(owner.workspace_id, 'member');
const { body: page } = await owner.post(`${wiki}/pages`, { title: 'Page', markdown: 'Here.\n' });
const put = (client: typeof member | typeof owner, id: string, body: object) =>
  client.send('PUT', `${wiki}/autosaves/${id}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
const usedBytes = async () => {
  const [row] = await world.db.query<{ bytes: string }>(sql`
    select sum(bytes) as bytes from workspace_usage where workspace_id = ${owner.workspace_id}`);
  return Number(row?.bytes);
};

test('an unsaved text is stored unchanged for its writer and replaced by the next save', async () => {
  const id = 'a'.repeat(24);
  const text = { page_id: page.page_id, title: 'Page', markdown: 'Here.\r\nMo', base_revision: 1 };
  const before = await usedBytes();
  const { status, body } = await put(member, id, text);
  assert.equal(status, 200);
  assert.equal((await usedBytes()) - before, Buffer.byteLength(text.title + text.markdown), 'it counts for the quota');
  await put(member, id, { ...text, markdown: 'Here.\r\nMore 😀' });
  const kept = (await member.get(`${wiki}/autosaves/${id}`)).body;
  assert.deepEqual([kept.markdown, kept.created_at, kept.base_revision], ['Here.\r\nMore 😀', body.created_at, 1]);
  assert.deepEqual(
    (await member.get(`${wiki}/autosaves?page_id=${page.page_id}`)).body.map((it: { title: string }) => it.title),
    ['Page'],
  );
  assert.deepEqual((await member.get(`${wiki}/autosaves?page_id=`)).body, [], 'it is of no new page');
  assert.equal((await owner.get(`${wiki}/pages/${page.page_id}`)).body.markdown, 'Here.\n');
  assert.equal((await member.send('DELETE', `${wiki}/autosaves/${id}`)).status, 204);
  assert.equal(await usedBytes(), before);
});

test('an autosave is hidden from other users, even owners, who may use the same id for their own', async () => {
  const id = 'b'.repeat(24);
  await put(member, id, { title: 'Secret', markdown: 'Of the member.' });
  assert.equal((await owner.get(`${wiki}/autosaves/${id}`)).status, 404);
  assert.equal((await owner.send('DELETE', `${wiki}/autosaves/${id}`)).status, 404);
  assert.deepEqual((await owner.get(`${wiki}/autosaves`)).body, []);
  await put(owner, id, { title: 'Other', markdown: 'Of the owner.' });
  assert.equal((await member.get(`${wiki}/autosaves/${id}`)).body.markdown, 'Of the member.');
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.equal((await put(viewer, id, { title: '', markdown: '' })).status, 403);
  const records = await world.db.query(sql`
    select 1 from audit_events where workspace_id = ${owner.workspace_id} and type like 'autosave%'`);
  assert.deepEqual(records, [], 'it leaves no record for others');
});

test('a missing page, a text that is too long and too many texts are refused', async () => {
  const other = await world.owner();
  const { body: foreign } = await other.post(`/v1/wikis/${other.wiki_id}/pages`, { title: 'Foreign', markdown: '' });
  const id = 'c'.repeat(24);
  for (const page_id of ['page_nowhere', foreign.page_id]) {
    assert.equal((await put(owner, id, { page_id, title: '', markdown: '' })).status, 400);
  }
  assert.equal((await put(owner, id, { title: '', markdown: 'x'.repeat(1_572_865) })).status, 413);
  const writer = await world.member(owner.workspace_id, 'member');
  const made = await Promise.all(
    Array.from({ length: 103 }, (_, i) =>
      put(writer, `many-${String(i).padStart(4, '0')}`, { title: '', markdown: '' }),
    ),
  );
  assert.deepEqual(
    [200, 409].map((code) => made.filter(({ status }) => status === code).length),
    [100, 3],
    'also where they come at once',
  );
  const [first] = (await writer.get(`${wiki}/autosaves?limit=1`)).body;
  assert.equal((await put(writer, first.autosave_id, { title: 'On', markdown: '' })).status, 200);
});

test('an id that openapi.json does not allow is refused, as is an empty one', async () => {
  for (const id of [
    '',
    'short',
    'x'.repeat(65),
    'with space',
    encodeURIComponent('ä'.repeat(8)),
    'a/b'.replace('/', '%2f'),
  ]) {
    const { status, body } = await put(owner, id, { title: '', markdown: '' });
    assert.deepEqual([status, body.error], [400, 'invalid_identifier'], id);
    assert.equal((await owner.get(`${wiki}/autosaves/${id}`)).status, 404, id);
  }
});

test('an autosave is deleted with its page, with its user, and after 90 days', async () => {
  const { body: gone } = await owner.post(`${wiki}/pages`, { title: 'Gone', markdown: '' });
  await put(owner, 'of-a-page', { page_id: gone.page_id, title: '', markdown: '' });
  await world.db.query(sql`delete from pages where page_id = ${gone.page_id}`);
  await put(owner, 'too-old-', { title: '', markdown: '' });
  await put(owner, 'not-yet-old', { title: '', markdown: '' });
  const age = (id: string, days: number) =>
    world.db.query(sql`
      update autosaves set updated_at = now() - ${days} * interval '1 day'
      where autosave_id = ${id} and user_id = ${owner.user_id}`);
  await age('too-old-', 91);
  await age('not-yet-old', 89);
  await runScheduled(world, deleteExpiredAutosaves);
  const idsOf = async () =>
    (await owner.get(`${wiki}/autosaves`)).body.map(({ autosave_id }: { autosave_id: string }) => autosave_id);
  assert.deepEqual(await idsOf(), ['b'.repeat(24), 'not-yet-old']);
});
