import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { pdfOf } from '../../../test/pdf.ts';
import { type Owner, openWorld } from '../../../test/world.ts';
import { docxOf, wordParagraph, zipOf } from '../../../test/zip.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await openWorld();

async function pathsOf(owner: Owner): Promise<Record<string, string>> {
  const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages?limit=500`);
  return Object.fromEntries(body.map((page: { path: string; title: string }) => [page.path, page.title]));
}

async function errorsOf(upload_id: string): Promise<Record<string, string>> {
  const rows = await world.db.query<{ filename: string; error: string }>(sql`
    select filename, error from upload_files where upload_id = ${upload_id} and status = 'failed' order by file_no`);
  return Object.fromEntries(rows.map(({ filename, error }) => [filename, error]));
}

test('an archive becomes its files: folders form the tree, and links connect its pages', async () => {
  const owner = await world.owner();
  const archive = zipOf([
    ['guide/', ''],
    ['guide/README.md', '# Guide\n\nSee [setup](setup.md) and [the paper](deep/paper.pdf).\n'],
    ['guide/setup.md', '# Set up\n'],
    [
      'guide/deep/paper.pdf',
      pdfOf([
        [
          ['A paper', 50, 700, 20],
          ['What the paper says.', 50, 660],
        ],
      ]),
    ],
    ['guide/letter.docx', docxOf(wordParagraph('Dear reader', 'Heading1'))],
    ['__MACOSX/guide/._setup.md', 'clutter'],
    ['.git/config', 'clutter'],
  ]);
  const { body: upload } = await world.upload(owner, owner.wiki_id, { 'docs.zip': archive, 'beside.md': '# Beside\n' });
  assert.equal(upload.status, 'completed');
  assert.equal(
    upload.summary,
    '5 files: 5 new sources, 6 new pages, 2 hidden files left out (__MACOSX/guide/._setup.md, .git/config) of docs.zip.',
  );
  assert.deepEqual(await pathsOf(owner), {
    guide: 'Guide',
    'guide/setup': 'Set up',
    'guide/deep': 'deep',
    'guide/deep/paper': 'A paper',
    'guide/letter': 'Dear reader',
    beside: 'Beside',
  });
  const { body: guide } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/guide`);
  assert.equal(guide.markdown, '# Guide\n\nSee [setup](guide/setup) and [the paper](guide/deep/paper).\n');
});

test('no filename leads out of an archive, and a broken entry fails alone', async () => {
  const owner = await world.owner();
  const nested = zipOf([['x.md', '# X']]);
  const link = zipOf([['link.md', '/etc/passwd']]);
  // The central directory, at the end of the archive, has the mode bits that mark a symbolic link.
  link.writeUInt32LE((0o120777 << 16) >>> 0, link.lastIndexOf('PK\x01\x02') + 38);
  const { body: upload } = await world.upload(owner, owner.wiki_id, {
    'hostile.zip': zipOf([
      ['../../../tmp/ibid-slip.md', '# Slipped'],
      ['/tmp/ibid-absolute.md', '# Absolute'],
      ['C:\\tmp\\ibid-drive.md', '# Drive'],
      ['large.txt', Buffer.alloc(40 * 2 ** 20)],
      ['nested.zip', nested],
      ['sound.md', '# Sound'],
    ]),
    'link.zip': link,
    'half.zip': nested.subarray(0, 40),
    'empty.zip': zipOf([['folder/', '']]),
  });
  assert.equal(upload.status, 'completed');
  const paths = await pathsOf(owner);
  assert.deepEqual(Object.values(paths).sort(), ['Absolute', 'Drive', 'Slipped', 'Sound', 'tmp']);
  for (const name of ['ibid-slip.md', 'ibid-absolute.md', 'ibid-drive.md']) {
    assert.ok(!existsSync(`/tmp/${name}`), `${name} must not be written`);
  }
  const errors = await errorsOf(upload.upload_id);
  assert.match(errors['large.txt'] ?? '', /^too_large: /);
  assert.match(errors['nested.zip'] ?? '', /^unsupported_type: the file is an archive/);
  assert.match(errors['link.zip'] ?? '', /^empty_file: the archive contains no files/);
  assert.match(errors['half.zip'] ?? '', /^unreadable: the archive is damaged/);
  assert.match(errors['empty.zip'] ?? '', /^empty_file: the archive contains no files/);
});

test('entries that overlap and archives that unpack to more than the limit are refused', async () => {
  const owner = await world.owner();
  const overlapping = zipOf([
    ['a.md', '# A'],
    ['b.md', '# B'],
  ]);
  const first = overlapping.indexOf('PK\x01\x02');
  overlapping.writeUInt32LE(0, overlapping.indexOf('PK\x01\x02', first + 4) + 42);
  const megabytes = Buffer.alloc(30 * 2 ** 20, 'x');
  const { body: upload } = await world.upload(owner, owner.wiki_id, {
    'overlapping.zip': overlapping,
    'bomb.zip': zipOf(Array.from({ length: 40 }, (_, i) => [`${i}.txt`, megabytes] as const)),
  });
  assert.equal(upload.status, 'failed');
  const errors = await errorsOf(upload.upload_id);
  assert.match(errors['overlapping.zip'] ?? '', /^unreadable: the archive is damaged/);
  assert.match(errors['bomb.zip'] ?? '', /^too_large: the archive has more than 20,000 files or 1 GiB;/);
  const { body: sources } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources`);
  assert.deepEqual(sources, []);
});

longTest('an archive of many small files becomes the same number of pages', async (t) => {
  const owner = await world.owner();
  const count = 1_000;
  const files = Array.from({ length: count }, (_, i) => [`n${i % 20}/page-${i}.md`, `# Page ${i}\n\nText.\n`] as const);
  const started = performance.now();
  const before = world.statements.length;
  const { body: upload } = await world.upload(owner, owner.wiki_id, { 'many.zip': zipOf(files) });
  const writing = world.statements.slice(before).filter((text) => text.includes('jsonb_to_recordset')).length;
  assert.ok(writing < count / 5, `${writing} statements wrote ${count} files: they must be written many at a time`);
  t.diagnostic(`${Math.round((1_000 * count) / (performance.now() - started))} files/s`);
  assert.equal(upload.summary, `${count} files: ${count} new sources, ${count + 20} new pages.`);
});
