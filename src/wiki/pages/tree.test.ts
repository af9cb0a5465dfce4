import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBy } from '../../../test/plans.ts';
import { openWorld } from '../../../test/world.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';

/** The tree is selected in rows of several hundred pages. */
let sent: { text: string; values: readonly unknown[] }[] = [];
const world = await openWorld({ ROLE: 'web' }, { observe: (text, values) => sent.push({ text, values }) });

for (const pages of [0, 1, 500, 501, 1_203]) {
  test(`a tree of ${pages} pages is complete, in order and cached by its ETag, whatever characters its titles have`, async () => {
    const owner = await world.owner();
    const { wiki_id } = owner;
    await world.db.query(sql`delete from pages where wiki_id = ${wiki_id}`);
    await world.db.query(sql`
      insert into pages (wiki_id, page_id, path, slug, title, parent_path, position, origin, revision, word_count, created_by, updated_by)
      select ${wiki_id}, 'page_' || n, slug, slug, 'Größe "' || n || E'" \\\\ \\n 😀', null, ${pages}::int - n, 'authored', 1, 3, 'user_t', 'user_t'
      from generate_series(1, ${pages}::int) n, lateral (select 's"\\' || n as slug) given`);
    const path = `/v1/wikis/${wiki_id}/tree`;
    const { status, headers, body } = await owner.get(path);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.map(({ page_id, slug, title }: Record<string, string>) => [page_id, slug, title]),
      Array.from({ length: pages }, (_, i) => [
        `page_${pages - i}`,
        `s"\\${pages - i}`,
        `Größe "${pages - i}" \\ \n 😀`,
      ]),
    );
    assert.equal(Number(headers.get('content-length')), Buffer.byteLength(JSON.stringify(body)));
    assert.equal((await owner.get(path, { 'if-none-match': headers.get('etag') ?? '' })).status, 304);
  });
}

test('the ETag of a tree changes with each visible change, and with no other change', async () => {
  const owner = await world.owner();
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const make = (title: string, more: object = {}) => owner.post(`${wiki}/pages`, { title, markdown: 'Text', ...more });
  const { page_id: folder } = (await make('Folder')).body;
  const { page_id: page } = (await make('Page')).body;
  const { page_id: below } = (await make('Below', { parent_page_id: page })).body;
  const edit = (page_id: string, change: object) => owner.patch(`${wiki}/pages/${page_id}`, change);
  const tagOfTree = async () => String((await owner.get(`${wiki}/tree`)).headers.get('etag'));
  const changes: [what: string, shows: boolean, change: () => Promise<{ status: number }>][] = [
    ['a page comes', true, () => make('New')],
    ['a text', false, () => edit(page, { markdown: 'Another text', base_revision: 1 })],
    ['a title', true, () => edit(page, { title: 'Renamed', base_revision: 2 })],
    ['a slug', true, () => edit(page, { slug: 'renamed' })],
    ['a place', true, () => edit(page, { parent_page_id: folder })],
    ['an order', true, () => edit(folder, { position: 7 })],
    ['a status', true, () => edit(below, { status: 'draft' })],
    ['what is the same', false, () => edit(below, { status: 'draft' })],
    ['a page goes', true, () => owner.send('DELETE', `${wiki}/pages/${page}`)],
    ['and is back', true, () => owner.post(`${wiki}/pages/${page}/restore`)],
    ['an earlier title', true, () => owner.post(`${wiki}/pages/${page}/revisions/1/restore`, {})],
    ['the wiki', false, () => owner.patch(wiki, { title: 'Another' })],
  ];
  const seen = [await tagOfTree()];
  for (const [what, shows, change] of changes) {
    const { status: changed } = await change();
    assert.ok(changed < 300, `${what}: ${changed}`);
    const known = String(seen.at(-1));
    const { status, headers } = await owner.get(`${wiki}/tree`, { 'if-none-match': known });
    assert.equal(status, shows ? 200 : 304, what);
    const tag = String(headers.get('etag'));
    assert.equal(seen.includes(tag), !shows, what);
    if (shows) seen.push(tag);
  }
});

test('members who can see drafts and members who cannot get different trees, and strangers get none', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  const reader = await world.member(owner.workspace_id, 'viewer');
  const path = `/v1/wikis/${owner.wiki_id}/tree`;
  await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'Secret', markdown: 'Text', status: 'draft' });
  const titles = async (user: Pick<typeof owner, 'get'>) =>
    (await user.get(path)).body.some(({ title }: { title: string }) => title === 'Secret');
  // Twice: from the database and from the cache.
  for (let i = 0; i < 2; i += 1) assert.deepEqual([await titles(owner), await titles(reader)], [true, false]);
  const etag = String((await owner.get(path)).headers.get('etag'));
  assert.equal((await owner.get(path, { 'if-none-match': `"other", W/${etag}` })).status, 304);
  assert.equal((await reader.get(path, { 'if-none-match': etag })).status, 200);
  assert.equal((await other.get(path, { 'if-none-match': etag })).status, 403);
});

test('no page is read if the client or the process has the current tree', async () => {
  const owner = await world.owner();
  const path = `/v1/wikis/${owner.wiki_id}/tree`;
  await world.db.query(sql`
    insert into pages (wiki_id, page_id, path, slug, title, origin, revision, word_count, created_by, updated_by)
    select ${owner.wiki_id}, 'page_many_' || n, 'many-' || n, 'many-' || n, 'Page', 'authored', 1, 3, 'user_t', 'user_t'
    from generate_series(1, 2000) n`);
  const context = sql`
    select set_request_context('key', ${sha256(owner.token ?? '')}::bytea, null, null, null, ${owner.wiki_id}, null, null)`;
  const read = async (headers: Record<string, string>) => {
    sent = [];
    const answer = await owner.get(path, headers);
    const statement = sent.find(({ text }) => text.includes(' as _record_use'));
    assert.ok(statement);
    return { ...answer, rows: (await readBy(world.db, context, statement)).rows };
  };
  const first = await read({});
  assert.ok(first.rows >= 2_000, String(first.rows));
  const second = await read({});
  assert.ok(second.rows < 40, String(second.rows));
  assert.deepEqual(second.body, first.body);
  const known = await read({ 'if-none-match': String(first.headers.get('etag')) });
  assert.deepEqual([known.status, known.rows < 40], [304, true]);
  await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'New', markdown: 'Text' });
  const changed = await read({});
  assert.equal(changed.body.length, first.body.length + 1);
});
