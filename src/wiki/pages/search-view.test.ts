import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextOf } from '../../../test/list-all.ts';
import { openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';
import { mergePending } from '../search/index/merge-pending.ts';

let statements: string[] = [];
const world = await openWorld({ ROLE: 'web' }, { observe: (text) => void statements.push(text) });
const owner = await world.owner();
const viewer = await world.member(owner.workspace_id, 'viewer');
const wiki = `/v1/wikis/${owner.wiki_id}`;

async function page(title: string, markdown: string, more: object = {}) {
  const { status, body } = await owner.post(`${wiki}/pages`, { title, markdown, ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

const folder = await page('Tools', '---\ntags: [Loom, steam]\n---\nA loom of wood.');
for (let i = 0; i < 30; i += 1) {
  const tags = i % 3 === 0 ? '---\ntags: [LOOM]\n---\n' : '';
  const parent = i % 2 === 0 ? { parent_page_id: folder.page_id } : {};
  await page(
    `Loom ${i}`,
    `${tags}# Parts\n\nThe ${i % 4 === 0 ? 'steam engine' : 'engine of steam'} drives ${'looms '.repeat(i)}`,
    parent,
  );
}
const hidden = await page('Steam loom', 'A draft about a steam engine.');
await owner.patch(`${wiki}/pages/${hidden.page_id}`, { status: 'draft', base_revision: 1 });
const archived = await page('Old steam', 'An archived engine.');
await owner.patch(`${wiki}/pages/${archived.page_id}`, { status: 'archived', base_revision: 1 });

const merge = async () => {
  while ((await mergePending(world.db, owner.wiki_id, 'page', 'wait')) > 0);
};

type Reader = Pick<typeof owner, 'get'>;

async function read(path: string, client: Reader) {
  const { status, body, headers } = await client.get(`${wiki}/${path}`);
  assert.equal(status, 200, JSON.stringify(body));
  return { body, link: nextOf(headers.get('link')) };
}

const QUERIES: Record<string, string>[] = [
  { query: 'loom' },
  { query: 'steam engine' },
  { query: 'loom steam', limit: '3' },
  { query: '"steam engine"' },
  { query: 'lom' },
  { query: 'nowhere-at-all' },
  { query: '[[' },
  { query: 'tag:loom' },
  { query: 'engine', sort: 'title' },
  { query: 'engine', in: 'tools' },
  { query: 'engine', status: 'draft' },
  { query: 'engine', title: 'steam' },
  { query: 'loom', limit: '100', of: '5' },
  { query: `author:${owner.user_id}` },
];

async function assertSame(client: Reader, asked: Record<string, string>): Promise<{ counts: unknown }> {
  const { of = '1000', ...query } = asked;
  const { limit: _, sort: __, ...counted } = query;
  const [hits, counts, branches, view] = [
    await read(`pages/search?${new URLSearchParams(query)}`, client),
    await read(`pages/search/facets?${new URLSearchParams({ ...counted, of })}`, client),
    await read('branches?limit=100', client),
    await read(`pages/search/view?${new URLSearchParams({ ...query, of })}`, client),
  ];
  assert.deepEqual(view.body, {
    hits: hits.body,
    counts: counts.body,
    tree: { tag: view.body.tree.tag, branches: branches.body },
  });
  assert.deepEqual(cursorOf(view.link), cursorOf(hits.link), 'both cursors continue after the same hit');
  return view.body;
}

function cursorOf(link: string | undefined): string | null {
  return link === undefined ? null : new URL(link, 'http://x').searchParams.get('after');
}

/** The counts in the first state, by reader and query. */
const firstCounts = new Map<string, unknown>();

for (const state of ['that waits to be merged', 'that is merged', 'that is in memory']) {
  test(`a page of results of an index ${state} equals the separate search, counts and tree`, async () => {
    if (state === 'that is merged') await merge();
    for (const [reader, client] of Object.entries({ owner, viewer })) {
      for (const query of QUERIES) {
        const { counts } = await assertSame(client, query);
        // The counts do not depend on the order of the hits.
        const name = `${reader} ${JSON.stringify(query)}`;
        if (query.of === undefined) assert.deepEqual(counts, firstCounts.get(name) ?? counts, name);
        firstCounts.set(name, counts);
      }
    }
  });
}

test('counts follow each change of the pages, even if the process has cached facts', async () => {
  await merge();
  const counts = async (client: Reader = owner) => {
    const { body } = await read('pages/search/view?query=loom', client);
    return body.counts;
  };
  for (let i = 0; i < 3; i += 1) await counts();
  const before = await counts();
  const loom = (await owner.get(`${wiki}/pages/path/loom-1`)).body;
  const path = `${wiki}/pages/${loom.page_id}`;
  const change = async (body: object) => {
    const { revision: base_revision } = (await owner.get(path)).body;
    const { status } = await owner.patch(path, { ...body, base_revision });
    assert.equal(status, 200);
    await merge();
    for (let i = 0; i < 2; i += 1) await counts();
  };
  await change({ status: 'draft' });
  const drafts = ({ statuses }: { statuses: { status: string; count: number }[] }) =>
    statuses.find(({ status }) => status === 'draft')?.count ?? 0;
  assert.equal(drafts(await counts()), drafts(before) + 1);
  assert.equal((await counts(viewer)).total, before.total - drafts(before) - 1);
  assert.equal(drafts(await counts(viewer)), 0);
  await change({ status: 'published' });
  assert.deepEqual(await counts(), before);
  await change({ markdown: '---\ntags: [shuttle]\n---\nA loom.' });
  assert.equal((await counts()).tags.find(({ tag }: { tag: string }) => tag === 'shuttle')?.count, 1);
  await change({ parent_page_id: folder.page_id });
  const inTools = ({ folders }: { folders: { path: string; count: number }[] }) =>
    folders.find((it) => it.path === 'tools')?.count ?? 0;
  assert.equal(inTools(await counts()), inTools(before) + 1);
  await owner.patch(`${wiki}/pages/${folder.page_id}`, { title: 'Instruments', base_revision: 1 });
  assert.ok((await counts()).folders.some(({ title }: { title: string }) => title === 'Instruments'));
  await owner.patch('/v1/me', { display_name: 'Ada Lovelace' });
  assert.equal((await counts()).authors[0].display_name, 'Ada Lovelace');
  await owner.send('DELETE', path);
  await merge();
  for (let i = 0; i < 3; i += 1) assert.equal((await counts()).total, before.total - 1);
});

test('a passage comes from the revision that was found, not from a cached one', async () => {
  const { page_id } = await page('Spindle', 'A spindle turns.');
  await merge();
  const snippets = async () =>
    (await read('pages/search?query=spindle', owner)).body.map(({ snippet }: { snippet: string }) => snippet);
  for (let i = 0; i < 3; i += 1) assert.deepEqual(await snippets(), ['A <mark>spindle</mark> turns.']);
  await owner.patch(`${wiki}/pages/${page_id}`, { markdown: 'The spindle is at rest.', base_revision: 1 });
  for (let i = 0; i < 3; i += 1) {
    assert.deepEqual(await snippets(), ['The <mark>spindle</mark> is at rest.']);
    await merge();
  }
});

test('a page of results continues by cursor, including a cursor of the search', async () => {
  const search = await read('pages/search?query=loom&limit=7', owner);
  const view = await read('pages/search/view?query=loom&limit=7', owner);
  const [next, nextView] = [
    await read(search.link?.slice(wiki.length + 1) ?? '', owner),
    await read(view.link?.slice(wiki.length + 1) ?? '', owner),
  ];
  assert.deepEqual(nextView.body.hits, next.body);
  assert.deepEqual(nextView.body.counts, view.body.counts);
  const mixed = await read(`pages/search/view?query=loom&limit=7&after=${cursorOf(search.link)}`, owner);
  assert.deepEqual(mixed.body.hits, next.body);
});

test('a client with the current tree is not sent it again until the tree changes', async () => {
  const ask = async (known_tree: string, client: Reader = owner) =>
    (await read(`pages/search/view?${new URLSearchParams({ query: 'loom', known_tree })}`, client)).body.tree;
  const { tag, branches } = await ask('');
  assert.ok(branches.length > 1);
  assert.deepEqual(await ask(tag), { tag, branches: [] });
  assert.ok((await ask(tag, viewer)).branches.length > 0, 'the tree without drafts has another tag');
  await page('Added', '');
  assert.ok((await ask(tag)).branches.some(({ title }: { title: string }) => title === 'Added'));
});

test('a page of results takes one statement if the index is cached', async () => {
  await merge();
  await world.db.query(sql`update api_keys set last_used_at = now() + interval '1 hour'`);
  const ask = () => read('pages/search/view?query=steam%20engine', owner);
  for (let i = 0; i < 2; i += 1) await ask();
  statements = [];
  await ask();
  assert.equal(statements.length, 1, statements.join('\n'));
});

test('a caller who may not read the wiki is refused as by the search', async () => {
  const stranger = await world.owner();
  assert.equal((await stranger.get(`${wiki}/pages/search/view?query=loom`)).status, 403);
  assert.equal(
    (await stranger.get('/v1/wikis/wiki_01jd8w3v6xf3e8h2k9m4n5p6q8/pages/search/view?query=loom')).status,
    404,
  );
});
