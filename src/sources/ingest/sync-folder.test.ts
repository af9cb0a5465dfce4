import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Files, newFolderWiki } from '../../../test/folder-wiki.ts';
import { beforeCompiling } from '../../../test/held-services.ts';
import { patch } from '../../../test/resumable.ts';
import { until } from '../../../test/until.ts';
import { openWorld, waitForUpload } from '../../../test/world.ts';
import { zipOf } from '../../../test/zip.ts';
import { sql } from '../../platform/db/sql.ts';

/** Files whose compilation fails once, after this promise resolves. */
const failing = new Map<string, () => Promise<unknown>>();
const jobServices = beforeCompiling(async (filename) => {
  const fail = failing.get(filename);
  if (!fail) return;
  await fail();
  failing.delete(filename);
  throw new Error('a failure that the test made');
});
const world = await openWorld({}, { jobServices });
const owner = await world.owner();

const newWiki = () => newFolderWiki(owner);

const DOCS: Files = {
  'docs/a.md': '# A\n\nSee [b](b.md).\n',
  'docs/b.md': '# B\n\nWhat b says.\n',
  'docs/deep/c.md': '# C\n\nWhat c says.\n',
};

function changed(files: Files, without: string[], more: Files = {}): Files {
  return { ...Object.fromEntries(Object.entries(files).filter(([name]) => !without.includes(name))), ...more };
}

test('the page of a file missing from a sync is stale and named, and recovers when the file is back', async () => {
  const wiki = await newWiki();
  await wiki.sync(DOCS);
  const gone = await wiki.sync(changed(DOCS, ['docs/b.md', 'docs/deep/c.md']));
  assert.match(
    gone.summary,
    /, 3 pages of missing files \(now stale\)\. Gone; keep or delete: docs\/b; docs\/deep; docs\/deep\/c\.$/,
  );
  assert.deepEqual(await wiki.stale(), ['docs/b', 'docs/deep', 'docs/deep/c']);
  const again = await wiki.sync(changed(DOCS, ['docs/b.md', 'docs/deep/c.md']));
  assert.doesNotMatch(again.summary, /missing files/, 'the summary names it once');
  await wiki.sync(DOCS);
  assert.deepEqual(await wiki.stale(), []);
});

test('a page that a user chose to keep is not reported as gone again', async () => {
  const wiki = await newWiki();
  await wiki.sync(DOCS);
  const without = changed(DOCS, ['docs/b.md']);
  await wiki.sync(without);
  const { page_id, revision } = await wiki.page('docs/b');
  await owner.patch(`${wiki.at}/pages/${page_id}`, { base_revision: revision, markdown: '# B\n\nIt is ours now.\n' });
  await wiki.sync(without);
  assert.deepEqual(await wiki.stale(), []);
});

test('pages of missing files are listed until kept, deleted, rewritten, or their file is back', async () => {
  const wiki = await newWiki();
  const listed = async () =>
    (await owner.get(`${wiki.at}/pages/gone`)).body.map(
      ({ path, filename, pages_below }: { path: string; filename: string; pages_below: number }) =>
        `${path} ${filename} ${pages_below}`,
    );
  const files = { ...DOCS, 'docs/e.md': '# E\n', 'docs/f.md': '# F\n' };
  await wiki.sync(files);
  await wiki.sync({ 'docs/a.md': '# A\n' });
  assert.deepEqual((await listed()).sort(), [
    'docs/b docs/b.md 0',
    'docs/deep docs/deep/ 1',
    'docs/deep/c docs/deep/c.md 0',
    'docs/e docs/e.md 0',
    'docs/f docs/f.md 0',
  ]);
  const [b, e, f] = await Promise.all(['docs/b', 'docs/e', 'docs/f'].map((path) => wiki.page(path)));
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.equal((await viewer.get(`${wiki.at}/pages/gone`)).status, 403);
  assert.equal((await viewer.post(`${wiki.at}/pages/${b.page_id}/keep`)).status, 403);
  const kept = await owner.post(`${wiki.at}/pages/${b.page_id}/keep`);
  assert.deepEqual([kept.status, kept.body.stale, kept.body.revision], [200, false, b.revision]);
  assert.equal((await owner.post(`${wiki.at}/pages/${b.page_id}/keep`)).status, 404, 'it is decided');
  const [record] = await world.db.query(sql`
    select actor_id, before, after from audit_events where type = 'page.kept' and target_id = ${b.page_id}`);
  assert.deepEqual(record, {
    actor_id: owner.user_id,
    before: { stale: true, gone_file: 'docs/b.md' },
    after: { stale: false, gone_file: '' },
  });
  await owner.send('DELETE', `${wiki.at}/pages/${e.page_id}`);
  await owner.patch(`${wiki.at}/pages/${f.page_id}`, { base_revision: f.revision, markdown: 'Ours now.' });
  assert.equal((await listed()).length, 2);
  await wiki.sync({ 'docs/a.md': '# A\n', 'docs/deep/c.md': DOCS['docs/deep/c.md'] ?? '' });
  assert.deepEqual(await listed(), []);
  assert.deepEqual(await wiki.stale(), []);
});

test('the mode can be a form field, and an unknown mode is refused', async () => {
  const wiki = await newWiki();
  await wiki.sync(DOCS);
  const formOf = (mode: string) => {
    const form = new FormData();
    form.append('mode', mode);
    form.append('files', new Blob(['# A\n']), 'docs/a.md');
    return form;
  };
  const refused = await owner.send('POST', `${wiki.at}/uploads`, { body: formOf('mirror') });
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_request']);
  const { body } = await owner.send('POST', `${wiki.at}/uploads`, { body: formOf('sync') });
  await waitForUpload(owner, wiki.wiki_id, body.upload_id);
  assert.deepEqual(await wiki.stale(), ['docs/b', 'docs/deep', 'docs/deep/c']);
});

test('a renamed file keeps its page, with history and links, and the old path redirects', async () => {
  const wiki = await newWiki();
  await wiki.sync(DOCS);
  const { page_id, revision } = await wiki.page('docs/b');
  await owner.patch(`${wiki.at}/pages/${page_id}`, {
    base_revision: revision,
    markdown: '# B\n\nWhat b says, by hand.\n',
  });
  const { body: guide } = await owner.post(`${wiki.at}/pages`, { title: 'Guide', markdown: '[b](docs/b)\n' });
  const moved = changed(DOCS, ['docs/b.md'], { 'docs/new/name.md': DOCS['docs/b.md'] ?? '' });
  const { summary } = await wiki.sync(moved);
  assert.doesNotMatch(summary, /[Mm]issing files/);
  const page = await wiki.page('docs/new/name');
  assert.deepEqual([page.page_id, page.revision, page.stale], [page_id, 2, false]);
  assert.match(page.markdown, /by hand/);
  assert.equal((await wiki.page('docs/b')).path, 'docs/new/name', 'the old path');
  assert.match((await owner.get(`${wiki.at}/pages/${guide.page_id}`)).body.html, /href="docs\/new\/name"/);
  assert.deepEqual(await wiki.stale(), []);

  const back = await wiki.sync({ ...moved, 'docs/b.md': '# Another b\n' });
  assert.match(back.summary, /1 new page/);
  assert.equal((await wiki.page('docs/new/name')).page_id, page_id, 'the old name is another page');
  assert.notEqual((await wiki.page('docs/b')).page_id, page_id);
});

test('a renamed folder keeps all its pages', async () => {
  const wiki = await newWiki();
  const files = (folder: string): Files => ({
    [`docs/${folder}/README.md`]: '# The folder\n',
    [`docs/${folder}/one.md`]: '# One\n',
    [`docs/${folder}/deep/two.md`]: '# Two\n',
    'docs/index.md': '# Docs\n',
  });
  await wiki.sync(files('old'));
  const ids = await Promise.all(
    ['docs/old', 'docs/old/one', 'docs/old/deep/two'].map(async (path) => (await wiki.page(path)).page_id),
  );
  await wiki.sync({ ...files('new'), 'docs/new/one.md': '# One, changed\n' });
  const now = await Promise.all(
    ['docs/new', 'docs/new/one', 'docs/new/deep/two'].map(async (path) => (await wiki.page(path)).page_id),
  );
  assert.deepEqual(now, ids);
  const live = (await wiki.pages()).filter(({ stale }) => !stale).map(({ path }) => path);
  assert.deepEqual(live.sort(), ['docs', 'docs/new', 'docs/new/deep', 'docs/new/deep/two', 'docs/new/one']);
});

test('files that swap names keep their pages, with history and links that users wrote', async () => {
  const wiki = await newWiki();
  const [a, b] = ['# A\n\nWhat a says.\n', '# B\n\nWhat b says.\n'];
  const index = '# Docs\n\nSee [the first](a.md).\n';
  await wiki.sync({ 'docs/index.md': index, 'docs/a.md': a, 'docs/b.md': b });
  const [A, B] = await wiki.ids(['docs/a', 'docs/b']);
  await owner.patch(`${wiki.at}/pages/${B}`, { base_revision: 1, markdown: '# B\n\nWhat b says, by hand.\n' });
  const { body: guide } = await owner.post(`${wiki.at}/pages`, { title: 'Guide', markdown: '[b](docs/b)\n' });
  const hrefs = async (page_id: string) =>
    (await owner.get(`${wiki.at}/pages/${page_id}`)).body.html.match(/href="[^"]*"/g);

  const chain = await wiki.sync({ 'docs/index.md': index, 'docs/b.md': a, 'docs/c.md': b });
  assert.match(chain.summary, /2 pages moved with their files/);
  assert.doesNotMatch(chain.summary, /[Mm]issing files|[1-9] new page/);
  assert.deepEqual(await wiki.ids(['docs/b', 'docs/c', 'docs/a']), [A, B, A], 'and the first path leads to its page');
  assert.match((await wiki.page('docs/c')).markdown, /by hand/);
  assert.deepEqual(await hrefs(guide.page_id), ['href="docs/c"']);

  const swap = await wiki.sync({ 'docs/index.md': index.replace('a.md', 'b.md'), 'docs/b.md': b, 'docs/c.md': a });
  assert.match(swap.summary, /2 pages moved with their files/);
  assert.deepEqual(await wiki.ids(['docs/b', 'docs/c']), [B, A]);
  assert.deepEqual(await hrefs(guide.page_id), ['href="docs/b"'], 'what people link to is the page');
  const { page_id } = await wiki.page('docs');
  assert.deepEqual(await hrefs(page_id), ['href="docs/b"'], 'what a file links to is the file of the name');
  await wiki.sync({ 'docs/index.md': index.replace('a.md', 'b.md'), 'docs/b.md': a, 'docs/c.md': b });
  assert.deepEqual(await wiki.ids(['docs/b', 'docs/c']), [A, B]);
  assert.deepEqual(await hrefs(page_id), ['href="docs/b"'], 'also in a file that is the same');
  assert.deepEqual(await wiki.stale(), []);
  assert.equal((await wiki.pages()).length, 4);
});

test('a file whose name changes only in spelling keeps its page and path', async () => {
  const wiki = await newWiki();
  await wiki.sync({
    'd/Docs/Caf\u00e9.md': '# Caf\u00e9\n',
    'd/Docs/My File.md': '# Mine\n',
    'd/Docs/Other.md': '# Other\n',
  });
  const before = (await wiki.pages()).map(({ path }) => path).sort();
  const ids = await wiki.ids(before);
  const { summary } = await wiki.sync({
    'd/docs/Cafe\u0301.md': '# Caf\u00e9\n\nMore.\n',
    'd/docs/my-file.md': '# Mine\n',
    'd/docs/OTHER.md': '# Other, changed\n',
  });
  assert.doesNotMatch(summary, /[Mm]issing files|[1-9] new page/);
  assert.deepEqual((await wiki.pages()).map(({ path }) => path).sort(), before);
  assert.deepEqual(await wiki.ids(before), ids);
  assert.deepEqual(await wiki.stale(), []);
});

test('a file that becomes a folder, and a file again, loses no page', async () => {
  const wiki = await newWiki();
  const [file, inside] = ['# A\n\nIt was a file.\n', '# Inside\n'];
  await wiki.sync({ 'd/a.md': file, 'd/z.md': '# Z\n' });
  const [A] = await wiki.ids(['d/a']);
  const { summary } = await wiki.sync({ 'd/a/inside.md': inside, 'd/z.md': '# Z\n' });
  assert.match(summary, /1 new page/);
  const [X] = await wiki.ids(['d/a/inside']);
  await wiki.sync({ 'd/a.md': file, 'd/z.md': '# Z\n' });
  assert.deepEqual(await wiki.ids(['d/a', 'd/a/inside']), [A, X]);
  assert.deepEqual(await wiki.stale(), ['d/a/inside']);
});

test('files of equal names in an archive keep their pages over repeated uploads', async () => {
  const wiki = await newWiki();
  const send = async (archive: Buffer) => {
    const form = new FormData();
    form.append('files', new Blob([new Uint8Array(archive)]), 'all.zip');
    const { body } = await owner.send('POST', `${wiki.at}/uploads?mode=sync`, { body: form });
    return (await waitForUpload(owner, wiki.wiki_id, body.upload_id)).body;
  };
  const names = ['d/a.md', '../d/a.md', 'd/./a.md'];
  await send(zipOf(names.map((name, i) => [name, `# Number ${i}\n`])));
  const before = (await wiki.pages()).map(({ path }) => path).sort();
  assert.deepEqual(before, ['d', 'd/a', 'd/a-2', 'd/a-3']);
  const { summary } = await send(zipOf(names.map((name, i) => [name, `# Number ${i}, changed\n`])));
  assert.match(summary, /3 pages updated/);
  assert.deepEqual((await wiki.pages()).map(({ path }) => path).sort(), before);
  assert.match((await wiki.page('d/a-2')).markdown, /Number 1, changed/);
});

test('renames are not guessed among files with equal bytes', async () => {
  const wiki = await newWiki();
  await wiki.sync({ 'd/a.md': '# Same\n', 'd/b.md': '# Same\n', 'd/c.md': '# C\n' });
  const { summary } = await wiki.sync({ 'd/x.md': '# Same\n', 'd/c.md': '# C\n' });
  assert.match(summary, /1 new page, 2 pages of missing files/);
});

test('only files of the synced folder can be gone, and only in a sync', async () => {
  const wiki = await newWiki();
  await wiki.add({ ...DOCS, 'other/x.md': '# X\n', 'root.md': '# Root\n' });
  await wiki.add({ 'docs/a.md': '# A\n' });
  assert.deepEqual(await wiki.stale(), []);
  await wiki.sync({ 'docs/a.md': '# A\n', 'docs/b.md': DOCS['docs/b.md'] ?? '' });
  assert.deepEqual(await wiki.stale(), ['docs/deep', 'docs/deep/c']);
  await wiki.sync({ 'top.md': '# Top\n', 'more/y.md': '# Y\n' });
  await wiki.sync({ 'top.md': '# Top\n' });
  assert.deepEqual(
    await wiki.stale(),
    ['docs/deep', 'docs/deep/c', 'more', 'more/y'],
    'a sync of no single folder knows the files of such syncs',
  );
});

test('pages of another wiki and pages that users wrote are unchanged', async () => {
  const [ours, theirs] = [await newWiki(), await newWiki()];
  await theirs.sync(DOCS);
  await ours.sync(DOCS);
  const { body } = await owner.post(`${ours.at}/pages`, { title: 'Docs of people', markdown: '' });
  await ours.sync({ 'docs/a.md': '# A\n' });
  assert.deepEqual(await theirs.stale(), []);
  assert.equal((await owner.get(`${ours.at}/pages/${body.page_id}`)).body.stale, false);
});

test('a failed upload or a corrupt archive marks no page as stale', async () => {
  const wiki = await newWiki();
  await wiki.sync(DOCS);
  const failed = await wiki.sync({ 'docs/empty.txt': '' });
  assert.equal(failed.status, 'failed');
  const form = new FormData();
  form.append('files', new Blob(['# A\n']), 'docs/a.md');
  form.append('files', new Blob([new Uint8Array(zipOf([['b.md', '# B']]).subarray(0, 40))]), 'docs/rest.zip');
  const { body } = await owner.send('POST', `${wiki.at}/uploads?mode=sync`, { body: form });
  await waitForUpload(owner, wiki.wiki_id, body.upload_id);
  assert.deepEqual(await wiki.stale(), []);
});

test('an announced upload can be a sync, and an unknown mode is refused', async () => {
  const wiki = await newWiki();
  await wiki.sync(DOCS);
  const { body, status } = await owner.post(`${wiki.at}/uploads`, {
    mode: 'sync',
    files: [{ filename: 'docs/a.md', byte_size: 4 }],
  });
  assert.equal(status, 201);
  await patch(owner, new URL(body.files[0].upload_url).pathname, 0, Buffer.from('# A\n'));
  await owner.post(`${wiki.at}/uploads/${body.upload.upload_id}/complete`);
  await waitForUpload(owner, wiki.wiki_id, body.upload.upload_id);
  assert.deepEqual(await wiki.stale(), ['docs/b', 'docs/deep', 'docs/deep/c']);
  const other = await owner.send('POST', `${wiki.at}/uploads?mode=mirror`, { body: new FormData() });
  assert.equal(other.status, 422);
});

test('a folder from several syncs is recognized when renamed, and when gone', async () => {
  const wiki = await newWiki();
  const files = (folder: string): Files => ({
    [`docs/${folder}/one.md`]: '# One\n',
    [`docs/${folder}/deep/two.md`]: '# Two\n',
    'docs/z.md': '# Z\n',
  });
  for (let n = 0; n < 3; n += 1) await wiki.sync(files('old'));
  const ids = await wiki.ids(['docs/old', 'docs/old/deep']);
  await wiki.sync(files('new'));
  assert.deepEqual(await wiki.ids(['docs/new', 'docs/new/deep']), ids);
  await wiki.sync(files('new'));
  const { summary } = await wiki.sync({ 'docs/z.md': '# Z\n' });
  assert.match(summary, /4 pages of missing files/);
  assert.deepEqual(await wiki.stale(), ['docs/new', 'docs/new/deep', 'docs/new/deep/two', 'docs/new/one']);
  assert.doesNotMatch(
    (await wiki.sync({ 'docs/z.md': '# Z\n' })).summary,
    /missing files/,
    'the summary names it once',
  );
});

test('a sync that fails between renamed files and a file that links to them resumes with the same links', async () => {
  const wiki = await newWiki();
  const named = (folder: string) =>
    Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`docs/${folder}/${i}.md`, `# Number ${i}\n`]));
  const link = '# A\n\nSee [five](../../old/5.md)';
  await wiki.sync({ ...named('old'), 'docs/z/z/a.md': `${link}.\n` });
  failing.set('docs/z/z/a.md', () =>
    until(
      'the other files are written',
      () =>
        world.db.query(sql`
        select from upload_files where wiki_id = ${wiki.wiki_id} and renamed_from = 'docs/old/5.md' and status = 'done'`),
      (rows) => rows.length > 0,
    ),
  );
  const { summary } = await wiki.sync({ ...named('new'), 'docs/z/z/a.md': `${link}, again.\n` });
  assert.equal(failing.size, 0, 'it failed');
  assert.doesNotMatch(summary, /broken/);
  assert.match((await wiki.page('docs/z/z/a')).html, /<a href="(?:\.\.\/)*new\/5">/);
});
