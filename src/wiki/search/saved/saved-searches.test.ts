import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../../../../test/world.ts';
import { sql } from '../../../platform/db/sql.ts';

const world = await openWorld({ ROLE: 'web' });
const owner = await world.owner();
const list = `/v1/wikis/${owner.wiki_id}/saved-searches`;
const viewer = await world.member(owner.workspace_id, 'viewer');
const put = (by: Pick<typeof owner, 'send'>, id: string, body: object) =>
  by.send('PUT', `${list}/${id}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
const namesOf = async (by: Pick<typeof owner, 'get'>) =>
  (await by.get(list)).body.map(({ name, query, sort }: Record<string, string>) => [name, query, sort]);

test('any member who can read may save, replace and delete searches, which no other member sees', async () => {
  const drafts = { name: ' Drafts ', query: 'author:me status:draft', sort: 'updated' };
  const { status, body } = await put(viewer, 'drafts-of-mine', drafts);
  assert.deepEqual([status, body.name, body.query, body.sort], [200, 'Drafts', drafts.query, 'updated']);
  await put(viewer, 'another-search', { name: 'álbum', query: '"of songs"' });
  assert.deepEqual(await namesOf(viewer), [
    ['Drafts', drafts.query, 'updated'],
    ['álbum', '"of songs"', 'relevance'],
  ]);
  assert.deepEqual(await namesOf(owner), [], 'not even an owner sees them');
  assert.equal((await owner.send('DELETE', `${list}/drafts-of-mine`)).status, 404);
  await put(owner, 'drafts-of-mine', { name: 'Drafts', query: 'status:draft' });
  await put(viewer, 'drafts-of-mine', { name: 'Old drafts', query: 'status:draft updated:<2020' });
  assert.deepEqual((await namesOf(viewer))[0], ['Old drafts', 'status:draft updated:<2020', 'relevance']);
  assert.deepEqual(await namesOf(owner), [['Drafts', 'status:draft', 'relevance']]);
  assert.equal((await viewer.send('DELETE', `${list}/another-search`)).status, 204);
  assert.deepEqual((await namesOf(viewer)).length, 1);
  const stranger = await world.owner();
  assert.deepEqual(
    [(await stranger.get(list)).status, (await put(stranger, 'of-a-stranger', drafts)).status],
    [403, 403],
  );
});

test('a name is used once, and a user has at most 50 saved searches, even if many are added at once', async () => {
  const person = await world.member(owner.workspace_id, 'member');
  const many = await Promise.all(
    Array.from({ length: 54 }, (_, i) => put(person, `search-number-${i}`, { name: `Search ${i}`, query: 'x' })),
  );
  assert.equal(many.filter(({ status }) => status === 200).length, 50);
  assert.deepEqual(new Set(many.map(({ status }) => status)), new Set([200, 409]));
  assert.equal((await person.get(`${list}?limit=500`)).body.length, 50);
  const { body: kept } = await person.get(`${list}?limit=1`);
  assert.equal((await person.send('DELETE', `${list}/${kept[0].saved_search_id}`)).status, 204);
  const [{ name }] = (await person.get(`${list}?limit=1`)).body;
  const again = await put(person, 'the-same-name', { name: name.toUpperCase(), query: 'x' });
  assert.deepEqual([again.status, again.body.error], [409, 'conflict']);
});

test('the audit log records that a search was saved or deleted, and omits its name and query', async () => {
  const person = await world.member(owner.workspace_id, 'member');
  await put(person, 'of-the-audit-log', { name: 'Layoffs', query: 'layoffs' });
  await person.send('DELETE', `${list}/of-the-audit-log`);
  const records = await world.db.query<{ type: string; target_id: string; text: string }>(sql`
    select type, target_id, before::text || after::text as text from audit_events where actor_id = ${person.user_id}
      and target_kind = 'saved_search' order by event_id`);
  assert.deepEqual(
    records.map(({ type, target_id }) => [type, target_id]),
    [
      ['saved_search.saved', 'of-the-audit-log'],
      ['saved_search.deleted', 'of-the-audit-log'],
    ],
  );
  for (const { text } of records) assert.doesNotMatch(text, /layoffs/i);
});

test('saved searches are deleted with their user and with the wiki', async () => {
  const count = async () => {
    const [row] = await world.db.query<{ count: number }>(
      sql`select count(*)::int as count from saved_searches where wiki_id = ${owner.wiki_id}`,
    );
    return row?.count ?? -1;
  };
  const person = await world.member(owner.workspace_id, 'member');
  await put(person, 'of-who-leaves', { name: 'Mine', query: 'x' });
  const before = await count();
  await world.db.query(sql`delete from memberships where user_id = ${person.user_id}`);
  await world.db.query(sql`delete from users where user_id = ${person.user_id}`);
  assert.equal(await count(), before - 1);
  await world.db.query(sql`delete from wikis where wiki_id = ${owner.wiki_id}`);
  assert.equal(await count(), 0);
});
