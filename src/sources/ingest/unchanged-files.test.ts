import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompileInput } from '@ibid/documents/compile-input.ts';
import { openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Sandbox } from '../../platform/sandbox/sandbox.ts';

/** The compiled files in order; a divided file appears several times. */
let compiled: string[] = [];

const counting = (sandbox: Sandbox): Sandbox => {
  const noted = <Rest extends unknown[], Made>(work: (file: CompileInput, ...rest: Rest) => Made) => {
    return (file: CompileInput, ...rest: Rest) => {
      compiled.push(file.filename);
      return work(file, ...rest);
    };
  };
  return { ...sandbox, compile: noted(sandbox.compile), compileOrSplit: noted(sandbox.compileOrSplit) };
};

const world = await openWorld(
  {},
  { jobServices: (services) => ({ ...services, sandbox: counting(services.sandbox) }) },
);
const owner = await world.owner();
const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');

async function newWiki() {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Again' });
  const at = `/v1/wikis/${body.wiki_id}`;
  const page = async (path: string) => (await owner.get(`${at}/pages/path/${path}`)).body;
  return {
    wiki_id: body.wiki_id as string,
    at,
    page,
    upload: async (files: Record<string, string | Uint8Array>): Promise<string[]> => {
      compiled = [];
      const upload = await world.upload(owner, body.wiki_id, files);
      assert.equal(upload.body.status, 'completed', JSON.stringify(upload.body));
      return [...new Set(compiled)].sort();
    },
    pages: async () => (await owner.get(`${at}/pages?limit=500`)).body,
    citations: async (path: string) => (await owner.get(`${at}/pages/${(await page(path)).page_id}/citations`)).body,
  };
}

const FILES = {
  'a.md': '# A\n\n[b](docs/b.md) [gone](gone.md) [[Later]] ![](p.png)\n',
  'docs/b.md': '# B\n\nWhat b says.\n',
  'docs/c.html': '<title>C</title><p>Some text about <a href="../a.md">a</a>.</p>',
  'docs/d.txt': 'Plain.\n',
  'p.png': PNG,
};

test('unchanged files are not compiled, and pages, citations and sources stay unchanged', async () => {
  const wiki = await newWiki();
  assert.deepEqual(await wiki.upload(FILES), ['a.md', 'docs/b.md', 'docs/c.html', 'docs/d.txt', 'folder.md']);
  const before = [await wiki.pages(), await wiki.citations('docs/b'), await wiki.page('a')];
  assert.deepEqual(await wiki.upload(FILES), []);
  assert.deepEqual([await wiki.pages(), await wiki.citations('docs/b'), await wiki.page('a')], before);
  const { body: uploads } = await owner.get(`${wiki.at}/uploads`);
  assert.match(
    uploads.map(({ summary }: { summary: string }) => summary).join(),
    /0 new sources, 4 files already known/,
  );
  const { body: files } = await owner.get(`${wiki.at}/uploads/${uploads[0].upload_id}/files`);
  assert.deepEqual(new Set(files.map(({ status }: { status: string }) => status)), new Set(['done']));
});

test('a file is compiled again exactly when a link of it resolves to another page', async () => {
  const wiki = await newWiki();
  await wiki.upload(FILES);
  assert.deepEqual(await wiki.upload({ ...FILES, 'docs/e.md': '# E\n' }), ['docs/e.md']);
  const withGone = { ...FILES, 'gone.md': '# No more gone\n' };
  assert.deepEqual(await wiki.upload(withGone), ['a.md', 'gone.md']);
  assert.match((await wiki.page('a')).html, /href="gone"/);
  assert.deepEqual(await wiki.upload({ ...withGone, 'x/later.md': '# Later\n' }), ['a.md', 'folder.md', 'x/later.md']);
  assert.match((await wiki.page('a')).html, /href="x\/later"/);
  const other = { ...withGone, 'x/later.md': '# Later\n', 'p.png': Buffer.concat([PNG, PNG]) };
  assert.deepEqual(await wiki.upload(other), ['a.md'], 'another picture is another page');
  assert.deepEqual(
    await wiki.upload({ 'a.md': FILES['a.md'] }),
    ['a.md'],
    'alone its wiki link names no file of the upload',
  );
});

test('a page that moved, is stale, or lost its source or a picture is compiled again', async () => {
  const wiki = await newWiki();
  await wiki.upload(FILES);
  const b = await wiki.page('docs/b');
  await owner.patch(`${wiki.at}/pages/${b.page_id}`, { base_revision: b.revision, slug: 'moved' });
  assert.deepEqual(await wiki.upload(FILES), ['a.md', 'docs/b.md']);
  assert.equal((await wiki.page('docs/moved')).revision, b.revision, 'and is the same, so it has no new revision');
  assert.deepEqual(await wiki.upload(FILES), []);
  const [{ source_id }] = await wiki.citations('docs/moved');
  await owner.send('DELETE', `${wiki.at}/sources/${source_id}`);
  assert.deepEqual(await wiki.upload(FILES), ['docs/b.md']);
  assert.equal((await wiki.citations('docs/moved')).length, 2);
  const { page_id } = await wiki.page('a');
  const { body: attached } = await owner.get(`${wiki.at}/pages/${page_id}/attachments`);
  await owner.send('DELETE', `${wiki.at}/attachments/${attached[0].attachment_id}`);
  assert.deepEqual(await wiki.upload(FILES), ['a.md']);
});

test('edits are kept, and a page in the trash is replaced by a new one', async () => {
  const wiki = await newWiki();
  await wiki.upload(FILES);
  const b = await wiki.page('docs/b');
  await owner.patch(`${wiki.at}/pages/${b.page_id}`, { base_revision: b.revision, markdown: '# B\n\nBy hand.\n' });
  assert.deepEqual(await wiki.upload(FILES), []);
  assert.equal((await wiki.page('docs/b')).markdown, '# B\n\nBy hand.\n');
  await owner.send('DELETE', `${wiki.at}/pages/${b.page_id}`);
  assert.deepEqual(await wiki.upload(FILES), ['docs/b.md']);
  assert.equal((await wiki.page('docs/b')).markdown, FILES['docs/b.md']);
});

test('an unchanged divided document keeps its sections', async () => {
  const wiki = await newWiki();
  const chapter = (n: number) => `## Chapter ${n}\n\n${`Words of ${n}. `.repeat(2_000)}\n\n`;
  const files = { 'book.md': `# Book\n\n${Array.from({ length: 12 }, (_, n) => chapter(n)).join('')}` };
  await wiki.upload(files);
  const before = await wiki.pages();
  assert.ok(before.length > 2, `${before.length} pages`);
  assert.deepEqual(await wiki.upload(files), []);
  assert.deepEqual(await wiki.upload(files), []);
  assert.deepEqual(await wiki.pages(), before, 'none is stale');
});

test('pages compiled by another version are compiled again', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'a.md': '# A\n' });
  await world.db.query(sql`update compiled_files set digest = 'of another version' where wiki_id = ${wiki.wiki_id}`);
  assert.deepEqual(await wiki.upload({ 'a.md': '# A\n' }), ['a.md']);
  assert.deepEqual(await wiki.upload({ 'a.md': '# A\n' }), []);
});

test('a page that another version rendered with other text gets a new revision, so that its citations match', async () => {
  const wiki = await newWiki();
  const files = { 'a.md': '# A\n\n> [!NOTE]\n> Said.\n' };
  await wiki.upload(files);
  const { page_id } = await wiki.page('a');
  const here = sql`wiki_id = ${wiki.wiki_id} and page_id = ${page_id}`;
  await world.db.query(sql`update compiled_files set digest = 'of another version' where ${here}`);
  await world.db.query(sql`update page_texts set text = 'A\n[!NOTE] Said.' where ${here}`);
  await world.db.query(sql`
    update revisions set html = '<h1>A</h1><blockquote><p>[!NOTE] Said.</p></blockquote>' where ${here}`);
  await wiki.upload(files);
  const page = await wiki.page('a');
  assert.equal(page.revision, 2);
  assert.match(page.html, /callout note/);
  assert.equal((await wiki.citations('a')).length, 2);
});

test("a wiki skips no file because of another wiki's pages", async () => {
  const [ours, theirs] = [await newWiki(), await newWiki()];
  await theirs.upload(FILES);
  assert.deepEqual(await ours.upload(FILES), ['a.md', 'docs/b.md', 'docs/c.html', 'docs/d.txt', 'folder.md']);
});
