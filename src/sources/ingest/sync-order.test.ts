import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { type Files, newFolderWiki } from '../../../test/folder-wiki.ts';
import { beforeCompiling } from '../../../test/held-services.ts';
import { patch } from '../../../test/resumable.ts';
import { openWorld } from '../../../test/world.ts';

/** A file whose compilation waits for the test. */
const held: { filename: string; reached: () => void; go: Promise<void> } = {
  filename: '',
  reached: () => undefined,
  go: Promise.resolve(),
};
const jobServices = beforeCompiling(async (filename) => {
  if (filename !== held.filename) return;
  held.reached();
  await held.go;
});
const world = await openWorld({}, { jobServices });
const owner = await world.owner();

type Wiki = Awaited<ReturnType<typeof newFolderWiki>>;

/** Announces a sync. Returns a function that sends the bytes and waits for the end. */
async function announceSync(wiki: Wiki, files: Files) {
  const contents = Object.entries(files).map(([filename, text]) => ({ filename, bytes: Buffer.from(text) }));
  const { body, status } = await owner.post(`${wiki.at}/uploads`, {
    mode: 'sync',
    files: contents.map(({ filename, bytes }) => ({ filename, byte_size: bytes.length })),
  });
  assert.equal(status, 201, JSON.stringify(body));
  const { upload_id } = body.upload;
  return async () => {
    for (const [i, { bytes }] of contents.entries()) {
      await patch(owner, new URL(body.files[i].upload_url).pathname, 0, bytes);
    }
    assert.equal((await owner.post(`${wiki.at}/uploads/${upload_id}/complete`)).status, 200);
    return wiki.ended(upload_id);
  };
}

const FIRST: Files = { 'd/a.md': '# A\n', 'd/b.md': '# B\n', 'd/z.md': '# Z\n' };

longTest(
  'of two syncs of a folder the one that is worked on later is what the wiki has, whichever was announced first',
  async () => {
    const wiki = await newFolderWiki(owner);
    await wiki.sync(FIRST);
    const late = await announceSync(wiki, { 'd/a.md': '# A of the first\n', 'd/b.md': '# B\n' });
    await wiki.sync({ 'd/a.md': '# A of the second\n', 'd/c.md': '# C\n', 'd/z.md': '# Z\n' });
    assert.deepEqual(await wiki.stale(), ['d/b']);
    const { summary } = await late();
    assert.match(summary, /2 pages of missing files \(now stale\)\. Gone; keep or delete: d\/c; d\/z\./);
    assert.deepEqual(
      await wiki.stale(),
      ['d/c', 'd/z'],
      'b exists again, and files only in the other sync are missing',
    );
    assert.match((await wiki.page('d/a')).markdown, /of the first/);
    const again = await wiki.sync({ 'd/a.md': '# A of the first\n' });
    assert.match(again.summary, /1 page of missing files .* d\/b\./, 'it is compared with the sync before it');
  },
);

test('a sync announced before a rename and processed after it knows the new name', async () => {
  const wiki = await newFolderWiki(owner);
  await wiki.sync(FIRST);
  const [B] = await wiki.ids(['d/b']);
  const late = await announceSync(wiki, { ...FIRST, 'd/b.md': '# Another b\n', 'd/c.md': '# B\n' });
  await wiki.sync({ 'd/a.md': '# A\n', 'd/c.md': '# B\n', 'd/z.md': '# Z\n' });
  assert.deepEqual(await wiki.ids(['d/c']), [B]);
  await late();
  assert.deepEqual(await wiki.ids(['d/c']), [B], 'the page keeps its file');
  assert.match((await wiki.page('d/b')).markdown, /Another b/);
  await wiki.sync({ 'd/a.md': '# A\n', 'd/b.md': '# B\n', 'd/z.md': '# Z\n' });
  assert.deepEqual(await wiki.paths(), ['d', 'd/a', 'd/b', 'd/c', 'd/z']);
  assert.deepEqual(await wiki.stale(), ['d/c']);
});

test('a file announced before a sync and processed after it is gone at the next sync', async () => {
  const wiki = await newFolderWiki(owner);
  await wiki.sync(FIRST);
  const { body } = await owner.post(`${wiki.at}/uploads`, { files: [{ filename: 'd/late.md', byte_size: 7 }] });
  await wiki.sync(FIRST);
  await patch(owner, new URL(body.files[0].upload_url).pathname, 0, Buffer.from('# Late\n'));
  await owner.post(`${wiki.at}/uploads/${body.upload.upload_id}/complete`);
  await wiki.ended(body.upload.upload_id);
  await wiki.sync(FIRST);
  assert.deepEqual(await wiki.stale(), ['d/late']);
});

test('a cancelled sync retried after another sync counts as the later one, and duplicates no page', async () => {
  const wiki = await newFolderWiki(owner);
  await wiki.sync({ 'd/z.md': '# Z\n' });
  const many: Files = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`d/${i}.md`, `# Number ${i}\n`]));
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  Object.assign(held, { filename: 'd/z/z/held.md', go: gate.promise, reached: reached.resolve });
  const files = { ...many, 'd/z.md': '# Z\n', 'd/z/z/held.md': '# Held\n' };
  const upload_id = await wiki.begin(files);
  await reached.promise;
  assert.equal((await owner.post(`${wiki.at}/uploads/${upload_id}/cancel`)).status, 200);
  held.filename = '';
  gate.resolve();
  await wiki.sync({ ...files, 'd/1.md': '# Another 1\n', 'd/other.md': '# Other\n' });
  const pages = await wiki.paths();
  assert.equal((await owner.post(`${wiki.at}/uploads/${upload_id}/retry`)).status, 200);
  const { status } = await wiki.ended(upload_id);
  assert.equal(status, 'completed');
  assert.deepEqual(await wiki.paths(), pages);
  assert.match((await wiki.page('d/1')).markdown, /^# Number 1\n/);
  assert.deepEqual(await wiki.stale(), ['d/other']);
});
