import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextOf } from '../../../test/list-all.ts';
import { conditionsOn, readBy } from '../../../test/plans.ts';
import { openWorld } from '../../../test/world.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';

let sent: { text: string; values: readonly unknown[] }[] = [];
const world = await openWorld({}, { observe: (text, values) => sent.push({ text, values }) });

test('onboarding creates a workspace with a wiki once, and reports it once', async () => {
  const person = await world.person('mary.jane@example.com');
  const first = await person.post('/v1/onboarding');
  const second = await person.send('POST', '/v1/onboarding', {
    body: 'whatever',
    headers: { 'content-type': 'text/weird' },
  });
  assert.deepEqual([first.body.workspace_created, second.body.workspace_created], [true, false]);
  assert.deepEqual(second.body.workspace, first.body.workspace);
  assert.equal(first.body.workspace.slug, 'mary-jane');
  assert.equal(first.body.overview.session.workspace_id, first.body.workspace.workspace_id);
  assert.deepEqual(
    first.body.overview.wikis.map((wiki: { slug: string; title: string }) => [wiki.slug, wiki.title]),
    [['main', 'mary.jane Wiki']],
  );
  assert.equal((await person.get('/v1/workspaces')).body.length, 1);
});

test('onboarding accepts no invitation: an invited user gets their own workspace', async () => {
  const owner = await world.owner();
  await owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, {
    email: 'invited@example.com',
    role: 'admin',
  });
  const invited = await world.person('invited@example.com');
  const { body } = await invited.post('/v1/onboarding');
  assert.equal(body.workspace_created, true);
  assert.notEqual(body.workspace.workspace_id, owner.workspace_id);
  assert.equal((await invited.get(`/v1/workspaces/${owner.workspace_id}/members`)).status, 403);
});

test('a slug derived from a name never fails: taken, reserved and unwritable ones get an alternative', async () => {
  const person = await world.person();
  const slugs = [];
  for (const name of ['Zürich & Söhne', 'Zürich & Söhne', 'Settings', '日本', 'x'.repeat(100)]) {
    const { status, body } = await person.post('/v1/workspaces', { name });
    assert.equal(status, 200);
    assert.equal(body.name, name);
    slugs.push(body.slug);
  }
  assert.deepEqual(slugs, ['zurich-sohne', 'zurich-sohne-2', 'settings-2', 'workspace', 'x'.repeat(48)]);
});

test('a requested slug is used unchanged or refused', async () => {
  const person = await world.person();
  assert.equal((await person.post('/v1/workspaces', { name: 'A', slug: 'my-own' })).body.slug, 'my-own');
  for (const slug of ['my-own', 'admin', 'v1', 'new']) {
    const refused = await person.post('/v1/workspaces', { name: 'A', slug });
    assert.deepEqual([refused.status, refused.body.error], [409, 'slug_taken']);
  }
  for (const slug of ['../x', 'a/b', '%2e', '-', '-a', 'a-', 'a--b', 'A', 'ünder', '', 'x'.repeat(49), 'аdmin']) {
    const refused = await person.post('/v1/workspaces', { name: 'A', slug });
    assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_slug'], `slug ${JSON.stringify(slug)}`);
  }
  assert.equal((await person.post('/v1/workspaces', { name: 'Null', slug: null })).body.slug, 'null');
});

test('a name is trimmed and otherwise unchanged; an empty one and one over 100 characters are 400', async () => {
  const person = await world.person();
  const { body } = await person.post('/v1/workspaces', { name: '  <b>Ibid & "Co"</b> ${7*7} ' });
  assert.equal(body.name, '<b>Ibid & "Co"</b> ${7*7}');
  for (const name of ['   ', 'x'.repeat(101)]) {
    assert.equal((await person.post('/v1/workspaces', { name })).body.error, 'invalid_name');
  }
  assert.equal((await person.post('/v1/workspaces', { name: '' })).status, 422);
});

test('renaming a wiki needs wikis:manage or being its creator, and keeps the slug', async () => {
  const owner = await world.owner();
  const member = await world.member(owner.workspace_id, 'member');
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const made = await member.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Notes' });
  assert.deepEqual([made.status, made.body.slug], [201, 'notes']);
  const renamed = await member.patch(`/v1/wikis/${made.body.wiki_id}`, { title: ' Our notes ' });
  assert.deepEqual(renamed.body, {
    organization_id: owner.workspace_id,
    wiki_id: made.body.wiki_id,
    slug: 'notes',
    title: 'Our notes',
    description: '',
  });
  assert.equal((await member.patch(`/v1/wikis/${owner.wiki_id}`, { title: 'Mine now' })).status, 403);
  assert.equal((await viewer.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'No' })).status, 403);
  assert.equal((await owner.patch(`/v1/wikis/${made.body.wiki_id}`, { title: 'By the owner' })).status, 200);
  const again = await member.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Notes' });
  assert.equal(again.body.slug, 'notes-2');
  const wikis = await viewer.get(`/v1/workspaces/${owner.workspace_id}/wikis`);
  assert.deepEqual(
    wikis.body.map((wiki: { slug: string }) => wiki.slug),
    ['main', 'notes', 'notes-2'],
  );
});

test('lists are limited by `limit`, and Link leads to the next page until the last', async () => {
  const owner = await world.owner();
  for (const title of ['a', 'b', 'c', 'd']) await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title });
  const seen = [];
  let path: string | undefined = `/v1/workspaces/${owner.workspace_id}/wikis?limit=2`;
  while (path) {
    const page = await owner.get(path);
    seen.push(page.body.map((wiki: { slug: string }) => wiki.slug));
    path = nextOf(page.headers.get('link'));
  }
  assert.deepEqual(seen, [['main', 'a'], ['b', 'c'], ['d']]);
  const beyond = await owner.get(`/v1/workspaces/${owner.workspace_id}/wikis?offset=${'9'.repeat(39)}`);
  assert.deepEqual([beyond.status, beyond.body], [200, []]);
});

test('the overview near a wiki contains that wiki, its neighbours and their workspaces, and only wikis of the caller', async () => {
  const [owner, stranger] = [await world.owner(), await world.owner()];
  const { body: second } = await owner.post('/v1/workspaces', { name: 'Second' });
  await owner.post(`/v1/workspaces/${second.workspace_id}/wikis`, { title: 'Notes' });
  const { body: whole } = await owner.get('/v1/overview');
  const slugOf = ({ body }: { body: { session: { organizations: { slug: string }[] } } }) =>
    body.session.organizations[0]?.slug;
  const near = (address: string, client: Pick<typeof owner, 'get'> = owner) =>
    client.get(`/v1/overview?${new URLSearchParams({ near: address })}`);
  const own = (await near(`${second.slug}/notes`)).body;
  assert.deepEqual(own, { ...whole, session: { ...whole.session, organization_id: second.workspace_id } });
  const nothing = { access: [], session: { ...whole.session, organizations: [], organization_id: '' }, wikis: [] };
  const foreign = slugOf(await stranger.get('/v1/overview'));
  for (const address of [
    `${foreign}/main`,
    `${second.slug}/none`,
    `${second.slug}`,
    '',
    '/',
    `${second.slug}/notes/x`,
  ]) {
    const { status, body } = await near(address);
    assert.deepEqual([status, body], [200, address.endsWith('/x') ? own : nothing], address);
  }
  const member = await world.member(owner.workspace_id, 'viewer');
  assert.equal((await near(`${slugOf({ body: whole })}/main`, member)).body.wikis.length, 1);
});

test('the navigation on every page reads neither all wikis of a member of hundreds of workspaces nor all users', async () => {
  const owner = await world.owner();
  // Created after the users with keys, as in a service where few users create one.
  await world.db.query(sql`
    insert into users (user_id, email, email_verified, display_name)
    select 'user_z' || n, n || '@many.example.com', true, 'Many' from generate_series(1, 3000) n`);
  await world.db.query(sql`
    with made as (
      insert into workspaces (workspace_id, name, slug, created_by)
      select 'org_many' || n, 'Many', 'many-' || n, ${owner.user_id} from generate_series(1, 300) n returning workspace_id),
    joined as (
      insert into memberships (membership_id, workspace_id, user_id, role)
      select 'mem_' || workspace_id, workspace_id, ${owner.user_id}, 'owner' from made)
    insert into wikis (wiki_id, workspace_id, slug, title, created_by)
    select 'wiki_' || workspace_id || '_' || n, workspace_id, 'wiki-' || n, 'Wiki', ${owner.user_id}
    from made, generate_series(1, 30) n`);
  await world.db.query(sql`analyze workspaces, memberships, wikis, users, api_keys`);
  sent = [];
  const { body } = await owner.get('/v1/overview?near=many-7/wiki-30');
  assert.deepEqual([body.wikis.length, body.session.organization_id], [41, 'org_many7']);
  assert.equal((await owner.get('/v1/workspaces')).body.length, 301);
  const [statement, list] = sent.filter(({ text }) => text.includes(' as _record_use'));
  assert.ok(statement && list);
  const asked = sql`select set_request_context('key', ${sha256(owner.token ?? '')}::bytea, null, null, null, null, null, null)`;
  const { rows } = await readBy(world.db, asked, statement);
  // Their memberships, and few of the 9,000 wikis and 3,000 users.
  assert.ok(rows < 600, `reads ${rows} rows`);
  const conditions = await conditionsOn(world.db, asked, list, 'workspaces');
  assert.ok(conditions.includes('hashed SubPlan') && !conditions.includes('= ANY'), `each in a list: ${conditions}`);
});
