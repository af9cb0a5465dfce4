import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imported } from '../../../test/archives.ts';
import { type Files, newFolderWiki } from '../../../test/folder-wiki.ts';
import { png } from '../../../test/pictures.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { zipOf } from '../../../test/zip.ts';

const world = await sharedWorld();
const owner = await world.owner();
const newWiki = () => newFolderWiki(owner);

const SHOWN: Files = {
  'S/README.md': [
    '# Home',
    '![p](.gitbook/assets/p%20(1).png) ![q](<.gitbook/assets/q r.png> "Q") <img src="/.attachments/s.png">',
    '[data](.files/d.csv?x#y) [text](.files/note.md)',
    '',
  ].join('\n\n'),
  'S/sub/a.md': '# A\n\n![t](../.gitbook/assets/t.png "T")\n',
  'S/.gitbook/assets/p (1).png': png({ grey: 10 }),
  'S/.gitbook/assets/q r.png': png({ grey: 20 }),
  'S/.gitbook/assets/t.png': png({ grey: 30 }),
  'S/.attachments/s.png': png({ grey: 40 }),
  'S/.files/d.csv': 'a,b\n1,2\n',
  'S/.files/note.md': '# Note\n',
  'S/.gitbook/assets/unused.png': png({ grey: 50 }),
  'S/.env': 'SECRET=1\n',
  'S/.DS_Store': '\0\x01',
  '__MACOSX/S/._README.md': '\0\x05',
  'S/sub/Thumbs.db': '\0',
};

async function shownAt(wiki: Awaited<ReturnType<typeof newWiki>>, path: string): Promise<string[]> {
  const { page_id } = await wiki.page(path);
  const { body } = await owner.get(`${wiki.at}/pages/${page_id}/attachments`);
  return body.map(({ filename }: { filename: string }) => filename).sort();
}

test('a hidden file that a text shows or links to is attached, from a ZIP and from single files', async () => {
  for (const door of ['zip', 'files'] as const) {
    const wiki = await newWiki();
    const { summary, status } = await wiki.add(door === 'zip' ? { 'all.zip': zipOf(Object.entries(SHOWN)) } : SHOWN);
    assert.equal(status, 'completed');
    assert.deepEqual(await wiki.paths(), ['s', 's/sub', 's/sub/a'], door);
    assert.deepEqual(await shownAt(wiki, 's'), ['d.csv', 'note.md', 'p (1).png', 'q r.png', 's.png'], door);
    assert.deepEqual(await shownAt(wiki, 's/sub/a'), ['t.png'], door);
    assert.doesNotMatch(summary, /failed|broken/, summary);
    assert.match(summary, /6 files attached/, summary);
    assert.match(summary, /5 hidden files left out \(.+\.\.?\.?.*\)/, summary);
  }
});

test('an import attaches hidden files that its texts show, and makes no pages of them', async () => {
  const wiki = await newWiki();
  const zip = zipOf(Object.entries(SHOWN).filter(([name]) => !name.startsWith('__')));
  const { summary, error } = await imported(owner, wiki.wiki_id, zip);
  assert.equal(error, '');
  assert.deepEqual(await wiki.paths(), ['readme', 'sub', 'sub/a'], summary);
  assert.deepEqual(await shownAt(wiki, 'readme'), ['d.csv', 'note.md', 'p (1).png', 'q r.png', 's.png']);
  assert.doesNotMatch(summary, /left out|Failed/);
});

test('files and folders that operating systems add are neither failures nor pages', async () => {
  const wiki = await newWiki();
  const { summary } = await wiki.add({
    'a.md': '# A\n',
    '.DS_Store': '\0\x01',
    '__MACOSX/._a.md': '\0\x05',
    'x/Thumbs.db': '\0',
    'y/desktop.ini': '[x]\n',
    'z/.localized': '',
  });
  assert.deepEqual(await wiki.paths(), ['a']);
  assert.equal(
    summary,
    '1 file: 1 new source, 1 new page, 5 hidden files left out (.DS_Store, __MACOSX/._a.md, x/Thumbs.db, …).',
  );
});

test('an upload of hidden texts alone makes pages, and later uploads keep such a page', async () => {
  const wiki = await newWiki();
  await wiki.add({ '.github/guide.md': '# Guide\n' });
  assert.deepEqual(await wiki.paths(), ['github', 'github/guide']);
  const { summary } = await wiki.add({ '.github/guide.md': '# Guide 2\n', 'b.md': '# B\n' });
  assert.match(summary, /1 page updated/);
});

test('an empty note becomes a page with its title, and links resolve to it', async () => {
  const wiki = await newWiki();
  const { summary } = await wiki.add({
    'V/Home.md': '# Home\n\n[e](Empty.md) [[White]]\n',
    'V/Empty.md': '',
    'V/White.md': ' \n\n',
  });
  assert.doesNotMatch(summary, /failed|broken/);
  assert.deepEqual((await wiki.pages()).map(({ title }) => title).sort(), ['Empty', 'Home', 'V', 'White']);
  assert.doesNotMatch((await wiki.page('v/home')).html, /missing/);
  const again = await wiki.add({ 'V/Empty.md': '' });
  assert.match(again.summary, /0 new pages\.$/);
});

test('a folder without pages gets no page until the first file in it becomes one', async () => {
  const wiki = await newWiki();
  const broken = new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]);
  const files: Files = {
    'd/a.md': '# A\n',
    'd/img/p.png': png({ grey: 10 }),
    'd/bad/deep/x.docx': broken,
    'd/bad/y.docx': broken,
  };
  await wiki.sync(files);
  assert.deepEqual(await wiki.paths(), ['d', 'd/a']);
  await wiki.sync({ ...files, 'd/bad/deep/z.md': '# Z\n' });
  assert.deepEqual(await wiki.paths(), ['d', 'd/a', 'd/bad', 'd/bad/deep', 'd/bad/deep/z']);
});

test('.pages and .nav.yml order the files of their folder, and entries after the rest come last', async () => {
  const wiki = await newWiki();
  const texts = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, `# ${name}\n`]));
  const folder = (at: string) => Object.entries(texts).map(([name, text]) => [`${at}/${name}.md`, text] as const);
  const { summary } = await wiki.add({
    ...Object.fromEntries([...folder('s/x'), ...folder('s/y'), ...folder('s/z')]),
    's/.pages': 'title: S\nnav:\n  - z\n  - ...\n  - x\n',
    's/x/.pages': 'nav:\n  - d.md\n  - Title of B: b.md\n  - ... | regex=.*\n  - a.md\n',
    's/y/.nav.yml': 'nav:\n  - e.md\n  - "*"\n  - a.md\n',
    's/z/.pages': 'arrange:\n  - c.md\n  - ...\n',
  });
  assert.match(summary, /4 files used for the order\.$/);
  const paths = await wiki.tree();
  const order = (at: string) =>
    paths
      .filter((path) => path.startsWith(`s/${at}/`))
      .map((path) => path.slice(-1))
      .join('');
  assert.deepEqual([order('x'), order('y'), order('z')], ['dbcea', 'ebcda', 'cabde']);
  assert.deepEqual(
    paths.filter((path) => /^s\/.$/.test(path)),
    ['s/z', 's/y', 's/x'],
  );
});
