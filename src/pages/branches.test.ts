import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../../test/world.ts';

const world = await openWorld();
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

test('the branches of the root are its pages, with whether there are more below', async () => {
  assert.deepEqual(await titles(''), ['A +', 'B +', 'C']);
});

test('around a page there are its children, those beside it and those beside each page above it', async () => {
  assert.deepEqual((await titles(`page_id=${a1.page_id}`)).sort(), ['A +', 'A1 +', 'A2', 'A3', 'B +', 'C', 'Deep']);
  assert.deepEqual((await titles(`page_id=${b.page_id}`)).sort(), ['A +', 'B +', 'B1', 'C']);
});

test('around a page without a tree there are those above it, beside it and below it', async () => {
  const beside = async ({ page_id }: { page_id: string }) => {
    const { status, body } = await owner.get(`${wiki}/pages/${page_id}/surroundings?branches=beside`);
    assert.equal(status, 200);
    return body.branches.map(({ title }: { title: string }) => title);
  };
  assert.deepEqual((await beside(a1)).sort(), ['A', 'A1', 'A2', 'A3', 'Deep']);
  assert.deepEqual((await beside(deep)).sort(), ['A', 'A1', 'Deep']);
  assert.deepEqual((await beside(b)).sort(), ['A', 'B', 'B1', 'C']);
});

test('of each branch no more are listed than asked for, but always the way to the page', async () => {
  assert.deepEqual((await titles(`page_id=${deep.page_id}&limit=1`)).sort(), ['A +', 'A1 +', 'Deep']);
  const c = (await owner.get(`${wiki}/pages/path/c`)).body;
  assert.deepEqual(await titles(`page_id=${c.page_id}&limit=1`), ['A +', 'C']);
});

test('with an offset those right below the page follow, and nothing else', async () => {
  assert.deepEqual(await titles('limit=2&offset=2'), ['C']);
  assert.deepEqual(await titles(`page_id=${a.page_id}&limit=1&offset=1`), ['A2']);
  assert.deepEqual(await titles(`page_id=${a.page_id}&limit=9&offset=9`), []);
});

test('who only reads sees no drafts, and no branch for their sake', async () => {
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.deepEqual((await titles(`page_id=${a.page_id}`, viewer)).sort(), ['A +', 'A1 +', 'A2', 'B +', 'C']);
  const lonely = await page('Lonely');
  await page('Draft', lonely.page_id, 'draft');
  assert.ok((await titles('', viewer)).includes('Lonely'));
  assert.ok((await titles('')).includes('Lonely +'));
  const [draft] = (await owner.get(`${wiki}/pages?status=draft`)).body;
  assert.deepEqual((await titles(`page_id=${draft.page_id}`, viewer)).sort(), (await titles('', viewer)).sort());
});

test('a page of another wiki opens nothing here', async () => {
  const other = await world.owner();
  const foreign = await other.post(`/v1/wikis/${other.wiki_id}/pages`, { title: 'Foreign', markdown: '' });
  assert.deepEqual(await titles(`page_id=${foreign.body.page_id}`), await titles(''));
});

test('a preview is what the page would be, and nothing is kept', async () => {
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
