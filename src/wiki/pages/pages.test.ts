import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { listAll } from '../../../test/list-all.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { corpus } from '../../../test/world.ts';

const world = await sharedWorld();
const owner = await world.owner();
const pages = `/v1/wikis/${owner.wiki_id}/pages`;
await world.upload(owner, owner.wiki_id, {
  'guide/setup.md':
    '---\ntitle: Set up\n---\n# Install\n\nUnpack the **archive** first.\n\n## Configure & run\n\nThen configure the <gnu> & run.\n',
  'notes.md': '# Notes\n\nAn archive of zebras, and 100% of a_b.\n',
  'evil.md':
    '# Evil <img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) <script>alert(1)</script> <svg onload=alert(1)>\n',
});

test('a page read by id equals the page read by path', async () => {
  const byPath = await owner.get(`${pages}/path/guide/setup`);
  assert.equal(byPath.status, 200);
  const byId = await owner.get(`${pages}/${byPath.body.page_id}`);
  assert.deepEqual(byId.body, byPath.body);
  assert.equal(byId.body.title, 'Set up');
  assert.deepEqual(byId.body.outline, [
    { level: 1, text: 'Install', anchor: 'h-install' },
    { level: 2, text: 'Configure & run', anchor: 'h-configure--run' },
  ]);
  assert.equal(byId.body.citations.length, 1);
  assert.equal(byId.body.citations[0].filename, 'guide/setup.md');
  const listed = (await owner.get(pages)).body.find((page: { path: string }) => page.path === 'guide/setup');
  for (const [name, value] of Object.entries(listed)) assert.deepEqual(byId.body[name], value, `field ${name}`);
});

test('Accept chooses JSON, the Markdown as written, or a document; a wildcard means JSON', async () => {
  const path = `${pages}/path/guide/setup`;
  const markdown = await owner.get(path, { accept: 'text/markdown' });
  assert.match(markdown.headers.get('content-type') ?? '', /^text\/markdown; charset=utf-8/);
  assert.match(markdown.body, /^---\ntitle: Set up\n---\n# Install\n/);
  const html = await owner.get(path, { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' });
  assert.match(html.headers.get('content-type') ?? '', /^text\/html; charset=utf-8/);
  assert.match(html.body, /<title>Set up<\/title>/);
  assert.match(html.body, /<h1 id="h-install">Install<\/h1>/);
  for (const accept of ['*/*', 'application/json', 'image/png', 'text/html;q=0.1, application/json', ',,;;q=x']) {
    const json = await owner.get(path, { accept });
    assert.match(json.headers.get('content-type') ?? '', /^application\/json/, accept);
  }
});

test('a path without a page answers 404, whatever its characters', async () => {
  for (const path of [
    'nothing',
    'guide/',
    '/guide',
    'guide//setup',
    '..%2fnotes',
    '%2e%2e',
    'Guide',
    'guide/setup/',
    'x'.repeat(2_000),
  ]) {
    const answer = await owner.get(`${pages}/path/${path}`);
    assert.equal(answer.status, 404, path);
  }
});

test('nothing that a file contains can run in a reader’s browser', async () => {
  const json = await owner.get(`${pages}/path/evil`);
  const html = await owner.get(`${pages}/path/evil`, { accept: 'text/html' });
  const search = await owner.get(`${pages}/search?query=evil`);
  for (const text of [json.body.html, html.body, search.body[0].snippet]) {
    assert.doesNotMatch(text, /<script|<svg|onerror=|onload=|javascript:/i);
  }
  assert.match(html.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.equal(html.headers.get('x-content-type-options'), 'nosniff');
});

test('a search finds pages that contain any of the words, best first, with the passage and its heading', async () => {
  const { status, body } = await owner.get(`${pages}/search?query=configure+the+zebra+unheardof`);
  assert.equal(status, 200);
  assert.deepEqual(
    body.map((hit: { path: string }) => hit.path),
    ['guide/setup', 'notes'],
  );
  assert.ok(body[0].score > body[1].score);
  assert.match(body[0].snippet, /<mark>configure<\/mark>/i);
  assert.equal(body[0].heading, 'Configure & run');
  assert.equal(body[0].anchor, 'h-configure--run');
  assert.match(body[0].snippet, /&amp;/);
});

test('a phrase must occur, an excluded word must not, and stop words alone match titles', async () => {
  const paths = async (query: string) =>
    (await owner.get(`${pages}/search?query=${encodeURIComponent(query)}`)).body.map(
      (hit: { path: string }) => hit.path,
    );
  assert.deepEqual(await paths('"unpack the archive"'), ['guide/setup']);
  assert.deepEqual(await paths('"archive unpack"'), []);
  assert.deepEqual(await paths('archive -zebras'), ['guide/setup']);
  assert.deepEqual(await paths('archive -unpack'), ['notes']);
  assert.deepEqual(await paths('up'), ['guide/setup']);
  assert.deepEqual(await paths('%'), []);
});

test('any text is a valid query of a page search and of a source search', async () => {
  const texts = [
    '&',
    'a b',
    "a' & b",
    '\\',
    '\\\\',
    "'",
    '"',
    '""',
    '"a',
    '-',
    '--',
    '-"a b"',
    '!',
    '&|!():*<->',
    'a:*',
    "'':",
    '(((',
    ':*',
    '<->',
    '%',
    '_',
    '*',
    '$1',
    ';drop table pages',
    '\u202e',
    '🦓',
    '日本語',
    'İ',
    'ß',
    'a'.repeat(1_024),
    '"a" '.repeat(200),
    '-a '.repeat(300),
    'null',
    'undefined',
    '{{7*7}}',
    '../../etc/passwd',
    '\t',
    ' ',
    '\n',
  ];
  for (const text of texts) {
    for (const kind of ['pages', 'sources']) {
      const answer = await owner.get(`/v1/wikis/${owner.wiki_id}/${kind}/search?query=${encodeURIComponent(text)}`);
      assert.equal(answer.status, 200, `${kind}: ${JSON.stringify(text.slice(0, 20))}`);
      assert.ok(Array.isArray(answer.body));
    }
  }
  assert.equal((await owner.get(`${pages}/search?query=`)).status, 422);
  assert.equal((await owner.get(`${pages}/search`)).status, 422);
  assert.equal((await owner.get(`${pages}/search?query=${'a'.repeat(8_193)}`)).status, 422);
  assert.equal((await owner.get(`${pages}/search?query=%00`)).status, 400);
});

test('a source is found by its words, with the location of the passage', async () => {
  const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/search?query=zebras`);
  assert.equal(body[0].filename, 'notes.md');
  assert.equal(body[0].page_count, 1);
  assert.equal(body[0].locator, 'line:3');
});

test('identical bytes make no new source, as the summary says; a changed file revises its page', async () => {
  const again = await world.upload(owner, owner.wiki_id, {
    'notes.md': '# Notes\n\nAn archive of zebras, and 100% of a_b.\n',
  });
  assert.equal(again.body.source_count, 0);
  assert.equal(again.body.summary, '1 file: 0 new sources, 1 file already known (same bytes), 0 new pages.');
  const before = await owner.get(`${pages}/path/notes`);
  assert.equal(before.body.revision, 1);
  const changed = await world.upload(owner, owner.wiki_id, { 'notes.md': '# Notes\n\nGiraffes now.\n' });
  assert.equal(changed.body.summary, '1 file: 1 new source, 0 new pages, 1 page updated.');
  const after = await owner.get(`${pages}/path/notes`);
  assert.deepEqual([after.body.page_id, after.body.revision], [before.body.page_id, 2]);
  assert.deepEqual((await owner.get(`${pages}/search?query=zebras`)).body, []);
  assert.equal((await owner.get(`${pages}/search?query=giraffes`)).body.length, 1);
});

test('an unreadable file fails alone, is named with what to do, and the other files become pages', async () => {
  const someone = await world.owner();
  const upload = await world.upload(someone, someone.wiki_id, {
    'good.md': '# Good\n',
    'latin.md': Buffer.from('caf\xe9\n', 'latin1'),
    'paper.pdf': '%PDF-1.7\n',
    'empty.txt': '',
    'sub/index.md': Buffer.from([0xff, 0x00, 0x01]),
    'sub/child.md': '# Child\n',
  });
  assert.equal(upload.body.status, 'completed');
  assert.equal(upload.body.source_count, 2);
  for (const name of ['latin.md', 'paper.pdf', 'empty.txt', 'sub/index.md'])
    assert.ok(upload.body.summary.includes(name), name);
  assert.match(upload.body.summary, /save it as UTF-8/);
  const { body } = await someone.get(`/v1/wikis/${someone.wiki_id}/pages`);
  assert.deepEqual(body.map((page: { path: string }) => page.path).sort(), ['good', 'sub', 'sub/child']);
  const failed = await world.upload(someone, someone.wiki_id, { 'paper.pdf': '%PDF-1.7\n' });
  assert.deepEqual([failed.body.status, failed.body.status_label], ['failed', 'failed']);
  assert.match(failed.body.error, /^unreadable: the PDF is damaged/);
  const jobs = await someone.get(`/v1/wikis/${someone.wiki_id}/jobs?status=failed`);
  assert.equal(jobs.body[0].error, failed.body.error);
});

test('hostile file names never lead outside the wiki', async () => {
  const someone = await world.owner();
  const upload = await world.upload(someone, someone.wiki_id, {
    '../../etc/passwd': 'a\n',
    'C:\\temp\\x.md': 'b\n',
    '/abs/y.md': 'c\n',
    '%2e%2e%2fz.md': 'd\n',
    [`${'n'.repeat(300)}.md`]: 'e\n',
    'a\u202eb.md': 'f\n',
    '.md': 'g\n',
    CON: 'h\n',
  });
  assert.equal(upload.body.status, 'completed', upload.body.summary);
  const { body } = await someone.get(`/v1/wikis/${someone.wiki_id}/pages?limit=500`);
  for (const page of body) assert.match(page.path, /^[a-z0-9-]+(\/[a-z0-9-]+)*$/);
  const { body: sources } = await someone.get(`/v1/wikis/${someone.wiki_id}/sources?limit=500`);
  for (const source of sources) assert.doesNotMatch(source.filename, /\.\.\/|^\/|\\|\u202e/);
});

longTest('six hundred real files in one upload: every one a source and a page', async () => {
  const files =
    (await corpus('tldr/common')) ??
    Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${i}.md`, `# File ${i}\n\nText ${i}.\n`]));
  const someone = await world.owner();
  const upload = await world.upload(someone, someone.wiki_id, files as Record<string, Uint8Array | string>);
  const count = Object.keys(files).length;
  assert.equal(upload.body.status, 'completed');
  assert.equal(upload.body.source_count, count, upload.body.summary);
  const pages = await listAll<{ path: string }>(someone, `/v1/wikis/${someone.wiki_id}/pages`);
  const seen = new Set(pages.map(({ path }) => path));
  assert.equal(seen.size, count);
});

test('recent pages come first, in a wiki and across all wikis of a workspace that the caller may read', async () => {
  const me = await world.owner();
  const viewer = await world.member(me.workspace_id, 'viewer');
  const stranger = await world.owner();
  const { body: second } = await me.post(`/v1/workspaces/${me.workspace_id}/wikis`, { title: 'Second' });
  const create = async (wiki_id: string, title: string, status = 'published') =>
    (await me.post(`/v1/wikis/${wiki_id}/pages`, { title, markdown: '', status })).body;
  const first = await create(me.wiki_id, 'First');
  await create(me.wiki_id, 'Draft', 'draft');
  await create(second.wiki_id, 'Elsewhere');
  await create(me.wiki_id, 'Archived', 'archived');
  const { page_id } = await create(me.wiki_id, 'Trashed');
  await create(me.wiki_id, 'Last');
  await me.send('DELETE', `/v1/wikis/${me.wiki_id}/pages/${page_id}`);
  await create(stranger.wiki_id, 'Refused');
  const titles = async (path: string, by: Pick<typeof me, 'get'> = me) => {
    const { status, body } = await by.get(path);
    return status === 200 ? body.map(({ title }: { title: string }) => title) : status;
  };
  const wiki = `/v1/wikis/${me.wiki_id}/recent-pages`;
  const all = `/v1/workspaces/${me.workspace_id}/recent-pages`;
  assert.deepEqual(await titles(wiki), ['Last', 'Draft', 'First']);
  assert.deepEqual(await titles(`${wiki}?limit=1`, viewer), ['Last']);
  assert.deepEqual(await titles(wiki, viewer), ['Last', 'First']);
  assert.deepEqual(await titles(all), ['Last', 'Elsewhere', 'Draft', 'First']);
  assert.deepEqual(await titles(all, viewer), ['Last', 'Elsewhere', 'First']);
  assert.deepEqual(await titles(`${all}?per_wiki=1`), ['Last', 'Elsewhere']);
  assert.deepEqual(await titles(`${all}?per_wiki=2&limit=3`, viewer), ['Last', 'Elsewhere', 'First']);
  assert.deepEqual([await titles(wiki, stranger), await titles(all, stranger)], [403, 403]);
  // A move counts as a change, though it makes no revision.
  await me.patch(`/v1/wikis/${me.wiki_id}/pages/${first.page_id}`, { slug: 'moved', base_revision: 1 });
  assert.deepEqual(await titles(wiki), ['First', 'Last', 'Draft']);
  assert.deepEqual((await me.get(`${wiki}?limit=1`)).body[0], (await me.get(`${all}?limit=1`)).body[0]);
});
