import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newFolderWiki } from '../../../test/folder-wiki.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { verificationOf } from '../../../test/verification-of.ts';

const world = await sharedWorld();
const owner = await world.owner();

test('a wiki link resolves to a page of the upload by an alias in its front matter', async () => {
  const wiki = await newFolderWiki(owner);
  const files = {
    'V/notes/Long name.md': '---\naliases: [Short, Both]\n---\ntext\n',
    'V/pages/A.md': 'alias:: Kurz\n\n- First\n',
    'V/Both.md': '# Both\n',
    'V/Home.md': '# Home\n\n[[Short]] [[short|words]] [[Kurz]] [[Both]] [[None]]\n',
  };
  const { summary } = await wiki.add(files);
  assert.match(summary, /1 broken link\b/);
  const { html } = await wiki.page('v/home');
  const hrefs = [...html.matchAll(/class="wiki" href="([^"]*)"/g)].map(([, href]) => href);
  assert.deepEqual(hrefs, ['notes/long-name', 'notes/long-name', 'pages/a', 'both']);
  const again = await wiki.add(files);
  assert.doesNotMatch(again.summary, /updated|[1-9] new page/);
  assert.deepEqual(await wiki.paths(), [
    'v',
    'v/both',
    'v/home',
    'v/notes',
    'v/notes/long-name',
    'v/pages',
    'v/pages/a',
  ]);
});

test('an unreadable file makes no page, even if another text has its name as an alias', async () => {
  const wiki = await newFolderWiki(owner);
  const broken = Buffer.concat([
    Buffer.from('---\naliases: [Short]\n---\ntext\n'),
    Buffer.alloc(5_000, 'x\n'),
    Buffer.from([0xff, 0]),
  ]);
  await wiki.add({ 'V/broken.md': broken, 'V/Home.md': '# Home\n\n[[Short]]\n' });
  assert.deepEqual(await wiki.paths(), ['v', 'v/home']);
});

test('an alias of two pages resolves to neither', async () => {
  const wiki = await newFolderWiki(owner);
  const { summary } = await wiki.add({
    'V/a/One.md': '---\naliases: [Both, Own]\n---\ntext\n',
    'V/Two.md': 'alias:: both\n\n- First\n',
    'V/Home.md': '# Home\n\n[[Both]] [[Own]]\n',
  });
  assert.match(summary, /1 broken link\b/);
  const { html } = await wiki.page('v/home');
  assert.match(html, /class="wiki missing"[^>]*>Both/);
  assert.match(html, /href="a\/one">Own/);
});

test('an alias that is also the title or path of another page resolves to that page', async () => {
  const wiki = await newFolderWiki(owner);
  await wiki.add({ 'Old.md': '# Earlier\n' });
  const files = {
    'V/One.md': '---\naliases: [Titled, Earlier, Old, Self]\ntitle: Self\n---\ntext\n',
    'V/two.md': '# Titled\n',
    'V/Home.md': '# Home\n\n[[Titled]] [[Earlier]] [[Old]] [[Self]]\n',
  };
  await wiki.add(files);
  const hrefs = async () =>
    [...(await wiki.page('v/home')).html.matchAll(/class="wiki" href="([^"]*)"/g)].map(([, href]) => href);
  assert.deepEqual(await hrefs(), ['two', '../old', '../old', 'one']);
  await wiki.add({ ...files, 'V/Home.md': `${files['V/Home.md']}\nmore\n` });
  assert.deepEqual(await hrefs(), ['two', '../old', '../old', 'one']);
});

test('an uploaded Logseq graph shows no properties, and references to blocks of other pages are counted', async () => {
  const id = '64906131-f9a2-46c5-bb5f-eddf3043817b';
  const wiki = await newFolderWiki(owner);
  const { summary } = await wiki.add({
    'G/pages/A.md': `alias:: Short\ntags:: t\n\n- First\n  id:: ${id}\n\t- TODO do it\n- again ((${id}))\n`,
    'G/pages/B.md': `- see ((${id})) and [[Short]]\n`,
  });
  assert.match(summary, /Unsupported syntax, shown as written: 1 × \(\(id\)\) on 1 page: G\/pages\/B\.md/);
  const a = await wiki.page('g/pages/a');
  assert.doesNotMatch(a.html, /::/);
  assert.match(a.html, new RegExp(`again <a href="#h-%5E${id}">First</a>`));
  assert.deepEqual((await owner.get(`${wiki.at}/pages/${a.page_id}/properties`)).body.tags, ['t']);
  const { html } = await wiki.page('g/pages/b');
  assert.match(html, /<a class="wiki" href="a">Short<\/a>/);
  for (const { source_id } of (await owner.get(`${wiki.at}/sources`)).body) {
    const checked = await verificationOf(owner, `${wiki.at}/sources/${source_id}`);
    assert.deepEqual([checked.text, checked.findings], ['unchanged', []]);
  }
});
