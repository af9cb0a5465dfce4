import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();

/** Creates a wiki, with helpers that upload files and list its broken links as `path:line target`. */
async function newWiki() {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Links' });
  const at = `/v1/wikis/${body.wiki_id}`;
  return {
    at,
    upload: async (files: Record<string, string>) => (await world.upload(owner, body.wiki_id, files)).body,
    broken: async () =>
      (await owner.get(`${at}/broken-links`)).body
        .map(({ path, line, target }: { path: string; line: number; target: string }) => `${path}:${line} ${target}`)
        .sort() as string[],
  };
}

const A = [
  '---\ntitle: A\n---\n',
  '# A\n',
  '[b](b.md) [here](#a) [out](https://x.example/y.md) [mail](mailto:x@x.example) [up](..) [api](/v1/overview)\n',
  '[gone](missing.md) [again](missing.md#x)\n',
  '> [abs](/powershell/x) and [later](later)\n',
  '![](no.png) [[Nobody]] [[B]] `[code](code.md)`\n',
  '<!-- <a href="comment.md">x</a> -->\n<a href="html.md">x</a>\n',
].join('\n');
const BROKEN_OF_A = [
  'd/a:13 [[Nobody]]',
  'd/a:13 no.png',
  'd/a:16 html.md',
  'd/a:9 missing.md',
  'd/a:11 /powershell/x',
  'd/a:11 d/later',
].sort();

test('exactly the links without a target are listed, with file and line', async () => {
  const wiki = await newWiki();
  const { summary } = await wiki.upload({ 'd/a.md': A, 'd/b.md': '# B\n\n[a](a.md)\n' });
  assert.deepEqual(await wiki.broken(), BROKEN_OF_A);
  assert.match(summary, /, 6 broken links\. Broken links: d\/a\.md:9 → missing\.md; d\/a\.md:11 → /);
  assert.match(summary, /; and 1 more\.$/);
  const { body } = await owner.get(`${wiki.at}/broken-links?limit=1`);
  assert.equal(body[0].filename, 'd/a.md');
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.equal((await viewer.get(`${wiki.at}/broken-links`)).status, 403);
});

test('a link is broken exactly while its page is missing', async () => {
  const wiki = await newWiki();
  const links = '[x](later) [[Other]]';
  const { body: from } = await owner.post(`${wiki.at}/pages`, { title: 'From', markdown: links });
  const both = ['from:1 [[Other]]', 'from:1 later'];
  assert.deepEqual(await wiki.broken(), both);
  const { body: later } = await owner.post(`${wiki.at}/pages`, { title: 'Later', markdown: '' });
  await wiki.upload({ 'other.md': '# Other\n' });
  assert.deepEqual(await wiki.broken(), []);
  await owner.patch(`${wiki.at}/pages/${later.page_id}`, { slug: 'renamed' });
  assert.deepEqual(await wiki.broken(), [], 'the link follows its page');
  await owner.send('DELETE', `${wiki.at}/pages/${later.page_id}`);
  assert.deepEqual(await wiki.broken(), ['from:1 later']);
  await owner.post(`${wiki.at}/pages/${later.page_id}/restore`);
  assert.deepEqual(await wiki.broken(), []);
  const edit = { markdown: `${links}\n\n[gone](gone.md)`, base_revision: 1 };
  assert.equal((await owner.patch(`${wiki.at}/pages/${from.page_id}`, edit)).status, 200);
  assert.deepEqual(await wiki.broken(), ['from:3 gone.md']);
  await owner.send('DELETE', `${wiki.at}/pages/${from.page_id}`);
  assert.deepEqual(await wiki.broken(), [], 'a page in the trash has no links');
});

test('after its page is deleted, a link resolves to the page that now has its path or title', async () => {
  const wiki = await newWiki();
  const make = async (title: string, markdown = '') =>
    (await owner.post(`${wiki.at}/pages`, { title, markdown })).body.page_id as string;
  const from = await make('From', '[x](ant) [[Bee]]');
  const [first, named] = [await make('Ant'), await make('Bee')];
  const renamed = { slug: 'moved', title: 'Moved', base_revision: 1 };
  assert.equal((await owner.patch(`${wiki.at}/pages/${first}`, renamed)).status, 200);
  const below = { parent_page_id: first, title: 'Below', base_revision: 1 };
  assert.equal((await owner.patch(`${wiki.at}/pages/${named}`, below)).status, 200);
  const [second, title] = [await make('Ant'), await make('Bee')];
  await owner.patch(`${wiki.at}/pages/${title}`, { slug: 'other' });
  const backlinks = async (page_id: string) =>
    (await owner.get(`${wiki.at}/pages/${page_id}/backlinks`)).body.map((page: { page_id: string }) => page.page_id);
  assert.deepEqual([await backlinks(first), await backlinks(second)], [[from], []], 'the link follows its page');
  await owner.send('DELETE', `${wiki.at}/pages/${first}`);
  assert.deepEqual([await backlinks(second), await backlinks(title)], [[from], [from]]);
  assert.deepEqual(await wiki.broken(), []);
});

test('a link to an unreadable file is broken until a readable version is uploaded', async () => {
  const wiki = await newWiki();
  const a = '# A\n\n[b](b.pdf)\n';
  const { summary } = await wiki.upload({ 'd/a.md': a, 'd/b.pdf': '%PDF-1.4 nothing' });
  assert.match(summary, /1 broken link/);
  assert.equal((await wiki.broken()).length, 1);
  await owner.post(`${wiki.at}/pages`, {
    title: 'B',
    slug: 'b',
    parent_page_id: (await owner.get(`${wiki.at}/pages/path/d`)).body.page_id,
    markdown: '',
  });
  assert.deepEqual(await wiki.broken(), []);
});

test('absolute links start at the root of the folder, or at the site root that the wiki sets', async () => {
  const wiki = await newWiki();
  const files = {
    'repo/a.md': '# A\n\n[1](/repo/deep/b.md) [2](/deep/b.md) [3](/deep/b#x) [4](/Site/deep/b) [5](/site/nothing)\n',
    'repo/deep/b.md': '# B\n\n[a](/site/a) [top](/site/)\n',
  };
  const linked = async (path: string) => {
    const { markdown } = (await owner.get(`${wiki.at}/pages/path/${path}`)).body;
    return [...markdown.matchAll(/\]\(([^)]*)\)/g)].map((match) => match[1]);
  };
  await wiki.upload(files);
  assert.deepEqual(await linked('repo/a'), ['deep/b', 'deep/b', 'deep/b#x', '/Site/deep/b', '/site/nothing']);
  assert.deepEqual(await wiki.broken(), [
    'repo/a:3 /Site/deep/b',
    'repo/a:3 /site/nothing',
    'repo/deep/b:3 /site/',
    'repo/deep/b:3 /site/a',
  ]);
  const set = (site_root: unknown) => owner.patch(`${wiki.at}/settings`, { site_root });
  assert.equal((await owner.get(`${wiki.at}/settings`)).body.site_root, null);
  assert.equal((await set('/site')).body.site_root, '/site/');
  assert.deepEqual(await linked('repo/deep/b'), ['/site/a', '/site/'], 'existing pages stay unchanged');
  await wiki.upload(files);
  assert.deepEqual(await linked('repo/a'), ['deep/b', 'deep/b', 'deep/b#x', 'deep/b', '/site/nothing']);
  assert.deepEqual(await linked('repo/deep/b'), ['../a', '../../repo']);
  assert.deepEqual(await wiki.broken(), ['repo/a:3 /site/nothing']);

  for (const wrong of ['site', '//site/', '/a/../b/', '/a?b/', 'https://x.example/', `/${'x'.repeat(300)}/`]) {
    assert.equal((await set(wrong)).status, 400, wrong);
  }
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.equal((await viewer.patch(`${wiki.at}/settings`, { site_root: null })).status, 403);
  assert.equal((await set('')).body.site_root, null);
});
