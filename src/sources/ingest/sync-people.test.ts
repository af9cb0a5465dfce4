import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Files, newFolderWiki } from '../../../test/folder-wiki.ts';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();
const newWiki = () => newFolderWiki(owner);
const Z: Files = { 'd/z.md': '# Z\n' };

test('an edited page and the pages it links to move with their files, without a conflict', async () => {
  const wiki = await newWiki();
  const files = (folder: string): Files => ({
    ...Z,
    [`d/${folder}/a.md`]: '# A\n\nSee [b](b.md) and [y](x/y.md).\n\nWhat a says.\n',
    [`d/${folder}/b.md`]: '# B\n',
    [`d/${folder}/x/y.md`]: '# Y\n',
  });
  await wiki.sync(files('old'));
  const [A] = await wiki.ids(['d/old/a']);
  await wiki.edit('d/old/a', '# A\n\nSee [b](b) and [y](x/y).\n\nWhat a says, by hand.\n');
  const { summary } = await wiki.sync(files('new'));
  assert.doesNotMatch(summary, /missing files|Gone|left unchanged/);
  const page = await wiki.page('d/new/a');
  assert.deepEqual([page.page_id, page.stale, page.revision], [A, false, 2]);
  assert.match(page.markdown, /by hand/);
  assert.deepEqual(page.html.match(/href="[^"]*"/g), ['href="b"', 'href="x/y"']);
});

/** Not valid text. */
const BROKEN = new Uint8Array([0xff, 0x00, 0x01]);

test('a file that was unreadable in one sync and missing from the next is gone', async () => {
  const wiki = await newWiki();
  await wiki.sync({ ...Z, 'd/a.md': '# A\n', 'd/kept.md': '# Kept\n' });
  await wiki.sync({ ...Z, 'd/a.md': BROKEN });
  assert.deepEqual(await wiki.stale(), ['d/kept'], 'an unreadable file is not missing');
  await owner.post(`${wiki.at}/pages/${(await wiki.page('d/kept')).page_id}/keep`);
  await wiki.sync(Z);
  assert.deepEqual(await wiki.stale(), ['d/a']);
  await wiki.sync(Z);
  assert.deepEqual(await wiki.stale(), ['d/a'], 'a page that people kept is not listed again');
});

test('the folder of a sync is the same if its name is spelled differently', async () => {
  const wiki = await newWiki();
  await wiki.sync({ 'U\u0308bung/a.md': '# A\n', 'U\u0308bung/b.md': '# B\n' });
  const { summary } = await wiki.sync({ '\u00fcbung/a.md': '# A\n\nMore.\n', '\u00fcbung/b.md': '# B\n' });
  assert.doesNotMatch(summary, /[Mm]issing files|[1-9] new page/);
  assert.deepEqual(await wiki.paths(), ['ubung', 'ubung/a', 'ubung/b']);
});

test('a repeated sync does not change an edited page, even if a file it links to was renamed', async () => {
  const wiki = await newWiki();
  const files = (name: string): Files => ({
    ...Z,
    'd/a.md': '# A\n\nSee [b](b.md) and [[Page 2]].\n',
    'd/p.md': '# Page 2\n',
    [`d/${name}.md`]: '# B\n',
  });
  await wiki.sync(files('b'));
  await wiki.edit('d/a', '# A\n\nSee [b](b) and [[Page 2]].\n\nBy hand.\n');
  for (let times = 0; times < 3; times += 1) {
    await wiki.sync(files('c'));
    const { markdown, revision, stale } = await wiki.page('d/a');
    assert.deepEqual([markdown, revision, stale], ['# A\n\nSee [b](c) and [[Page 2]].\n\nBy hand.\n', 2, false]);
  }
});
