import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newFolderWiki } from '../../../test/folder-wiki.ts';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();
const newWiki = () => newFolderWiki(owner);
const Z = { 'd/z.md': '# Z\n' };

test("the index of a folder does not replace the page of a file with the folder's name", async () => {
  for (const mode of ['sync', 'add'] as const) {
    const wiki = await newWiki();
    const file = { ...Z, 'd/guide.md': '# The file\n' };
    await wiki[mode](file);
    const [guide] = await wiki.ids(['d/guide']);
    await wiki[mode]({ ...file, 'd/guide/index.md': '# The index\n', 'd/guide/x.md': '# X\n' });
    assert.match((await wiki.page('d/guide')).markdown, /The file/, mode);
    assert.match((await wiki.page('d/guide/index')).markdown, /The index/, mode);
    await wiki[mode]({ 'd/guide.md': '# The file, again\n', 'd/guide/index.md': '# The index, again\n' });
    assert.match((await wiki.page('d/guide')).markdown, /The file, again/, mode);
    assert.match((await wiki.page('d/guide/index')).markdown, /The index, again/, mode);
    assert.deepEqual(await wiki.ids(['d/guide']), [guide]);
  }
});

test('an upload of only an index does not replace the page of a file from an earlier upload', async () => {
  const wiki = await newWiki();
  await wiki.add({ 'd/guide.md': '# The file\n' });
  await wiki.add({ 'd/guide/index.md': '# The index\n' });
  assert.match((await wiki.page('d/guide')).markdown, /The file/);
  assert.match((await wiki.page('d/guide/index')).markdown, /The index/);
});

test('an index takes over the page that its folder had without it', async () => {
  const wiki = await newWiki();
  await wiki.add({ 'd/guide/x.md': '# X\n' });
  const [guide] = await wiki.ids(['d/guide']);
  await wiki.add({ 'd/guide/index.md': '# The index\n' });
  assert.deepEqual([(await wiki.page('d/guide')).page_id, await wiki.paths()], [guide, ['d', 'd/guide', 'd/guide/x']]);
});

test('README.md and index.md of a folder each keep their own page over repeated uploads', async () => {
  const wiki = await newWiki();
  const readme = { ...Z, 'd/g/README.md': '# Readme\n' };
  await wiki.sync(readme);
  await wiki.sync({ ...readme, 'd/g/index.md': '# Index\n' });
  const { summary } = await wiki.sync({ ...Z, 'd/g/README.md': '# Readme 2\n', 'd/g/index.md': '# Index 2\n' });
  assert.match(summary, /2 pages updated/);
  assert.match((await wiki.page('d/g')).markdown, /Readme 2/);
  assert.match((await wiki.page('d/g/index')).markdown, /Index 2/);
  await wiki.sync({ ...Z, 'd/g/index.md': '# Index 2\n' });
  assert.deepEqual(await wiki.stale(), ['d/g']);
});

test('a file that became the index of a folder gets a new page when it reappears', async () => {
  const wiki = await newWiki();
  const index = { ...Z, 'd/a/index.md': '# A\n\nIt was a file.\n' };
  await wiki.sync({ ...Z, 'd/a.md': '# A\n\nIt was a file.\n' });
  const [A] = await wiki.ids(['d/a']);
  const { summary } = await wiki.sync(index);
  assert.doesNotMatch(summary, /[Mm]issing files|[1-9] new page/);
  assert.deepEqual(await wiki.ids(['d/a']), [A]);
  await wiki.add({ 'd/a.md': '# Another one\n' });
  assert.match((await wiki.page('d/a')).markdown, /It was a file/);
  const both = { ...index, 'd/a.md': '# Another one, changed\n' };
  await wiki.sync(both);
  assert.deepEqual(await wiki.paths(), ['d', 'd/a', 'd/a-2', 'd/z']);
  assert.match((await wiki.page('d/a')).markdown, /It was a file/);
  assert.match((await wiki.page('d/a-2')).markdown, /Another one, changed/);
  assert.deepEqual(await wiki.stale(), []);
});

test('an index takes over the page of a missing file at its path, even at a later sync', async () => {
  const wiki = await newWiki();
  await wiki.sync({ ...Z, 'd/a.md': '# A\n' });
  const [A] = await wiki.ids(['d/a']);
  await wiki.sync(Z);
  await wiki.sync({ ...Z, 'd/a/index.md': '# The index\n' });
  assert.deepEqual([await wiki.ids(['d/a']), await wiki.stale()], [[A], []]);
  await wiki.sync({ ...Z, 'd/a/index.md': '# The index\n', 'd/a.md': '# A again\n' });
  assert.match((await wiki.page('d/a')).markdown, /The index/);
  assert.match((await wiki.page('d/a-2')).markdown, /A again/);
});

test('a renamed file keeps its page even if an index takes its old path', async () => {
  const wiki = await newWiki();
  await wiki.sync({ ...Z, 'd/a.md': '# A\n' });
  const [A] = await wiki.ids(['d/a']);
  await wiki.sync({ ...Z, 'd/x.md': '# A\n', 'd/a/index.md': '# The index\n', 'd/a/b.md': '# B\n' });
  assert.deepEqual(await wiki.ids(['d/x']), [A]);
  const titles = (await wiki.pages()).map(({ title }) => title).sort();
  assert.deepEqual(titles, ['A', 'B', 'The index', 'Z', 'd']);
  assert.deepEqual(await wiki.stale(), []);
});
