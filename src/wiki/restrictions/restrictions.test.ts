import assert from 'node:assert/strict';
import { test } from 'node:test';
import { putAccess } from '../../../test/restrict.ts';
import { type Answer, type Client, openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';
import { GRANTS_MAX, type Level } from './schema.ts';

const world = await openWorld({ ROLE: 'web' });
const owner = await world.owner();
const { workspace_id, wiki_id } = owner;
const wiki = `/v1/wikis/${wiki_id}`;
const member = () => world.member(workspace_id, 'member');
const [author, colleague, other] = [await member(), await member(), await member()];

async function make(title: string, parent_page_id = '', by: Client = author): Promise<string> {
  const { status, body } = await by.post(`${wiki}/pages`, { title, markdown: 'x', parent_page_id });
  assert.equal(status, 201, JSON.stringify(body));
  return body.page_id;
}

const put = (by: Client, page_id: string, levels: Record<string, Level>) => putAccess(by, { wiki_id, page_id }, levels);
const lift = (by: Client, page_id: string) => by.send('DELETE', `${wiki}/pages/${page_id}/access`);
const seenBy = async (page_id: string, ...people: Client[]) =>
  Promise.all(people.map(async (client) => (await client.get(`${wiki}/pages/${page_id}`)).status));
const levelsOf = ({ body }: Answer) =>
  Object.fromEntries(body.grants.map(({ user_id, level }: { user_id: string; level: Level }) => [user_id, level]));

async function must(answer: Answer, expected = 200): Promise<Answer> {
  assert.equal(answer.status, expected, JSON.stringify(answer.body));
  return answer;
}

/** Everything that these endpoints write. */
async function stored(): Promise<unknown> {
  const [row] = await world.db.query(sql`
    select (select json_agg(t order by t.acl_no) from page_acls t where t.wiki_id = ${wiki_id}) as acls,
      (select json_agg(t order by t.acl_no, t.user_id) from page_grants t where t.wiki_id = ${wiki_id}) as grants,
      (select json_agg(t order by t.subject_id) from subject_bits t where t.wiki_id = ${wiki_id}) as bits,
      (select json_agg(json_build_array(t.page_id, t.acl_no) order by t.page_id) from pages t where t.wiki_id = ${wiki_id}) as pages,
      (select count(*) from audit_events t where t.workspace_id = ${workspace_id}) as records`);
  return row;
}

/** Sends requests that must be refused, and asserts that they change nothing. */
async function assertRefused(
  refusals: [answer: () => Promise<Answer>, status: number, message?: RegExp][],
): Promise<void> {
  const before = await stored();
  for (const [send, status, message] of refusals) {
    const { body } = await must(await send(), status);
    if (message) assert.match(body.message, message);
  }
  assert.deepEqual(await stored(), before);
}

test('a member restricts a page with the pages below it, and all others get 404 until it is lifted', async () => {
  const top = await make('Top');
  const below = await make('Below', top);
  const { body } = await must(await put(author, top, { [colleague.user_id]: 'read' }));
  const [name] = await world.db.query<{ email: string }>(sql`
    select coalesce(nullif(display_name, ''), email) as email from users where user_id = ${colleague.user_id}`);
  const people = [author.user_id, colleague.user_id].sort();
  assert.deepEqual(
    body.grants.map(({ user_id }: { user_id: string }) => user_id),
    people,
  );
  const granted = body.grants.find(({ user_id }: { user_id: string }) => user_id === colleague.user_id);
  assert.deepEqual(granted, { user_id: colleague.user_id, display_name: name?.email, level: 'read' });
  assert.deepEqual([body.page_id, body.wiki_id, body.restricted_by], [top, wiki_id, author.user_id]);
  assert.ok(Math.abs(Date.now() - Date.parse(body.restricted_at)) < 600_000);
  for (const page of [top, below]) {
    assert.deepEqual(await seenBy(page, author, colleague, other, owner), [200, 200, 404, 404]);
  }
  const added = await make('Added', top);
  assert.deepEqual(await seenBy(added, author, colleague, other), [200, 200, 404]);
  await must(await lift(author, top), 204);
  for (const page of [top, below, added]) assert.deepEqual(await seenBy(page, other, owner), [200, 200]);
  await must(await lift(author, top), 404);
});

test('the author of a new restriction manages it, whatever the list says', async () => {
  const [left, lower] = [await make('Left out'), await make('Lower')];
  assert.deepEqual(levelsOf(await must(await put(author, left, {}))), { [author.user_id]: 'manage' });
  assert.deepEqual(levelsOf(await must(await put(author, lower, { [author.user_id]: 'read' }))), {
    [author.user_id]: 'manage',
  });
  assert.deepEqual(await seenBy(left, author, owner), [200, 404]);
});

test('a second list replaces the first one at the next request, and the same list again writes nothing', async () => {
  const page = await make('Replaced');
  const path = `${wiki}/pages/${page}`;
  const first = await must(await put(author, page, { [colleague.user_id]: 'read', [other.user_id]: 'write' }));
  assert.equal((await colleague.patch(path, { title: 'Mine', base_revision: 1 })).status, 403);
  assert.equal((await other.patch(path, { title: 'Replaced again', base_revision: 1 })).status, 200);
  const levels: Record<string, Level> = { [author.user_id]: 'manage', [colleague.user_id]: 'write' };
  const second = await must(await put(author, page, levels));
  assert.deepEqual(levelsOf(second), levels);
  assert.deepEqual([second.body.restricted_at, second.body.restricted_by], [first.body.restricted_at, author.user_id]);
  assert.deepEqual(await seenBy(page, author, colleague, other), [200, 200, 404]);
  assert.equal((await colleague.patch(path, { title: 'Mine', base_revision: 2 })).status, 200);
  const before = await stored();
  assert.deepEqual((await must(await put(author, page, levels))).body, second.body);
  assert.deepEqual(await stored(), before);
});

test('a manager can lower or remove themselves only while another manager stays', async () => {
  const page = await make('Handed over');
  await must(await put(author, page, { [colleague.user_id]: 'write' }));
  await assertRefused([
    [() => put(author, page, {}), 400, /at least one person needs the level "manage"/i],
    [() => put(author, page, { [author.user_id]: 'write', [colleague.user_id]: 'write' }), 400],
    [() => put(author, page, { [colleague.user_id]: 'read' }), 400],
  ]);
  const lowered: Record<string, Level> = { [author.user_id]: 'read', [colleague.user_id]: 'manage' };
  assert.deepEqual(levelsOf(await must(await put(author, page, lowered))), lowered);
  await assertRefused([[() => put(author, page, { [author.user_id]: 'manage' }), 403]]);
  const removed = await must(await put(colleague, page, { [colleague.user_id]: 'manage' }));
  assert.deepEqual(levelsOf(removed), { [colleague.user_id]: 'manage' });
  assert.deepEqual(await seenBy(page, author, colleague), [404, 200]);
  await must(await put(colleague, page, { [author.user_id]: 'manage' }));
  assert.deepEqual(await seenBy(page, author, colleague), [200, 404], 'the answer is the last page that they see');
});

test('members who may only write, comment or read cannot give themselves more, nor lift the restriction', async () => {
  const page = await make('Closed');
  for (const level of ['write', 'comment', 'read'] as const) {
    await must(await put(author, page, { [author.user_id]: 'manage', [colleague.user_id]: level }));
    await assertRefused([
      [() => put(colleague, page, { [colleague.user_id]: 'manage' }), 403],
      [() => put(colleague, page, { [author.user_id]: 'manage', [colleague.user_id]: 'manage' }), 403],
      [() => put(colleague, page, { [author.user_id]: 'manage', [colleague.user_id]: level }), 403],
      [() => lift(colleague, page), 403],
    ]);
  }
  await must(await put(author, page, { [author.user_id]: 'manage', [colleague.user_id]: 'write' }));
  const { body } = await put(colleague, page, { [colleague.user_id]: 'manage' });
  assert.equal(body.message, 'Only people with the level "manage" can change who has access to this page.');
});

test('a page that the caller does not see answers 404, whatever the request says', async () => {
  const page = await make('Hidden');
  const below = await make('Hidden below', page);
  await must(await put(author, page, {}));
  const trashed = await make('Trashed');
  await must(await author.send('DELETE', `${wiki}/pages/${trashed}`), 204);
  const elsewhere = await world.owner();
  const foreign = (await elsewhere.post(`/v1/wikis/${elsewhere.wiki_id}/pages`, { title: 'x', markdown: '' })).body
    .page_id;
  await assertRefused(
    [page, below, trashed, foreign, 'page_01jd8w3v6xf3e8h2k9m4n5p6s1'].flatMap((page_id) => [
      [() => put(owner, page_id, { [owner.user_id]: 'manage' }), 404],
      [() => put(owner, page_id, { nobody: 'manage' }), 404],
      [() => lift(owner, page_id), 404],
    ]),
  );
});

test('only a manager of the nearest restriction restricts a page inside', async () => {
  const top = await make('Outer');
  const inner = await make('Inner', top);
  await must(
    await put(author, top, { [colleague.user_id]: 'write', [other.user_id]: 'manage', [owner.user_id]: 'write' }),
  );
  await assertRefused([
    [() => put(colleague, inner, {}), 403, /below a restricted page/],
    [() => lift(colleague, inner), 404],
    [() => lift(author, inner), 404],
  ]);
  await must(await put(other, inner, { [colleague.user_id]: 'read' }));
  assert.deepEqual(await seenBy(inner, other, colleague, author, owner), [200, 200, 404, 404]);
  assert.deepEqual(await seenBy(top, other, colleague, author, owner), [200, 200, 200, 200]);
  const deepest = await make('Deepest', inner, other);
  await assertRefused([
    [() => put(author, deepest, {}), 404],
    [() => put(colleague, deepest, {}), 403],
  ]);
  await must(await lift(other, inner), 204);
  assert.deepEqual(await seenBy(deepest, author, colleague, owner), [200, 200, 200], 'the outer one applies');
  const stranger = await member();
  assert.deepEqual(await seenBy(deepest, stranger), [404]);
});

test('a restriction inside admits only people whom the outer one admits, too', async () => {
  const top = await make('Around');
  const inner = await make('Inside', top);
  await must(await put(author, inner, { [colleague.user_id]: 'manage', [other.user_id]: 'read' }));
  await must(await put(author, top, { [other.user_id]: 'read' }));
  assert.deepEqual(await seenBy(inner, author, colleague, other), [200, 404, 200]);
  await must(await lift(author, top), 204);
  assert.deepEqual(await seenBy(inner, author, colleague, other), [200, 200, 200]);
});

test('a page with a restricted part that the caller does not manage cannot be restricted anew', async () => {
  const top = await make('Has parts');
  const middle = await make('Middle', top);
  const [part, second] = [await make('Part', middle), await make('Second part', middle)];
  await must(await put(author, top, { [colleague.user_id]: 'manage' }));
  await must(await put(colleague, part, {}));
  await assertRefused([[() => put(author, middle, {}), 403, /^The page has a restricted part that you do not/]]);
  await must(await put(colleague, second, {}));
  await assertRefused([
    [() => put(author, middle, {}), 403, /has 2 restricted parts .* Ask a person who manages them\./],
  ]);
  await must(await put(colleague, part, { [author.user_id]: 'read', [colleague.user_id]: 'manage' }));
  await assertRefused([[() => put(author, middle, {}), 403, /has 2 restricted parts/]]);
  await must(await lift(colleague, part), 204);
  await must(await put(colleague, second, { [author.user_id]: 'manage' }));
  await must(await put(author, top, { [author.user_id]: 'manage' }));
  assert.deepEqual(await seenBy(top, author, colleague), [200, 404]);
});

test('whoever manages a restriction takes grants back and lifts it, also if others manage parts inside', async () => {
  const top = await make('Managed');
  const part = await make('Managed part', top);
  await must(await put(author, top, { [colleague.user_id]: 'manage' }));
  await must(await put(colleague, part, {}));
  await must(await put(author, top, { [author.user_id]: 'manage' }));
  assert.deepEqual(await seenBy(part, author, colleague), [404, 404]);
  await must(await lift(author, top), 204);
  assert.deepEqual(await seenBy(part, author, colleague), [404, 200]);
});

test('the role stays the ceiling: a viewer with the level "manage" only reads', async () => {
  const viewer = await world.member(workspace_id, 'viewer');
  const page = await make('Viewed');
  await must(await put(author, page, { [viewer.user_id]: 'manage' }));
  await assertRefused([
    [() => put(viewer, page, { [viewer.user_id]: 'manage' }), 403],
    [() => lift(viewer, page), 403],
    [() => viewer.patch(`${wiki}/pages/${page}`, { title: 'Mine', base_revision: 1 }), 403],
  ]);
  assert.deepEqual(await seenBy(page, viewer), [200]);
});

test('people who are no active members get the same answer, which names the entry, and nothing changes', async () => {
  const page = await make('Wrong people');
  const closed = await make('Wrong people, restricted');
  await must(await put(author, closed, { [colleague.user_id]: 'read' }));
  const [stranger, elsewhere] = [await world.person(), await world.owner()];
  const inactive = await world.member(workspace_id, 'member', 'inactive');
  const [left, deleted] = [await member(), await member()];
  await must(await owner.send('DELETE', `/v1/workspaces/${workspace_id}/members/${left.membership_id}`), 204);
  await world.db.query(sql`delete from memberships where user_id = ${deleted.user_id}`);
  await world.db.query(sql`delete from users where user_id = ${deleted.user_id}`);
  const wrong = [stranger, elsewhere, inactive, left, deleted].map(({ user_id }) => user_id);
  const made = ['user_01jd8w3v6xf3e8h2k9m4n5p6q9', '', "' or 1=1--", 'é😀', wiki_id, author.membership_id];
  for (const user_id of [...wrong, ...made]) {
    const sentence = `grants[1]: "${user_id}" is not an active member of the workspace.`;
    for (const page_id of [page, closed]) {
      await assertRefused([
        [
          async () => {
            const answer = await put(author, page_id, { [author.user_id]: 'manage', [user_id]: 'read' });
            assert.deepEqual([answer.body.error, answer.body.message], ['invalid_request', sentence]);
            return answer;
          },
          400,
        ],
      ]);
    }
  }
  assert.deepEqual(await seenBy(page, other), [200]);
});

test('a deactivated member keeps no place in a new list', async () => {
  const page = await make('Deactivated');
  const leaving = await member();
  await must(await put(author, page, { [leaving.user_id]: 'write' }));
  const path = `/v1/workspaces/${workspace_id}/members/${leaving.membership_id}`;
  await must(await owner.post(`${path}/deactivate`));
  await assertRefused([[() => put(author, page, { [author.user_id]: 'manage', [leaving.user_id]: 'read' }), 400]]);
  await must(await owner.post(`${path}/reactivate`));
  assert.deepEqual(await seenBy(page, leaving), [200]);
  await must(await owner.post(`${path}/deactivate`));
  await must(await put(author, page, { [author.user_id]: 'manage' }));
  await must(await owner.post(`${path}/reactivate`));
  assert.deepEqual(await seenBy(page, leaving), [404]);
});

test('bodies that break the schema, or name a person twice, are refused', async () => {
  const page = await make('Bad bodies');
  const send = (body: unknown) =>
    author.send('PUT', `${wiki}/pages/${page}/access`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const grant = { user_id: author.user_id, level: 'manage' };
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ user_id: `user_${i}`, level: 'read' as const }));
  await assertRefused([
    [() => send({}), 422],
    [() => send([]), 422],
    [() => send({ grants: null }), 422],
    [() => send({ grants: 'all' }), 422],
    [() => send({ grants: [author.user_id] }), 422],
    [() => send({ grants: [{ user_id: author.user_id }] }), 422],
    [() => send({ grants: [{ ...grant, level: 'owner' }] }), 422],
    [() => send({ grants: [{ ...grant, level: 'Manage' }] }), 422],
    [() => send({ grants: [{ ...grant, user_id: 7 }] }), 422],
    [() => send({ grants: [grant, { ...grant, level: 'read' }] }), 400, /^grants\[1\]: ".*" is in the list twice\.$/],
    [() => send({ grants: [grant, grant] }), 400, /^grants\[1\]: /],
    [() => send({ grants: many(GRANTS_MAX + 1) }), 422],
    [() => send({ grants: many(10_000) }), 422],
    [() => send({ grants: many(GRANTS_MAX) }), 400, /at most 999 other people/],
    [() => send({ grants: many(GRANTS_MAX - 1) }), 400, /^grants\[0\]: "user_0" is not an active member/],
  ]);
  assert.deepEqual(await seenBy(page, other), [200]);
});

test('a page can be restricted to 1,000 people', async () => {
  const page = await make('Many people');
  const people = await world.db.query<{ user_id: string }>(sql`
    with made as (
      insert into users (user_id, email, email_verified, display_name)
      select 'user_many' || n, 'many' || n || '@example.com', true, 'Person ' || n from generate_series(1, 999) n
      returning user_id
    ), joined as (
      insert into memberships (membership_id, workspace_id, user_id, role)
      select 'mem_' || user_id, ${workspace_id}, user_id, 'viewer' from made
    )
    select user_id from made`);
  const levels = Object.fromEntries(people.map(({ user_id }) => [user_id, 'read' as Level]));
  const { body } = await must(await put(author, page, levels));
  assert.equal(body.grants.length, GRANTS_MAX);
  assert.ok(body.grants.every(({ display_name }: { display_name: string }) => display_name !== ''));
  const lowered = Object.fromEntries(people.slice(0, 500).map(({ user_id }) => [user_id, 'write' as Level]));
  const replaced = await must(await put(author, page, { ...lowered, [author.user_id]: 'manage' }));
  assert.equal(replaced.body.grants.length, 501);
  await must(await lift(author, page), 204);
});

test('a key needs the permission to write pages, and names members only with the permission to read them', async () => {
  const page = await make('Through a key', '', owner);
  const key = async (permissions: string[]) =>
    world.as(
      (await must(await owner.post(`/v1/workspaces/${workspace_id}/api-keys`, { name: 'Key', permissions }), 201)).body
        .secret,
    );
  const [reader, writer] = [await key(['pages:read', 'members:read']), await key(['pages:read', 'pages:write'])];
  await assertRefused([
    [() => put(reader, page, { [owner.user_id]: 'manage' }), 403],
    [() => lift(reader, page), 403],
  ]);
  const { body } = await must(await put(writer, page, { [colleague.user_id]: 'read' }));
  assert.deepEqual(
    body.grants.map(({ display_name }: { display_name: string }) => display_name),
    ['', ''],
  );
  assert.deepEqual(levelsOf({ body } as Answer)[owner.user_id], 'manage', 'the key acts for its user');
  await must(await lift(writer, page), 204);
  const stranger = await world.person();
  await assertRefused([
    [() => put(stranger, page, { [stranger.user_id]: 'manage' }), 403],
    [() => lift(stranger, page), 403],
    [() => put(world.anonymous, page, {}), 401],
  ]);
});

test('each change is one audit record with the grants that differ, and without names or titles', async () => {
  const page = await make('Recorded secret');
  await must(await put(author, page, { [colleague.user_id]: 'read' }));
  await must(await put(author, page, { [author.user_id]: 'manage', [other.user_id]: 'write' }));
  await must(await put(author, page, { [author.user_id]: 'manage', [other.user_id]: 'read' }));
  await must(await lift(author, page), 204);
  const records = await world.db.query<{ type: string; target_kind: string; before: any; after: any }>(sql`
    select type, target_kind, before, after from audit_events
    where target_id = ${page} and type <> 'page.created' order by created_at`);
  const [a, c, o] = [author.user_id, colleague.user_id, other.user_id];
  const changes = records.map(({ type, target_kind, before, after }) => [
    type,
    target_kind,
    before.grants,
    after.grants,
  ]);
  assert.deepEqual(changes, [
    ['page.restricted', 'page', {}, { [a]: 'manage', [c]: 'read' }],
    ['page.access_changed', 'page', { [c]: 'read' }, { [o]: 'write' }],
    ['page.access_changed', 'page', { [o]: 'write' }, { [o]: 'read' }],
    ['page.unrestricted', 'page', { [a]: 'manage', [o]: 'read' }, undefined],
  ]);
  assert.doesNotMatch(JSON.stringify(records), /Recorded|@example|secret/);
});

test('a page in the trash keeps its restriction, and is restored with it', async () => {
  const top = await make('Kept in the trash');
  const below = await make('Below in the trash', top);
  await must(await put(author, below, {}));
  await must(await author.send('DELETE', `${wiki}/pages/${top}`), 204);
  await assertRefused([
    [() => put(author, below, {}), 404],
    [() => lift(author, below), 404],
  ]);
  await must(await author.post(`${wiki}/pages/${top}/restore`));
  assert.deepEqual(await seenBy(below, author, other), [200, 404]);
  await must(await lift(author, below), 204);
});
