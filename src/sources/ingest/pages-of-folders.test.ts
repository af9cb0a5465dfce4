import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imported, zipped } from '../../../test/archives.ts';
import { newFolderWiki } from '../../../test/folder-wiki.ts';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();
const newWiki = () => newFolderWiki(owner);

test("a text next to a folder of the same name is the folder's page, and all links resolve to it", async () => {
  for (const mode of ['sync', 'add'] as const) {
    const wiki = await newWiki();
    await wiki[mode]({
      'd/guide.md': '# The guide\n\n[a](guide/a.md)\n',
      'd/guide/a.md': '# A\n\n[1](../guide.md) [2](../guide) [3](../guide/) [[Guide]] [5](/d/guide)\n',
    });
    assert.deepEqual(await wiki.paths(), ['d', 'd/guide', 'd/guide/a'], mode);
    assert.equal((await wiki.page('d/guide')).title, 'The guide');
    const { html } = await wiki.page('d/guide/a');
    assert.equal(html.match(/href="\.\.\/guide"/g)?.length, 5, html);
    assert.match((await wiki.page('d/guide')).html, /href="guide\/a"/);
  }
});

test('a file matches its folder despite differences in case, accents, spaces or Notion ids', async () => {
  const id = '0123456789abcdef0123456789abcdef';
  for (const [file, folder] of [
    ['Guide.md', 'guide'],
    ['Übersicht.md', 'U\u0308bersicht'],
    ['Crème brûlée.md', 'creme brulee'],
    ['Getting-Started.md', 'Getting Started'],
    [`Team ${id}.md`, `Team ${id}`],
    [`Team ${id}.md`, 'Team'],
    ['page.html', 'page'],
    ['start.txt', 'start'],
  ] as const) {
    const wiki = await newWiki();
    await wiki.add({ [`d/${file}`]: '# The guide\n', [`d/${folder}/a.md`]: '# A\n' });
    const { length } = await wiki.paths();
    assert.equal(length, 3, `${file} beside ${folder}/`);
  }
});

test("a text inside a folder of the same name is the folder's page, unless a text next to the folder is", async () => {
  const wiki = await newWiki();
  await wiki.add({ 'v/Start/Start.md': '# Begin\n\n[x](x.md)\n', 'v/Start/x.md': '# X\n\n[[Start]] [s](../Start)\n' });
  assert.deepEqual(await wiki.paths(), ['v', 'v/start', 'v/start/x']);
  assert.equal((await wiki.page('v/start')).title, 'Begin');
  assert.equal((await wiki.page('v/start/x')).html.match(/href="\.\.\/start"/g)?.length, 2);
  const other = await newWiki();
  await other.add({ 'v/Start.md': '# Beside\n', 'v/Start/Start.md': '# Within\n' });
  assert.deepEqual(await other.paths(), ['v', 'v/start', 'v/start/start']);
  assert.equal((await other.page('v/start')).title, 'Beside');
});

test("an index or readme takes precedence over a file with the folder's name", async () => {
  for (const name of ['index.md', 'README.md']) {
    const wiki = await newWiki();
    await wiki.add({ 'd/guide.md': '# Beside\n', [`d/guide/${name}`]: '# Within\n', 'd/guide/guide.md': '# Same\n' });
    assert.equal((await wiki.page('d/guide')).title, 'Within');
    assert.deepEqual(await wiki.paths(), ['d', 'd/guide', 'd/guide-2', 'd/guide/guide']);
  }
});

test('a file takes over the page of its existing folder, and keeps its page when the folder comes later', async () => {
  const wiki = await newWiki();
  await wiki.add({ 'd/guide/a.md': '# A\n' });
  const [guide] = await wiki.ids(['d/guide']);
  await wiki.add({ 'd/guide.md': '# The guide\n' });
  assert.deepEqual([await wiki.paths(), await wiki.ids(['d/guide'])], [['d', 'd/guide', 'd/guide/a'], [guide]]);
  assert.equal((await wiki.page('d/guide')).title, 'The guide');
  await wiki.add({ 'e.md': '# E\n' });
  const [E] = await wiki.ids(['e']);
  await wiki.add({ 'e/a.md': '# A\n\n[e](../e.md)\n' });
  assert.deepEqual(await wiki.ids(['e']), [E]);
  assert.match((await wiki.page('e/a')).html, /href="\.\.\/e"/);
});

test("edits of a folder's page survive when a file of its name is uploaded, and the summary says so", async () => {
  const wiki = await newWiki();
  await wiki.add({ 'd/guide/a.md': '# A\n' });
  await wiki.edit('d/guide', '# Ours\n');
  const { summary } = await wiki.add({ 'd/guide.md': '# The file\n' });
  assert.match((await wiki.page('d/guide')).markdown, /Ours/);
  assert.match(summary, /d\/guide \(from d\/guide\.md\)/);
});

test('a page with another address keeps it when the index of its folder is removed', async () => {
  const wiki = await newWiki();
  const files = { 'd/guide.md': '# Beside\n', 'd/guide/a.md': '# A\n' };
  await wiki.sync({ ...files, 'd/guide/index.md': '# Within\n' });
  const before = await wiki.ids(['d/guide', 'd/guide-2', 'd/guide/a']);
  await wiki.sync(files);
  assert.deepEqual(await wiki.ids(['d/guide', 'd/guide-2', 'd/guide/a']), before);
});

test('pages stay below their folder even if the file of its name is unreadable', async () => {
  const wiki = await newWiki();
  await wiki.add({ 'd/guide.md': new Uint8Array([0x89, 0x50, 0xff, 0xfe, 0x81]), 'd/guide/a.md': '# A\n' });
  assert.deepEqual(await wiki.paths(), ['d', 'd/guide', 'd/guide/a']);
  assert.equal((await wiki.page('d/guide')).title, 'guide');
});

test('the page of a folder keeps its file when the folder is uploaded again or moved, and is stale without it', async () => {
  const wiki = await newWiki();
  const files = { 'd/guide.md': '# The guide\n\nwords\n', 'd/guide/a.md': '# A\n\nmore\n' };
  await wiki.sync({ ...files, 'd/z.md': '# Z\n' });
  const ids = await wiki.ids(['d/guide', 'd/guide/a']);
  const again = await wiki.sync({ ...files, 'd/z.md': '# Z\n' });
  assert.doesNotMatch(again.summary, /[1-9]\d* new page|updated|moved|[Mm]issing files/);
  const moved = { 'd/manual.md': files['d/guide.md'], 'd/manual/a.md': files['d/guide/a.md'], 'd/z.md': '# Z\n' };
  await wiki.sync(moved);
  assert.deepEqual(await wiki.ids(['d/manual', 'd/manual/a']), ids);
  await wiki.sync({ 'd/manual/a.md': files['d/guide/a.md'], 'd/z.md': '# Z\n' });
  assert.deepEqual(await wiki.stale(), ['d/manual']);
});

test('an import maps folders to pages as an upload does', async () => {
  const wiki = await newWiki();
  const zip = await zipped([
    ['Home.md', '# Home\n'],
    ['Home/Sub.md', '# Sub\n\n[h](../Home.md)\n'],
    ['bad.md', new Uint8Array([0x89, 0x50, 0xff, 0xfe, 0x81])],
    ['bad/x.md', '# X\n'],
  ]);
  const { status, summary } = await imported(owner, wiki.wiki_id, zip);
  assert.equal(status, 'completed', summary);
  assert.deepEqual(await wiki.paths(), ['bad', 'bad/x', 'home', 'home/sub']);
  assert.equal((await wiki.page('bad')).title, 'bad');
});
