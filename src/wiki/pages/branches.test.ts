import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();
const wiki = `/v1/wikis/${owner.wiki_id}`;

async function page(title: string, parent_page_id = '', status = 'published') {
  const { status: code, body } = await owner.post(`${wiki}/pages`, { title, markdown: '', parent_page_id, status });
  assert.equal(code, 201);
  return body;
}

async function titles(query: string, client: Pick<typeof owner, 'get'> = owner): Promise<string[]> {
  const { status, body } = await client.get(`${wiki}/branches?${query}`);
  assert.equal(status, 200);
  return body.map(
    ({ title, has_children }: { title: string; has_children: boolean }) => title + (has_children ? ' +' : ''),
  );
}

const a = await page('A');
const a1 = await page('A1', a.page_id);
const deep = await page('Deep', a1.page_id);
await page('A2', a.page_id);
await page('A3', a.page_id, 'draft');
const b = await page('B');
await page('B1', b.page_id);
await page('C');

test('the branches of the root are its pages, each with whether it has children', async () => {
  assert.deepEqual(await titles(''), ['A +', 'B +', 'C']);
});

test('the branches around a page are its children, its siblings and the siblings of each ancestor', async () => {
  assert.deepEqual((await titles(`page_id=${a1.page_id}`)).sort(), ['A +', 'A1 +', 'A2', 'A3', 'B +', 'C', 'Deep']);
  assert.deepEqual((await titles(`page_id=${b.page_id}`)).sort(), ['A +', 'B +', 'B1', 'C']);
});

test('without a tree, the branches around a page are its ancestors, siblings and children', async () => {
  const beside = async ({ page_id }: { page_id: string }) => {
    const { status, body } = await owner.get(`${wiki}/pages/${page_id}/surroundings?branches=beside`);
    assert.equal(status, 200);
    return body.branches.map(({ title }: { title: string }) => title);
  };
  assert.deepEqual((await beside(a1)).sort(), ['A', 'A1', 'A2', 'A3', 'Deep']);
  assert.deepEqual((await beside(deep)).sort(), ['A', 'A1', 'Deep']);
  assert.deepEqual((await beside(b)).sort(), ['A', 'B', 'B1', 'C']);
});

type Branch = { page_id: string; title: string };

/** Reads the view of a page. Returns the view, its tree, and the titles of all pages in both lists of branches. */
async function viewOf(path: string, query = '', client: Pick<typeof owner, 'get'> = owner) {
  const { status, body } = await client.get(`${wiki}/pages/view/${path}?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  const { tree, surroundings } = body;
  const all = [...tree.branches, ...surroundings.branches] as Branch[];
  return { body, tree, titles: [...new Set(all.map(({ title }) => title))].sort() };
}

test('the view of a page equals the separate page, surroundings and branches', async () => {
  for (const { page_id, path } of [a, a1, deep, b]) {
    const { body, titles: shown } = await viewOf(path);
    const { markdown: _, ...page } = (await owner.get(`${wiki}/pages/${page_id}`)).body;
    assert.deepEqual(body.page, page);
    const { branches, ...around } = (await owner.get(`${wiki}/pages/${page_id}/surroundings`)).body;
    assert.deepEqual({ ...body.surroundings, branches: [] }, { ...around, branches: [] });
    assert.deepEqual(shown, branches.map(({ title }: Branch) => title).sort());
    const known = new Map([...body.tree.branches, ...body.surroundings.branches].map((it: Branch) => [it.page_id, it]));
    for (const branch of branches) assert.deepEqual(known.get(branch.page_id), branch);
    const beside = await viewOf(path, 'branches=beside');
    const besideAlone = await owner.get(`${wiki}/pages/${page_id}/surroundings?branches=beside`);
    assert.deepEqual(beside.body.surroundings, besideAlone.body);
    assert.deepEqual(beside.tree.branches, []);
  }
  const other = await world.owner();
  assert.equal((await owner.get(`${wiki}/pages/view/nowhere`)).status, 404);
  assert.equal((await other.get(`${wiki}/pages/view/${a.path}`)).status, 403);
});

test('a client with the current tree around a page is not sent it again until the tree changes', async () => {
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const { tree } = await viewOf(a1.path);
  const ask = (path: string, client?: Pick<typeof owner, 'get'>) =>
    viewOf(path, new URLSearchParams({ known_tree: tree.tag }).toString(), client);
  assert.deepEqual((await ask(a1.path)).tree, { tag: tree.tag, branches: [] });
  assert.deepEqual((await ask(`${a.path}/a2`)).tree, { tag: tree.tag, branches: [] }, 'beside it');
  assert.notDeepEqual((await ask(deep.path)).tree.branches, [], 'below it');
  const seen = await ask(a1.path, viewer);
  assert.ok(seen.tree.branches.length > 0 && !seen.titles.includes('A3'), 'without drafts it is another one');
  const { body: a2 } = await owner.get(`${wiki}/pages/path/${a.path}/a2`);
  await owner.patch(`${wiki}/pages/${a2.page_id}`, { title: 'A2 renamed', base_revision: 1 });
  const changed = await ask(a1.path);
  assert.ok(changed.titles.includes('A2 renamed'));
  await owner.patch(`${wiki}/pages/${a2.page_id}`, { title: 'A2', base_revision: 2 });
});

test('branches are cached by ETag until the tree changes, and have another ETag with drafts', async () => {
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const ask = (query: string, etag: string, client: Pick<typeof owner, 'get'> = owner) =>
    client.get(`${wiki}/branches?${query}`, { 'if-none-match': etag });
  for (const query of ['', `page_id=${a.page_id}`, 'limit=1&offset=1']) {
    const { headers } = await owner.get(`${wiki}/branches?${query}`);
    const etag = String(headers.get('etag'));
    assert.equal((await ask(query, etag)).status, 304, query);
    assert.equal((await ask(query, etag, viewer)).status, 200, 'without drafts');
    const { body: added } = await owner.post(`${wiki}/pages`, {
      title: 'Added',
      markdown: '',
      parent_page_id: b.page_id,
    });
    const changed = await ask(query, etag);
    assert.deepEqual([changed.status, changed.headers.get('etag') === etag], [200, false]);
    await owner.send('DELETE', `${wiki}/pages/${added.page_id}`);
  }
  const { wiki_id } = await world.owner();
  assert.equal((await ask('', '*')).status, 304);
  assert.equal((await owner.get(`/v1/wikis/${wiki_id}/branches`, { 'if-none-match': '*' })).status, 403);
});

test('the view of a page whose parent is hidden from the reader includes its siblings', async () => {
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const folder = await page('Folder');
  const below = await page('Below', folder.page_id);
  await page('Beside', folder.page_id);
  await owner.patch(`${wiki}/pages/${folder.page_id}`, { status: 'draft' });
  const { titles: shown } = await viewOf(below.path, '', viewer);
  assert.deepEqual(shown, ['A', 'B', 'Below', 'Beside', 'C']);
  await owner.send('DELETE', `${wiki}/pages/${folder.page_id}`);
});

test('each branch lists at most the limit, and always the path to the page', async () => {
  assert.deepEqual((await titles(`page_id=${deep.page_id}&limit=1`)).sort(), ['A +', 'A1 +', 'Deep']);
  const c = (await owner.get(`${wiki}/pages/path/c`)).body;
  assert.deepEqual(await titles(`page_id=${c.page_id}&limit=1`), ['A +', 'C']);
});

test('with an offset, only further children of the page are listed', async () => {
  assert.deepEqual(await titles('limit=2&offset=2'), ['C']);
  assert.deepEqual(await titles(`page_id=${a.page_id}&limit=1&offset=1`), ['A2']);
  assert.deepEqual(await titles(`page_id=${a.page_id}&limit=9&offset=9`), []);
});

test('viewers see no drafts, and a page whose only children are drafts has no children for them', async () => {
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.deepEqual((await titles(`page_id=${a.page_id}`, viewer)).sort(), ['A +', 'A1 +', 'A2', 'B +', 'C']);
  const lonely = await page('Lonely');
  await page('Draft', lonely.page_id, 'draft');
  assert.ok((await titles('', viewer)).includes('Lonely'));
  assert.ok((await titles('')).includes('Lonely +'));
  const [draft] = (await owner.get(`${wiki}/pages?status=draft`)).body;
  assert.deepEqual((await titles(`page_id=${draft.page_id}`, viewer)).sort(), (await titles('', viewer)).sort());
});

test('a page id of another wiki lists the root', async () => {
  const other = await world.owner();
  const foreign = await other.post(`/v1/wikis/${other.wiki_id}/pages`, { title: 'Foreign', markdown: '' });
  assert.deepEqual(await titles(`page_id=${foreign.body.page_id}`), await titles(''));
});

test('a preview equals the rendered page, and stores nothing', async () => {
  const markdown = '# One\n\n[[C]] and [[Nowhere]] and <script>alert(1)</script>';
  const { status, body } = await owner.post(`${wiki}/preview`, { markdown, page_path: 'page' });
  assert.equal(status, 200);
  const made = await owner.post(`${wiki}/pages`, { title: 'One', markdown, slug: 'page' });
  assert.deepEqual([body.html, body.outline], [made.body.html, made.body.outline]);
  assert.ok(!body.html.includes('<script'));
  assert.equal((await owner.get(`${wiki}/pages/path/page`)).body.revision, 1);
  const tooLong = await owner.post(`${wiki}/preview`, { markdown: 'x'.repeat(1_536 * 1_024 + 1) });
  assert.equal(tooLong.status, 413);
});
