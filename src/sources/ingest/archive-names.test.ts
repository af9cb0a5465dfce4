import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { newFolderWiki } from '../../../test/folder-wiki.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { zipOf } from '../../../test/zip.ts';

const world = await sharedWorld();
const owner = await world.owner();
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Returns the titles by path of the pages that an archive with these filenames makes. */
async function pagesOf(...names: (string | Uint8Array)[]): Promise<Record<string, string>> {
  const wiki = await newFolderWiki(owner);
  await wiki.sync({ 'all.zip': zipOf(names.map((name, i) => [name, `# Number ${i}\n`])) });
  const pages = await wiki.pages();
  return Object.fromEntries(pages.map(({ path, title }) => [path, title]).sort());
}

test('filenames in the encodings of other systems are decoded correctly', async () => {
  assert.deepEqual(await pagesOf(latin1('d/\x9a bung.md'), latin1('d/\xb3\xc3.md')), {
    d: 'd',
    'd/u-bung': 'Number 0',
    'd/page': 'Number 1',
  });
  assert.deepEqual(await pagesOf('Ordner\\Unterordner\\Übung.md', 'Ordner\\', 'Ordner\\a.md'), {
    ordner: 'Ordner',
    'ordner/unterordner': 'Unterordner',
    'ordner/unterordner/ubung': 'Number 0',
    'ordner/a': 'Number 2',
  });
});

test('filenames with small differences are distinct files, each with its own page', async () => {
  assert.deepEqual(
    await pagesOf('d/a.md', 'd/A.md', 'd/a.md', 'd/./a.md', 'd//a.md', 'd/a.md ', 'd/a .md', 'd/\u202ea.md'),
    {
      d: 'd',
      'd/a': 'Number 0',
      'd/a-2': 'Number 1',
      'd/a-3': 'Number 2',
      'd/a-4': 'Number 3',
      'd/a-5': 'Number 4',
      'd/a-6': 'Number 5',
      'd/a-7': 'Number 6',
      'd/a-8': 'Number 7',
    },
  );
  assert.deepEqual(await pagesOf('d/Caf\u00e9.md', 'd/Cafe\u0301.md'), {
    d: 'd',
    'd/cafe': 'Number 0',
    'd/cafe-2': 'Number 1',
  });
});

test('long filenames and filenames with invisible characters are accepted', async () => {
  const long = 'n'.repeat(296);
  const made = await pagesOf(`d/${long}.md`, 'd/a\x07b\x1b.md', 'd/report\u202egpj.md');
  assert.deepEqual(made, {
    d: 'd',
    [`d/${'n'.repeat(48)}`]: 'Number 0',
    'd/ab': 'Number 1',
    'd/reportgpj': 'Number 2',
  });
});

longTest('an archive packed again by another system has the same pages', async () => {
  const wiki = await newFolderWiki(owner);
  const pack = (folder: string, name: string, text: string) => ({
    'all.zip': zipOf([
      [`${folder}/${name}.md`, text],
      [`${folder}/other.md`, '# Other\n'],
    ]),
  });
  await wiki.sync(pack('U\u0308bungen', 'Cafe\u0301', '# Caf\u00e9\n'));
  const ids = await wiki.ids(['ubungen/cafe', 'ubungen/other', 'ubungen']);
  const { summary } = await wiki.sync(pack('\u00dcbungen', 'Caf\u00e9', '# Caf\u00e9\n\nMore.\n'));
  assert.doesNotMatch(summary, /[Mm]issing files|[1-9] new page/);
  assert.deepEqual(await wiki.ids(['ubungen/cafe', 'ubungen/other', 'ubungen']), ids);
  assert.equal((await wiki.pages()).length, 3);
  await wiki.sync({ 'all.zip': zipOf([['\u00dcbungen/other.md', '# Other\n']]) });
  assert.deepEqual(await wiki.stale(), ['ubungen/cafe']);
});

test('an entry that cannot be unpacked is named, does not count as gone, and does not hide other gone files', async () => {
  const wiki = await newFolderWiki(owner);
  const large = Buffer.alloc(33 * 2 ** 20);
  await wiki.sync({
    'all.zip': zipOf([
      ['d/a.md', '# A\n'],
      ['d/large.txt', 'It was small.\n'],
      ['d/gone.md', '# Gone\n'],
    ]),
  });
  const { summary } = await wiki.sync({
    'all.zip': zipOf([
      ['d/a.md', '# A\n'],
      ['d/large.txt', large],
    ]),
  });
  assert.match(summary, /1 page of missing files/);
  assert.match(summary, /Failed: d\/large\.txt \(the unpacked content of the file is too large; split it/);
  assert.deepEqual(await wiki.stale(), ['d/gone']);
  await wiki.sync({ 'all.zip': zipOf([['d/a.md', '# A\n']]) });
  assert.deepEqual(await wiki.stale(), ['d/gone', 'd/large']);
});

test('a sync with a corrupt archive reports that gone files are unknown', async () => {
  const wiki = await newFolderWiki(owner);
  await wiki.sync({ 'd/a.md': '# A\n', 'd/b.md': '# B\n' });
  const broken = zipOf([['b.md', '# B']]).subarray(0, 40);
  const { summary } = await wiki.sync({ 'd/a.md': '# A\n', 'd/rest.zip': broken });
  assert.match(summary, /Missing files are unknown because an archive could not be opened\.$/);
  assert.deepEqual(await wiki.stale(), []);
  assert.doesNotMatch((await wiki.add({ 'd/a.md': '# A\n', 'd/rest.zip': broken })).summary, /[Mm]issing files/);
});
