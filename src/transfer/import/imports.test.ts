import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { exported, imported, newWiki, PNG, send, unzipped, zipped } from '../../../test/archives.ts';
import { runScheduled } from '../../../test/jobs.ts';
import { makeDatabase, type Owner, openWorld, waitForUpload } from '../../../test/world.ts';
import { zipOf } from '../../../test/zip.ts';
import { sql } from '../../db/sql.ts';
import { removeDeletedWiki } from '../../wikis/remove-deleted-wiki.job.ts';

const database = await makeDatabase();
const world = await openWorld({ DATABASE_URL: database, MAX_FILE_SIZE: '4MiB', MAX_MARKDOWN_SIZE: '256KiB' });
const owner = await world.owner('ada@example.com');

/** A wiki with a bit of everything: a tree, history, moves, drafts, attachments, front matter, odd texts. */
async function fullWiki(by: Owner = owner, title = 'Full'): Promise<string> {
  const wiki_id = await newWiki(by, title);
  const pages = `/v1/wikis/${wiki_id}/pages`;
  const made = async (body: object) => {
    const answer = await by.post(pages, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  await world.upload(by, wiki_id, {
    'docs/index.md': '# Docs\n',
    'docs/setup.md': '# Setup\n\nSee [docs](index.md).\n',
  });
  const guide = await made({ title: 'Guide', markdown: '# Guide\n\n[setup](docs/setup) [[Index]]\n' });
  const child = await made({ title: 'Child', markdown: 'x', parent_page_id: guide.page_id, status: 'draft' });
  await made({ title: 'Index', markdown: '---\ntitle: "Own"\n---\r\nno line end', parent_page_id: guide.page_id });
  await made({ title: 'Old', markdown: '\uFEFFtext\r\n\ttabs \u2028 and 日本語 😀\n\n\n', status: 'archived' });
  const gone = await made({ title: 'Gone', markdown: 'thrown away' });
  const form = new FormData();
  form.append('file', new Blob([PNG]), 'größe 1.png');
  const attached = await by.send('POST', `${pages}/${guide.page_id}/attachments`, { body: form });
  assert.equal(attached.status, 201, JSON.stringify(attached.body));
  const text = `![plan](attachment:${attached.body.attachment_id}) second [child](guide/child)\n`;
  await by.patch(`${pages}/${guide.page_id}`, { markdown: text, base_revision: 1 });
  await by.patch(`${pages}/${guide.page_id}`, { title: 'The Guide', base_revision: 2 });
  await by.patch(`${pages}/${child.page_id}`, { slug: 'moved', position: 0 });
  await by.send('DELETE', `${pages}/${gone.page_id}`);
  await by.patch(`/v1/wikis/${wiki_id}/settings`, { home_page_id: child.page_id });
  for (const names of [['kept', 'missing'], ['kept']]) {
    const folder = new FormData();
    for (const name of names) folder.append('files', new Blob([`# ${name}\n`]), `synced/${name}.md`);
    const { body } = await by.send('POST', `/v1/wikis/${wiki_id}/uploads?mode=sync`, { body: folder });
    await waitForUpload(by, wiki_id, body.upload_id);
  }
  return wiki_id;
}

function pathsOf(wiki_id: string): Promise<{ path: string; title: string }[]> {
  return world.db.query(
    sql`select path, title from pages where wiki_id = ${wiki_id} and trashed_at is null order by path`,
  );
}

/** The lists of an archive as objects, with every id replaced by the order in which it first comes. */
function withoutIds(files: ReadonlyMap<string, Buffer>): [string, string][] {
  const numbers = new Map<string, string>();
  const number = (id: string) => {
    const known = numbers.get(id) ?? `${id.replace(/_.*/, '')}#${numbers.size}`;
    numbers.set(id, known);
    return known;
  };
  return [...files].map(([name, bytes]) => {
    const text = bytes
      .toString('latin1')
      .replace(/"crc32":\d+/g, '"crc32":0')
      .replace(/(page|attachment|user|wiki)_[0-9a-z]{26}/g, number);
    return [name.replace(/(page|attachment)_[0-9a-z]{26}/g, number), text];
  });
}

test('an archive is imported into an empty wiki as the wiki that it was: its export is the same', async () => {
  const from = await fullWiki();
  const archive = await exported(world, owner, from);
  assert.deepEqual(archive, await exported(world, owner, from), 'the same state makes the same bytes');
  const to = await newWiki(owner, 'Full');
  const job = await imported(owner, to, archive);
  assert.equal(job.status, 'completed', JSON.stringify(job));
  const [before, after] = [await unzipped(archive), await unzipped(await exported(world, owner, to))];
  const manifest = JSON.parse(String(after.get('ibid.json')));
  assert.equal(manifest.wiki.wiki_id, to);
  const home = await owner.get(`/v1/wikis/${to}/pages/${manifest.wiki.home_page_id}`);
  assert.equal(home.body.path, 'guide/moved', 'it begins with the same page');
  const wiki = { ...JSON.parse(String(before.get('ibid.json'))).wiki, home_page_id: home.body.page_id };
  after.set('ibid.json', Buffer.from(`${JSON.stringify({ ...manifest, wiki }, null, 2)}\n`));
  assert.deepEqual(withoutIds(after), withoutIds(before));
  for (const { path } of await pathsOf(from)) {
    const [was, is] = await Promise.all([from, to].map((wiki) => owner.get(`/v1/wikis/${wiki}/pages/path/${path}`)));
    assert.equal(
      is?.body.html.replaceAll(/(attachment|wiki)_\w{26}/g, ''),
      was?.body.html.replaceAll(/(attachment|wiki)_\w{26}/g, ''),
      path,
    );
    assert.deepEqual(is?.body.outline, was?.body.outline);
    assert.deepEqual(
      [is?.body.created_at, is?.body.updated_at, is?.body.updated_by],
      [was?.body.created_at, was?.body.updated_at, was?.body.updated_by],
    );
  }
  const { body: hits } = await owner.get(`/v1/wikis/${to}/pages/search?query=second`);
  assert.equal(hits[0]?.path, 'guide', 'what was imported is found');
  const { body: waiting } = await owner.get(`/v1/wikis/${to}/pages/gone`);
  assert.deepEqual(
    waiting.map(({ path, filename }: Record<string, string>) => [path, filename]),
    [['synced/missing', 'synced/missing.md']],
    'a page whose file is gone waits for a decision here too',
  );
  const old = await owner.get(`/v1/wikis/${to}/pages/path/guide/child`);
  assert.equal(old.body.path, 'guide/moved', 'old paths lead to their pages');
  const { body: links } = await owner.get(`/v1/wikis/${to}/pages/${old.body.page_id}/backlinks`);
  assert.deepEqual(
    links.map(({ path }: { path: string }) => path),
    ['guide'],
  );
  const [, shown] = /src="([^"]+)"/.exec((await owner.get(`/v1/wikis/${to}/pages/path/guide`)).body.html) ?? [];
  const picture = await fetch(world.address + shown, { headers: { authorization: `Bearer ${owner.token}` } });
  assert.equal(
    createHash('sha256')
      .update(Buffer.from(await picture.arrayBuffer()))
      .digest('hex'),
    createHash('sha256').update(PNG).digest('hex'),
  );
});

test('a folder of notes that was never ours becomes a tree of pages, with links and pictures', async () => {
  const wiki_id = await newWiki(owner);
  const archive = await zipped([
    ['vault/.obsidian/app.json', '{}'],
    ['__MACOSX/vault/._Home.md', 'x'],
    [
      'vault/Home.md',
      '---\ntitle: Start here\n---\nSee [setup](guide/Set%20up.md#one), [[Set up]] and ![plan](img/plan.png).\n',
    ],
    ['vault/guide/README.md', '# The guide\n'],
    ['vault/guide/Set up.md', '# One\n\n[home](../Home.md) ![again](../img/plan.png) [pdf](../notes.pdf)\n'],
    ['vault/empty/deep/Leaf.md', '# Leaf\n'],
    ['vault/img/plan.png', PNG],
    ['vault/notes.pdf', '%PDF-1.4 x'],
    ['vault/unused.bin', randomBytes(10)],
  ]);
  const job = await imported(owner, wiki_id, archive);
  assert.equal(job.status, 'completed', JSON.stringify(job));
  const tree = await pathsOf(wiki_id);
  assert.deepEqual(
    tree.map(({ path, title }) => `${path}: ${title}`),
    [
      'empty: empty',
      'empty/deep: deep',
      'empty/deep/leaf: Leaf',
      'guide: The guide',
      'guide/set-up: One',
      'home: Start here',
    ],
  );
  const home = (await owner.get(`/v1/wikis/${wiki_id}/pages/path/home`)).body;
  const setup = (await owner.get(`/v1/wikis/${wiki_id}/pages/path/guide/set-up`)).body;
  const [, id] = /!\[plan\]\(attachment:(attachment_\w{26})\)/.exec(home.markdown) ?? [];
  assert.ok(id, home.markdown);
  assert.match(home.markdown, /\[setup\]\(guide\/set-up#one\), \[\[Set up\]\]/);
  assert.match(
    setup.markdown,
    new RegExp(`\\[home\\]\\(\\.\\./home\\) !\\[again\\]\\(attachment:${id}\\) \\[pdf\\]\\(attachment:`),
  );
  assert.match(home.html, new RegExp(`src="/v1/wikis/${wiki_id}/attachments/${id}"`));
  assert.equal((await owner.get(`/v1/wikis/${wiki_id}/attachments/${id}`)).headers.get('content-type'), 'image/png');
  assert.match(job.summary, /^6 new pages, 2 attachments\. 1 files that no page shows/);
  const again = await imported(owner, wiki_id, archive);
  assert.equal(again.status, 'completed', JSON.stringify(again));
  assert.equal(
    (await owner.get(`/v1/wikis/${wiki_id}/pages/path/home`)).body.page_id,
    home.page_id,
    'what is there stays',
  );
  assert.equal((await owner.get(`/v1/wikis/${wiki_id}/pages/path/home-2`)).status, 200);
});

test('names in an archive that say no encoding are read as those of uploads are', async () => {
  // "日本語.md" and "テスト.md" in Shift-JIS, without the flag of UTF-8.
  const names = ['\x93\xfa\x96\x7b\x8c\xea.md', '\x83\x65\x83\x58\x83\x67.md'].map((name) =>
    Buffer.from(name, 'latin1'),
  );
  const wiki = await newWiki(owner);
  const job = await imported(owner, wiki, zipOf(names.map((name) => [name, 'Text\n'])));
  assert.equal(job.status, 'completed', job.error_message);
  const { body: pages } = await owner.get(`/v1/wikis/${wiki}/pages`);
  assert.deepEqual(pages.map(({ title }: { title: string }) => title).sort(), ['テスト', '日本語']);
});

test('an archive of a wiki goes into no wiki that has pages, and what is there stays', async () => {
  const archive = await exported(world, owner, await fullWiki());
  const wiki_id = await newWiki(owner);
  const made = await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Mine', markdown: 'mine' });
  const refused = await send(owner, wiki_id, archive);
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.message, /empty/);
  // Repacked, its first file is another one: the job finds out.
  const files = [...(await unzipped(archive))].toReversed();
  const job = await imported(owner, wiki_id, await zipped(files));
  assert.equal(job.status, 'failed');
  assert.match(job.error, /^conflict: The wiki has pages already/);
  assert.deepEqual(await pathsOf(wiki_id), [{ path: 'mine', title: 'Mine' }]);
  await owner.send('DELETE', `/v1/wikis/${wiki_id}/pages/${made.body.page_id}`);
  assert.equal(
    (await imported(owner, wiki_id, await zipped(files))).status,
    'completed',
    'the order of its files is free',
  );
});

test('where the wiki of an archive is gone, its pages come back under their own ids, and its export is the same to the byte', async () => {
  const from = await fullWiki(owner, 'Phoenix');
  const archive = await exported(world, owner, from);
  assert.equal((await owner.send('DELETE', `/v1/wikis/${from}`)).status, 204);
  // As the worker does every minute.
  await runScheduled(world, removeDeletedWiki);
  assert.deepEqual(await world.db.query(sql`select 1 from wikis where wiki_id = ${from}`), []);
  const to = await newWiki(owner, 'Phoenix');
  assert.equal((await imported(owner, to, archive)).status, 'completed');
  const [before, after] = [await unzipped(archive), await unzipped(await exported(world, owner, to))];
  for (const [name, bytes] of before) if (name !== 'ibid.json') assert.deepEqual(after.get(name), bytes, name);
  assert.deepEqual([...after.keys()], [...before.keys()]);
});

test('a Markdown file that was changed in the archive is a new revision by who imports', async () => {
  const from = await newWiki(owner);
  await owner.post(`/v1/wikis/${from}/pages`, { title: 'One', markdown: 'first\n' });
  await owner.post(`/v1/wikis/${from}/pages`, { title: 'Two', markdown: 'same\n' });
  const files = await unzipped(await exported(world, owner, from));
  const text = String(files.get('pages/one.md'));
  files.set('pages/one.md', Buffer.from(text.replace('title: "One"', 'title: "Won"').replace(/first\n$/, 'second\n')));
  const to = await newWiki(owner);
  const job = await imported(owner, to, await zipped(files));
  assert.match(job.summary, /1 files were changed/);
  const page = (await owner.get(`/v1/wikis/${to}/pages/path/one`)).body;
  assert.deepEqual([page.markdown, page.title, page.revision], ['second\n', 'Won', 2]);
  const first = (await owner.get(`/v1/wikis/${to}/pages/${page.page_id}/revisions/1`)).body;
  assert.equal(first.markdown, 'first\n');
  assert.equal((await owner.get(`/v1/wikis/${to}/pages/path/two`)).body.revision, 1);
});

test('people of an archive are matched with members by address only, whatever ids it names', async () => {
  const grace = await world.owner('grace@example.com');
  const from = await newWiki(owner);
  await owner.post(`/v1/wikis/${from}/pages`, { title: 'By Ada', markdown: 'x' });
  const archive = await exported(world, owner, from);
  const to = await newWiki(grace);
  assert.equal((await imported(grace, to, archive)).status, 'completed');
  const page = (await grace.get(`/v1/wikis/${to}/pages/path/by-ada`)).body;
  assert.match(page.created_by, /^user_/);
  assert.notEqual(page.created_by, owner.user_id, 'who is no member here is not named as if they were');
  const people = String((await unzipped(await exported(world, grace, to))).get('people.jsonl'));
  assert.deepEqual(JSON.parse(people), { user_id: page.created_by, name: 'ada', email: 'ada@example.com' });
  assert.equal(
    (await owner.get(`/v1/wikis/${from}/pages/path/by-ada`)).status,
    200,
    'the wiki that it came from is untouched',
  );
});
