import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await openWorld({ ROLE: 'web' });
const owner = await world.owner();
const wiki = `/v1/wikis/${owner.wiki_id}`;
const list = `${wiki}/starred-pages`;
const viewer = await world.member(owner.workspace_id, 'viewer');
type Person = Pick<typeof owner, 'get' | 'send'>;
const make = async (title: string, status = 'published') =>
  (await owner.post(`${wiki}/pages`, { title, markdown: '', status })).body.page_id as string;
const star = (by: Person, page_id: string) => by.send('PUT', `${list}/${page_id}`);
const titlesOf = async (by: Person) => (await by.get(list)).body.map(({ title }: { title: string }) => title);
const isStarred = async (by: Person, page_id: string) =>
  (await by.get(`${wiki}/pages/${page_id}/surroundings`)).body.is_starred as boolean;

test('any member who can read a page can star it; the star is theirs alone and lasts until removed', async () => {
  const [one, other] = [await make('One'), await make('Other')];
  const { status, body } = await star(viewer, one);
  assert.deepEqual([status, body.title], [200, 'One']);
  assert.equal((await star(viewer, one)).body.created_at, body.created_at, 'it is starred already');
  await star(owner, other);
  assert.deepEqual([await titlesOf(viewer), await titlesOf(owner)], [['One'], ['Other']]);
  assert.deepEqual([await isStarred(viewer, one), await isStarred(owner, one)], [true, false]);
  assert.equal((await owner.send('DELETE', `${list}/${one}`)).status, 404);
  assert.equal((await viewer.send('DELETE', `${list}/${one}`)).status, 204);
  assert.deepEqual([await titlesOf(viewer), await isStarred(viewer, one)], [[], false]);
});

test('a page that the caller cannot see cannot be starred, and a page hidden later is no longer listed', async () => {
  const draft = await make('Draft', 'draft');
  const page = await make('Soon a draft');
  assert.deepEqual([(await star(viewer, draft)).status, (await star(viewer, page)).status], [404, 200]);
  assert.equal((await owner.patch(`${wiki}/pages/${page}`, { status: 'draft', base_revision: 1 })).status, 200);
  assert.deepEqual(await titlesOf(viewer), []);
  const stranger = await world.owner();
  assert.deepEqual([(await star(stranger, page)).status, (await stranger.get(list)).status], [403, 403]);
});

test('a read-only API key cannot change the stars or saved searches of its owner', async () => {
  const page = await make('Starred by a person');
  await star(owner, page);
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/api-keys`, {
    name: 'Reader',
    permissions: ['pages:read'],
  });
  const program = world.as(body.secret);
  assert.ok((await titlesOf(program)).includes('Starred by a person'));
  const search = { method: 'PUT', body: JSON.stringify({ name: 'Mine', query: 'words' }) };
  const refused = [
    await star(program, page),
    await program.send('DELETE', `${list}/${page}`),
    await program.send('PUT', `${wiki}/saved-searches/0123456789abcdef01234567`, {
      ...search,
      headers: { 'content-type': 'application/json' },
    }),
    await program.send('DELETE', `${wiki}/saved-searches/0123456789abcdef01234567`),
  ];
  assert.deepEqual(
    refused.map(({ status }) => status),
    [403, 403, 403, 403],
  );
  assert.equal(await isStarred(owner, page), true);
});

test('a restored page still has its stars, and stars are deleted with their page or user', async () => {
  const person = await world.member(owner.workspace_id, 'member');
  const page = await make('Kept');
  await star(person, page);
  await owner.send('DELETE', `${wiki}/pages/${page}`);
  assert.deepEqual(await titlesOf(person), []);
  assert.equal((await owner.post(`${wiki}/pages/${page}/restore`)).status, 200);
  assert.deepEqual(await titlesOf(person), ['Kept']);
  const count = async () =>
    (await world.db.query(sql`select from starred_pages where wiki_id = ${owner.wiki_id} and page_id = ${page}`))
      .length;
  await world.db.query(sql`delete from memberships where user_id = ${person.user_id}`);
  await world.db.query(sql`delete from users where user_id = ${person.user_id}`);
  assert.equal(await count(), 0);
});

test('a user has at most 100 stars in a wiki, even if many are added at once', async () => {
  const person = await world.member(owner.workspace_id, 'member');
  const pages = await world.db.query<{ page_id: string }>(sql`
    insert into pages (wiki_id, page_id, path, slug, title, position, status, origin, revision, word_count, created_by, updated_by)
    select wiki_id, 'page_many' || i, 'many' || i, 'many' || i, 'Many', i, 'published', 'authored', 1, 0, created_by, created_by
    from pages, generate_series(1, 104) i where wiki_id = ${owner.wiki_id} and path = 'one'
    returning page_id`);
  const answers = await Promise.all(pages.map(({ page_id }) => star(person, page_id)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 100);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 409]));
});
