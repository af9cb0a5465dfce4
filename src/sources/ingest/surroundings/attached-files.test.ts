import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { announce, patch } from '../../../../test/resumable.ts';
import { sharedWorld } from '../../../../test/shared-world.ts';
import { waitForUpload } from '../../../../test/world.ts';
import { zipOf } from '../../../../test/zip.ts';
import { sql } from '../../../platform/db/sql.ts';

const world = await sharedWorld();
const owner = await world.owner();

const png = (name: string) =>
  Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), Buffer.from(name)]);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

async function newWiki() {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Pictures' });
  const at = `/v1/wikis/${body.wiki_id}`;
  const page = async (path: string) => (await owner.get(`${at}/pages/path/${path}`)).body;
  return {
    wiki_id: body.wiki_id as string,
    at,
    page,
    upload: async (files: Record<string, string | Uint8Array>) => (await world.upload(owner, body.wiki_id, files)).body,
    /** Returns the attachments of a page by filename, with the hash of the bytes served. */
    attached: async (path: string) => {
      const { page_id } = await page(path);
      const { body: list } = await owner.get(`${at}/pages/${page_id}/attachments`);
      return new Map<string, { attachment_id: string; content_type: string; sha256: string }>(
        list.map((one: { filename: string }) => [one.filename, one]),
      );
    },
    paths: async () => (await owner.get(`${at}/pages?limit=500`)).body.map(({ path }: { path: string }) => path).sort(),
  };
}

const GUIDE = [
  '# Guide',
  '![The plan](../img/Plan%20A.png "Plan") ![again][p] and <img alt="x" src="../img/plan a.png">.',
  'Data: [numbers](data/numbers.sqlite?raw=true#sheet), [[all.zip|everything]], ![[Photo.JPG|300]] and ![[logo.svg]].',
  '[p]: ../img/plan%20a.png',
  '',
].join('\n\n');

const FOLDER: Record<string, string | Uint8Array> = {
  'docs/guide.md': GUIDE,
  'docs/data/numbers.sqlite': new Uint8Array(Buffer.from('SQLite format 3\0\x10\0\x01\x01')),
  'img/plan a.png': png('plan'),
  'img/photos/photo.jpg': Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF\0', 'latin1'),
  'img/logo.svg': SVG,
  'img/unused.png': png('unused'),
};

async function assertGuide(wiki: Awaited<ReturnType<typeof newWiki>>) {
  const attached = await wiki.attached('docs/guide');
  const id = (name: string) => attached.get(name)?.attachment_id ?? `no ${name}`;
  const page = await wiki.page('docs/guide');
  assert.ok(page.markdown.includes(`![The plan](attachment:${id('plan a.png')} "Plan") ![again][p]`), page.markdown);
  assert.ok(page.markdown.includes(`[p]: attachment:${id('plan a.png')}`));
  assert.ok(page.markdown.includes(`[numbers](attachment:${id('numbers.sqlite')})`), page.markdown);
  const address = (name: string) => `${wiki.at}/attachments/${id(name)}`;
  assert.equal(page.html.split(`src="${address('plan a.png')}"`).length - 1, 3, page.html);
  assert.match(page.html, new RegExp(`<img[^>]* src="${address('photo.jpg')}"[^>]*width="300"`));
  assert.match(page.html, new RegExp(`src="${address('logo.svg')}"`));
  assert.match(page.html, new RegExp(`href="${address('numbers.sqlite')}"`));
  const answer = await owner.get(address('plan a.png'));
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/png']);
  assert.equal(attached.get('plan a.png')?.sha256, hash('sha256', png('plan')));
  return { page, attached };
}

test('files that a text shows are attached to its page and become no pages, for every kind of upload', async () => {
  const byForm = await newWiki();
  const { status, summary } = await byForm.upload(FOLDER);
  assert.equal(status, 'completed', summary);
  assert.equal(
    summary,
    '6 files: 1 new source, 2 new pages, 1 broken link, 4 files attached to pages that show them, 1 unreferenced file left out. Left out: img/unused.png. Broken links: docs/guide.md:5 → [[all.zip]].',
  );
  await assertGuide(byForm);
  assert.deepEqual(await byForm.paths(), ['docs', 'docs/guide'], 'a folder without texts makes no page');

  const byZip = await newWiki();
  const zipped = await byZip.upload({
    'all.zip': zipOf([...Object.entries(FOLDER), ['x/all.zip', zipOf([['y.md', '# Y']])]]),
  });
  assert.match(zipped.summary, /5 files attached to pages that show them/);
  const { page, attached } = await assertGuide(byZip);
  assert.ok(page.markdown.includes(`[everything](attachment:${attached.get('all.zip')?.attachment_id})`));

  const byTus = await newWiki();
  const contents = Object.fromEntries(Object.entries(FOLDER).map(([name, content]) => [name, Buffer.from(content)]));
  const upload = await announce(owner, byTus.wiki_id, contents);
  for (const { path, content } of upload.files) assert.equal((await patch(owner, path, 0, content)).status, 204);
  assert.equal((await owner.post(`${upload.path}/complete`)).status, 200);
  assert.match((await waitForUpload(owner, byTus.wiki_id, upload.upload_id)).body.summary, /4 files attached/);
  await assertGuide(byTus);
});

test('pictures in data URLs become attachments of the page, and keep their ids', async () => {
  const wiki = await newWiki();
  const data = (name: string) => `data:image/png;base64,${png(name.repeat(30)).toString('base64')}`;
  const svg = `data:image/svg+xml;base64,${Buffer.from(`${SVG}<!-- ${'x'.repeat(99)} -->`).toString('base64')}`;
  const note = (words: string) =>
    `# Note\n\n![One](${data('one')} "T") ![two][t] <img alt="one" src="${data('one')}">\n\n` +
    `\`${data('one')}\` and \\![${data('three')}]\n\n[t]: <${data('two')}>\n\n${words}\n`;
  const html = `<html><body><p>A</p><img alt="B" src="${data('four')}"><img alt="C" src="${svg}"><img alt="tiny" src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><pre>${data('four')}</pre></body></html>`;
  const utf16 = Buffer.from(`\ufeff<p>U</p><img alt="V" src="${data('five')}">`, 'utf16le');
  await wiki.upload({ 'note.md': note('x'), 'site.html': html, 'wide.html': utf16 });
  const attached = await wiki.attached('note');
  assert.deepEqual(
    [...attached.values()].map(({ sha256 }) => sha256).sort(),
    ['one', 'two'].map((name) => hash('sha256', png(name.repeat(30)))).sort(),
  );
  const { markdown, html: shown } = await wiki.page('note');
  const [one, two] = [...attached.values()].map(({ attachment_id }) => attachment_id).sort();
  assert.ok(!markdown.includes(`(${data('one')}`) && markdown.includes(`\`${data('one')}\` and`), markdown);
  for (const id of [one, two])
    assert.ok(markdown.includes(`attachment:${id}`) && shown.includes(`${wiki.at}/attachments/${id}"`));
  const types = [...(await wiki.attached('site')).values()].map(({ content_type }) => content_type).sort();
  assert.deepEqual(types, ['image/png', 'image/svg+xml']);
  const site = await wiki.page('site');
  assert.match(site.markdown, /^A\n\n!\[B\]\(attachment:\w+\)!\[C\]\(attachment:\w+\)\s?tiny\n\n```\ndata:image/);
  assert.equal((await wiki.attached('wide')).size, 1);
  await wiki.upload({ 'note.md': note('y') });
  const again = await wiki.attached('note');
  assert.deepEqual([...again.values()].map(({ attachment_id }) => attachment_id).sort(), [one, two]);
  const { citations } = await wiki.page('note');
  const { body: verified } = await owner.get(`${wiki.at}/sources/${citations[0].source_id}/verification`);
  assert.deepEqual(verified.findings, []);
});

test('Obsidian drawings and views are left out and named, or attached if a text links to them', async () => {
  const wiki = await newWiki();
  const drawings = { 'board.canvas': '{"nodes":[]}', 'all.base': 'views: []\n', 'plan.canvas': '{"edges":[]}' };
  const { summary } = await wiki.upload({ 'a.md': '# A\n\n![[plan.canvas]]\n', ...drawings });
  assert.match(
    summary,
    /1 new page, 1 file attached.*, 2 unreferenced files left out\. Left out: board\.canvas; all\.base\. Recognized as an export of Obsidian\.$/,
  );
  assert.deepEqual([...(await wiki.attached('a')).keys()], ['plan.canvas']);
  const { body } = await owner.get(`${wiki.at}/pages?limit=500`);
  assert.deepEqual(
    body.map(({ path }: { path: string }) => path),
    ['a'],
  );
});

test('a repeated upload changes nothing, a changed picture makes a new revision, and equal bytes are stored once', async () => {
  const wiki = await newWiki();
  const files = {
    'a.md': '# A\n\n![](p.png)\n',
    'b/c.md': '# B\n\n![](../p.png) ![](../q.png)\n',
    'p.png': png('p'),
    'q.png': png('p'),
  };
  await wiki.upload(files);
  const before = [await wiki.page('a'), await wiki.page('b/c')];
  assert.equal((await wiki.attached('b/c')).size, 1, 'one attachment of a page for the same bytes');
  const again = await wiki.upload(files);
  assert.match(
    again.summary,
    /^4 files: 0 new sources, 2 files already known \(same bytes\), 0 new pages, 2 files attached/,
  );
  assert.deepEqual([await wiki.page('a'), await wiki.page('b/c')], before);
  const changed = await wiki.upload({ ...files, 'p.png': png('new') });
  assert.match(changed.summary, /2 pages updated/);
  const shown = /attachment_\w+/.exec((await wiki.page('a')).html)?.[0];
  const { body } = await owner.get(`${wiki.at}/attachments/${shown}`);
  assert.match(String(body), /new$/);
});

test('a text of a later upload shows a picture of an earlier upload, attached to its own page', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'docs/a.md': '# A\n\n![](i/p.png)\n', 'docs/i/p.png': png('p') });
  await wiki.upload({ 'docs/b.md': '# B\n\n![](i/p.png)\n' });
  const [a] = [...(await wiki.attached('docs/a')).values()];
  const [b] = [...(await wiki.attached('docs/b')).values()];
  assert.equal(a?.sha256, b?.sha256);
  assert.notEqual(a?.attachment_id, b?.attachment_id);
  assert.ok((await wiki.page('docs/b')).html.includes(b?.attachment_id));
});

test('a picture is merged into an edited page, and can be viewed if there is a conflict', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'a.md': '# A\n\nOne.\n\nTwo.\n\nThree.\n' });
  const { page_id, revision, markdown } = await wiki.page('a');
  await owner.patch(`${wiki.at}/pages/${page_id}`, {
    base_revision: revision,
    markdown: markdown.replace('Three', 'Three by hand'),
  });
  const file = { 'a.md': '# A\n\n![](p.png)\n\nOne.\n\nTwo.\n\nThree.\n', 'p.png': png('p') };
  assert.match((await wiki.upload(file)).summary, /1 page merged/);
  const [picture] = [...(await wiki.attached('a')).values()];
  assert.ok((await wiki.page('a')).html.includes(picture?.attachment_id));
  const conflict = await wiki.upload({ 'a.md': '# A\n\nThree by the file ![](q.png).\n', 'q.png': png('q') });
  assert.match(conflict.summary, /1 page left unchanged/);
  assert.ok((await wiki.attached('a')).has('q.png'));
});

test('a picture alone fails with advice, and so does another file that no text links to', async () => {
  const wiki = await newWiki();
  const alone = await wiki.upload({ 'p.png': png('p') });
  assert.equal(alone.status, 'failed');
  assert.match(alone.error, /^unsupported_type: pictures cannot become pages/);
  const beside = await wiki.upload({
    'a.md': '# A\n',
    'n.7z': new Uint8Array(Buffer.from('7z\xbc\xaf\x27\x1c', 'latin1')),
    't.rar': new Uint8Array(Buffer.from('Rar!\x1a\x07', 'latin1')),
  });
  assert.match(
    beside.summary,
    /1 new page, 2 files failed\. Failed: n\.7z \(the file is a 7z.*t\.rar \(the file is a RAR/,
  );
  const { body: files } = await owner.get(`${wiki.at}/uploads/${beside.upload_id}/files`);
  assert.equal(files.length, 3);
});

test('a text cannot show a file of another wiki by its name', async () => {
  const [ours, theirs] = [await newWiki(), await newWiki()];
  await theirs.upload({ 'a.md': '![](p.png)', 'p.png': png('secret') });
  await ours.upload({ 'a.md': '# A\n\n![](p.png) ![](/p.png) ![[p.png]]\n' });
  assert.equal((await ours.attached('a')).size, 0);
});

test('an attachment counts once per page in the usage of the workspace', async () => {
  const wiki = await newWiki();
  const bytes = async () => {
    const { body } = await owner.get(`/v1/workspaces/${owner.workspace_id}/usage`);
    return body.find(({ name }: { name: string }) => name === 'bytes').used as number;
  };
  const before = await bytes();
  const text = '# A\n\n![](p.png) ![](q.png)\n';
  const picture = Buffer.concat([png('p'), Buffer.alloc(100_000)]);
  await wiki.upload({ 'a.md': text, 'p.png': picture, 'q.png': picture });
  const used = (await bytes()) - before;
  assert.ok(used >= picture.length && used < 2 * picture.length, `${used}`);
  const [row] = await world.db.query<{ n: number }>(sql`
    select count(*)::int as n from upload_files where wiki_id = ${wiki.wiki_id} and status = 'pending'`);
  assert.equal(row?.n, 0);
});

test('audio and video that a text shows are attached, and served in ranges with their detected type', async () => {
  const wiki = await newWiki();
  const film = (name: string) =>
    Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1'), Buffer.from(name)]);
  const { status } = await wiki.upload({
    'v/n.md': '# N\n\n![[s.wav]] ![m](m%201.mp4)\n\n<video src="v.mp4" controls></video>\n',
    'v/s.wav': Buffer.from('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0', 'latin1'),
    'v/m 1.mp4': film('m'),
    'v/v.mp4': film('v'),
    'v/unused.mp4': film('unused'),
  });
  assert.equal(status, 'completed');
  const attached = await wiki.attached('v/n');
  assert.deepEqual([...attached.keys()].sort(), ['m 1.mp4', 's.wav', 'v.mp4']);
  const { html, markdown } = await wiki.page('v/n');
  assert.match(markdown, /!\[s\.wav\]\(attachment:\w+#s\.wav\) !\[m\]\(attachment:\w+#m%201\.mp4\)/);
  for (const [name, tag, type, words] of [
    ['s.wav', 'audio', /^audio\//, 's.wav'],
    ['m 1.mp4', 'video', /^video\/mp4$/, 'm'],
    ['v.mp4', 'video', /^video\/mp4$/, 'v.mp4'],
  ] as const) {
    const address = `${wiki.at}/attachments/${attached.get(name)?.attachment_id}`;
    assert.ok(
      html.includes(`<${tag} controls preload="metadata" src="${address}"><a href="${address}">${words}</a>`),
      html,
    );
    const answer = await fetch(world.address + address, {
      headers: { authorization: `Bearer ${owner.token}`, range: 'bytes=4-7' },
    });
    assert.equal(answer.status, 206);
    assert.equal((await answer.arrayBuffer()).byteLength, 4);
    assert.match(answer.headers.get('content-type') ?? '', type);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment;/, 'a link to it saves it');
  }
});
