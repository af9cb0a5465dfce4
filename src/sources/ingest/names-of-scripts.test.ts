import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exported, imported, newWiki as newEmptyWiki, unzipped } from '../../../test/archives.ts';
import { newFolderWiki } from '../../../test/folder-wiki.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { signedInClient } from '../../../test/signed-in.ts';

const world = await sharedWorld();
const owner = await world.owner();
const newWiki = () => newFolderWiki(owner);

const FILES = {
  '文書/設定.md': '# 設定\n\n[k](../한국어/안내.md#안내) [a](العربية.md) [[ガイド]] [x](../문서없음.md)\n',
  '文書/カ\u3099イト\u3099.md': '# ガイド\n\n[s](%E8%A8%AD%E5%AE%9A.md)\n',
  '文書/العربية.md': '# العربية\n',
  '한국어/안내.md': '# 안내\n\n[back](../文書/設定.md)\n',
  'Заметка.md': '# Заметка\n',
};
const PATHS = ['zametka', '文書', '文書/ガイド', '文書/العربية', '文書/設定', '한국어', '한국어/안내'].sort();

test('paths keep the letters of every script, and links resolve to them', async () => {
  const wiki = await newWiki();
  const { summary } = await wiki.sync(FILES);
  assert.deepEqual(await wiki.paths(), PATHS);
  assert.match(summary, /1 broken link\b/);
  const page = await wiki.page(encodeURI('文書/設定'));
  const hrefs = [...page.html.matchAll(/href="([^"]*)"/g)].map(([, href]) => decodeURI(href ?? ''));
  assert.deepEqual(hrefs.slice(0, 3), ['../한국어/안내#h-안내', 'العربية', 'ガイド']);
  const { body: backlinks } = await owner.get(`${wiki.at}/pages/${page.page_id}/backlinks`);
  assert.deepEqual(backlinks.map(({ path }: { path: string }) => path).sort(), ['文書/ガイド', '한국어/안내'].sort());
  const again = await wiki.sync(FILES);
  assert.doesNotMatch(again.summary, /[1-9]\d* new page|updated/);
});

test('renaming a page with a non-Latin path, by its file or by a user, redirects the old path', async () => {
  const wiki = await newWiki();
  await wiki.sync(FILES);
  const { '文書/設定.md': moved, ...rest } = FILES;
  await wiki.sync({ ...rest, '文書/初期設定.md': moved });
  const { page_id, revision, path } = await wiki.page(encodeURI('文書/設定'));
  assert.equal(path, '文書/初期設定');
  const html = (await wiki.page(encodeURI('한국어/안내'))).html;
  assert.match(decodeURI(html), /href="\.\.\/文書\/初期設定"/);
  const renamed = await owner.patch(`${wiki.at}/pages/${page_id}`, { base_revision: revision, slug: '設置' });
  assert.equal(renamed.body.path, '文書/設置');
  const refused = await owner.patch(`${wiki.at}/pages/${page_id}`, { slug: 'ガ イド' });
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_slug']);
  const found = await fetch(`${world.address}${wiki.at}/pages/path/${encodeURI('文書/設定')}`, {
    headers: { authorization: `Bearer ${owner.token}`, accept: 'text/html' },
    redirect: 'manual',
  });
  assert.equal(found.status, 308);
  assert.equal(found.headers.get('location'), `${wiki.at}/pages/path/${encodeURI('文書/設置')}`);
});

test('pages that users write have the letters of their titles in their paths', async () => {
  const wiki = await newWiki();
  const made = await owner.post(`${wiki.at}/pages`, { title: '日本語 Guide', markdown: '[[設定]]\n' });
  assert.equal(made.body.path, '日本語-guide');
  const second = await owner.post(`${wiki.at}/pages`, { title: '日本語 Guide', markdown: '[up](日本語-guide)\n' });
  assert.equal(second.body.path, '日本語-guide-2');
  await owner.post(`${wiki.at}/pages`, { title: '設定', markdown: '' });
  assert.match((await wiki.page(encodeURI('日本語-guide'))).html, /<a class="wiki" href="設定">/);
  const { body: backlinks } = await owner.get(`${wiki.at}/pages/${made.body.page_id}/backlinks`);
  assert.equal(backlinks.length, 1);
});

test('an export keeps these filenames, and importing it produces the same paths', async () => {
  const wiki = await newWiki();
  await wiki.add(FILES);
  const zip = await exported(world, owner, wiki.wiki_id);
  const names = [...(await unzipped(zip)).keys()].filter((name) => name.startsWith('pages/')).sort();
  assert.ok(names.includes('pages/文書/設定.md'), names.join());
  const target = await newEmptyWiki(owner);
  const { status, error } = await imported(owner, target, zip);
  assert.equal(status, 'completed', error);
  const { body } = await owner.get(`/v1/wikis/${target}/pages?limit=100`);
  assert.deepEqual(body.map(({ path }: { path: string }) => path).sort(), PATHS);
});

test('the web application serves a page at its non-Latin path, and former paths redirect', async () => {
  const wiki = await newWiki();
  await wiki.add(FILES);
  const { body: overview } = await owner.get('/v1/overview');
  const slug = overview.session.organizations[0].slug;
  const record = overview.wikis.find(({ wiki_id }: { wiki_id: string }) => wiki_id === wiki.wiki_id);
  const client = await signedInClient(world, owner.user_id);
  const cookie = `ibid=${(await client.post('/v1/auth/browser')).body.browser_secret}`;
  const open = (path: string) =>
    fetch(`${world.address}/${slug}/${record.slug}/${path}`, {
      headers: { cookie, accept: 'text/html' },
      redirect: 'manual',
    });
  const shown = await open(encodeURI('文書/設定'));
  assert.equal(shown.status, 200);
  assert.match(await shown.text(), /<h1[^>]*>設定/);
  const { page_id } = await wiki.page(encodeURI('文書/設定'));
  await owner.patch(`${wiki.at}/pages/${page_id}`, { slug: '設置' });
  const moved = await open(encodeURI('文書/設定'));
  assert.equal(moved.status, 308);
  assert.equal(moved.headers.get('location'), `/${slug}/${record.slug}/${encodeURI('文書/設置')}`);
});
