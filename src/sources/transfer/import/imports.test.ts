import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { exported, imported, newWiki, PNG, send, unzipped, zipped } from '../../../../test/archives.ts';
import { deleteForGood } from '../../../../test/jobs.ts';
import { signedInClient } from '../../../../test/signed-in.ts';
import { type Client, makeDatabase, type Owner, openWorld, waitForUpload } from '../../../../test/world.ts';
import { zipOf } from '../../../../test/zip.ts';
import { sql } from '../../../platform/db/sql.ts';

const database = await makeDatabase();
const world = await openWorld({ DATABASE_URL: database, MAX_FILE_SIZE: '4MiB', MAX_MARKDOWN_SIZE: '256KiB' });
const owner = await world.owner('ada@example.com');

/** A wiki that has everything: a tree, history, moves, drafts, attachments, front matter, unusual texts. */
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

/** The lists of an archive as objects, with ids replaced by the order of their first occurrence. */
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
      .replace(/"mac": "\w+"/, '"mac": ""')
      .replace(/(page|attachment|user|wiki)_[0-9a-z]{26}/g, number);
    return [name.replace(/(page|attachment)_[0-9a-z]{26}/g, number), text];
  });
}

test('importing an archive into an empty wiki reproduces the wiki, and its export is the same', async () => {
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

test('a folder of notes from elsewhere becomes a tree of pages, with links and pictures', async () => {
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
  assert.match(job.summary, /^6 new pages, 2 attachments\. 1 files that no page refers to/);
  const again = await imported(owner, wiki_id, archive);
  assert.equal(again.status, 'completed', JSON.stringify(again));
  assert.equal(
    (await owner.get(`/v1/wikis/${wiki_id}/pages/path/home`)).body.page_id,
    home.page_id,
    'what is there stays',
  );
  assert.equal((await owner.get(`/v1/wikis/${wiki_id}/pages/path/home-2`)).status, 200);
});

test('archive filenames without a declared encoding are decoded as in uploads', async () => {
  // "日本語.md" and "テスト.md" in Shift-JIS, without the UTF-8 flag.
  const names = ['\x93\xfa\x96\x7b\x8c\xea.md', '\x83\x65\x83\x58\x83\x67.md'].map((name) =>
    Buffer.from(name, 'latin1'),
  );
  const wiki = await newWiki(owner);
  const job = await imported(owner, wiki, zipOf(names.map((name) => [name, 'Text\n'])));
  assert.equal(job.status, 'completed', job.error_message);
  const { body: pages } = await owner.get(`/v1/wikis/${wiki}/pages`);
  assert.deepEqual(pages.map(({ title }: { title: string }) => title).sort(), ['テスト', '日本語']);
});

test('a wiki archive is refused by a wiki with pages, which stay unchanged', async () => {
  const archive = await exported(world, owner, await fullWiki());
  const wiki_id = await newWiki(owner);
  const made = await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Mine', markdown: 'mine' });
  const refused = await send(owner, wiki_id, archive);
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.message, /empty/);
  // A repacked archive starts with another file, so only the job detects the conflict.
  const files = [...(await unzipped(archive))].toReversed();
  const job = await imported(owner, wiki_id, await zipped(files));
  assert.equal(job.status, 'failed');
  assert.match(job.error, /^conflict: The wiki already has pages/);
  assert.deepEqual(await pathsOf(wiki_id), [{ path: 'mine', title: 'Mine' }]);
  await owner.send('DELETE', `/v1/wikis/${wiki_id}/pages/${made.body.page_id}`);
  assert.equal(
    (await imported(owner, wiki_id, await zipped(files))).status,
    'completed',
    'the order of its files is free',
  );
});

test('importing an archive of a deleted wiki restores its ids, and an export with the same bytes', async () => {
  const from = await fullWiki(owner, 'Phoenix');
  const archive = await exported(world, owner, from);
  await deleteForGood(world, owner, from);
  assert.deepEqual(await world.db.query(sql`select 1 from wikis where wiki_id = ${from}`), []);
  const to = await newWiki(owner, 'Phoenix');
  assert.equal((await imported(owner, to, archive)).status, 'completed');
  const [before, after] = [await unzipped(archive), await unzipped(await exported(world, owner, to))];
  const ofThisWiki = ['ibid.json', 'ibid-seal.json'];
  for (const [name, bytes] of before) if (!ofThisWiki.includes(name)) assert.deepEqual(after.get(name), bytes, name);
  assert.deepEqual([...after.keys()], [...before.keys()]);
});

test('a Markdown file edited in the archive becomes a new revision by the importing user', async () => {
  const from = await newWiki(owner);
  await owner.post(`/v1/wikis/${from}/pages`, { title: 'One', markdown: 'first\n' });
  await owner.post(`/v1/wikis/${from}/pages`, { title: 'Two', markdown: 'same\n' });
  const files = await unzipped(await exported(world, owner, from));
  const text = String(files.get('pages/one.md'));
  files.set('pages/one.md', Buffer.from(text.replace('title: "One"', 'title: "Won"').replace(/first\n$/, 'second\n')));
  const to = await newWiki(owner);
  const job = await imported(owner, to, await zipped(files));
  assert.match(job.summary, /1 files were edited/);
  const page = (await owner.get(`/v1/wikis/${to}/pages/path/one`)).body;
  assert.deepEqual([page.markdown, page.title, page.revision], ['second\n', 'Won', 2]);
  const first = (await owner.get(`/v1/wikis/${to}/pages/${page.page_id}/revisions/1`)).body;
  assert.equal(first.markdown, 'first\n');
  assert.equal((await owner.get(`/v1/wikis/${to}/pages/path/two`)).body.revision, 1);
});

test('authors of an own archive who are not members of the target workspace are kept as named people', async () => {
  const grace = await world.owner('grace@example.com');
  const from = await newWiki(owner);
  await owner.post(`/v1/wikis/${from}/pages`, { title: 'By Ada', markdown: 'x' });
  const archive = await exported(world, owner, from);
  const to = await newWiki(grace);
  assert.equal((await imported(grace, to, archive)).status, 'completed');
  const page = (await grace.get(`/v1/wikis/${to}/pages/path/by-ada`)).body;
  assert.match(page.created_by, /^user_/);
  assert.notEqual(page.created_by, owner.user_id, 'who is no member here is not named as if they were');
  const [revision] = (await grace.get(`/v1/wikis/${to}/pages/${page.page_id}/revisions`)).body;
  assert.deepEqual(revision.claim, {
    author_name: 'ada',
    created_at: page.created_at,
    origin: 'authored',
    imported_by_name: 'grace',
  });
  const people = String((await unzipped(await exported(world, grace, to))).get('people.jsonl'));
  assert.ok(
    people.includes(JSON.stringify({ user_id: page.created_by, name: 'ada', email: 'ada@example.com' })),
    people,
  );
  assert.equal(
    (await owner.get(`/v1/wikis/${from}/pages/path/by-ada`)).status,
    200,
    'the wiki that it came from is untouched',
  );
});

/** An archive by a member, forged to say that the owner approved something in 2024. */
async function forgedArchive(by: Client): Promise<Map<string, Buffer>> {
  const { body: wiki } = await by.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Mine' });
  await by.post(`/v1/wikis/${wiki.wiki_id}/pages`, { title: 'Budget', markdown: 'I approve the budget.\n' });
  const files = await unzipped(await exported(world, by, wiki.wiki_id));
  for (const name of ['people.jsonl', 'pages.jsonl', 'history.jsonl']) {
    const text = String(files.get(name))
      .replaceAll(by.user_id, owner.user_id)
      .replace(/"email":"[^"]*"/, '"email":"ada@example.com"')
      .replace(/"name":"[^"]*"/, '"name":"ada"')
      .replace(/"(created|updated)_at":"[^"]*"/g, '"$1_at":"2024-01-05T10:00:00.000Z"')
      .replaceAll('"authored"', '"compiled"');
    files.set(name, Buffer.from(text));
  }
  return files;
}

/** Returns the only page of a wiki as a reader sees it, with its current revision. */
async function onlyPage(wiki_id: string, count = 1) {
  const { body: page } = await owner.get(`/v1/wikis/${wiki_id}/pages/path/budget`);
  const { body: revisions } = await owner.get(`/v1/wikis/${wiki_id}/pages/${page.page_id}/revisions`);
  const { body: revision } = await owner.get(`/v1/wikis/${wiki_id}/pages/${page.page_id}/revisions/${page.revision}`);
  const { body: view } = await owner.get(`/v1/wikis/${wiki_id}/pages/view/budget`);
  assert.equal(revisions.length, count);
  assert.deepEqual(revision.claim, revisions.at(-1).claim);
  assert.deepEqual(view.surroundings.claim, revision.claim);
  return { page, revision };
}

for (const seal of ['the seal of the archive that it was made of', 'no seal']) {
  test(`an archive with ${seal} cannot attribute words to others: its authors and dates are claims`, async () => {
    const member = await world.member(owner.workspace_id, 'member');
    const files = await forgedArchive(member);
    if (seal === 'no seal') files.delete('ibid-seal.json');
    const archived = JSON.parse(String(files.get('pages.jsonl')));
    const { body: wiki } = await member.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Forged' });
    const job = await imported(member, wiki.wiki_id, await zipped(files));
    assert.equal(job.status, 'completed', JSON.stringify(job));
    assert.match(job.summary, /Authors and dates are shown as claims of the archive/);
    const { page, revision } = await onlyPage(wiki.wiki_id);
    for (const { created_by, created_at, origin } of [page, revision]) {
      assert.deepEqual([created_by, origin], [member.user_id, 'authored']);
      assert.notEqual(created_at.slice(0, 4), '2024');
    }
    assert.equal(page.updated_by, member.user_id);
    assert.notEqual(page.updated_at.slice(0, 4), '2024');
    assert.notEqual(page.page_id, archived.page_id, 'an id that the archive names may be that of another page');
    const { imported_by_name, ...said } = revision.claim;
    assert.deepEqual(said, { author_name: 'ada', created_at: '2024-01-05T10:00:00.000Z', origin: 'compiled' });
    assert.ok(imported_by_name);

    const open = await browserOf(owner.user_id);
    const root = `/${(await owner.get('/v1/overview')).body.session.organizations[0].slug}/${wiki.slug}`;
    const words = new RegExp(
      `Imported by <span dir="auto">${imported_by_name}</span>; the archive names <span dir="auto">ada</span>, <time datetime="2024-01-05`,
    );
    assert.match(await open(`${root}/budget`), words);
    assert.match(await open(`${root}/-/history/budget`), words);
    assert.match(await open(`${root}/-/history/budget?revision=1`), words);

    // An export of the imported wiki repeats these claims as claims.
    const to = await newWiki(owner);
    assert.equal((await imported(owner, to, await exported(world, owner, wiki.wiki_id))).status, 'completed');
    const again = await onlyPage(to);
    assert.deepEqual([again.page.created_by, again.revision.created_by], [member.user_id, member.user_id]);
    assert.deepEqual(again.revision.claim, revision.claim);
  });
}

test('a seal restores the authors of its own unmodified archive only', async () => {
  const member = await world.member(owner.workspace_id, 'member');
  const sealed = await unzipped(await exported(world, owner, await budgetBy(owner)));
  const other = await unzipped(await exported(world, owner, await budgetBy(owner)));
  const text = (name: string) => String(sealed.get(name));
  const changed: Record<string, [string, string]> = {
    'a person is added': [
      'people.jsonl',
      `${text('people.jsonl')}${JSON.stringify({ user_id: 'x', name: 'x', email: '' })}\n`,
    ],
    'a revision is removed': ['history.jsonl', text('history.jsonl').replace(/^.*\n/, '')],
    'an attachment is added': ['attachments.jsonl', '\n'],
    'its wiki has another name': ['ibid.json', text('ibid.json').replace('"title": "', '"title": "Our ')],
    'a page has another date': [
      'pages.jsonl',
      text('pages.jsonl').replaceAll(/"updated_at":"\d+/g, '"updated_at":"2024'),
    ],
    'the seal is that of another archive': ['ibid-seal.json', String(other.get('ibid-seal.json'))],
    'the seal names another key': ['ibid-seal.json', text('ibid-seal.json').replace(/"kid": "/, '"kid": "x')],
  };
  const authorsOf = async (files: Map<string, Buffer>) => {
    const { body: wiki } = await member.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Imported' });
    const { status } = await imported(member, wiki.wiki_id, await zipped(files));
    if (status === 'failed') return 'refused';
    const { page, revision } = await onlyPage(
      wiki.wiki_id,
      String(files.get('history.jsonl')).trim().split('\n').length,
    );
    assert.equal(page.created_by, revision.created_by);
    assert.equal(page.updated_by, page.created_by);
    return [page.created_by, revision.claim === undefined ? 'a fact' : 'a claim'].join(' ');
  };
  const [fact, claim] = [`${owner.user_id} a fact`, `${member.user_id} a claim`];
  assert.equal(await authorsOf(sealed), fact);
  assert.equal(
    await authorsOf(new Map([...sealed, ['more.jsonl', Buffer.from('{}\n')]])),
    fact,
    'what no list is has no effect',
  );
  for (const [what, [name, content]] of Object.entries(changed)) {
    assert.notEqual(content, text(name), what);
    const authors = await authorsOf(new Map([...sealed, [name, Buffer.from(content)]]));
    assert.ok(authors === claim || authors === 'refused', `${what}: ${authors}`);
  }
  await world.db.query(sql`insert into signing_keys (kid, secret) values ('newer', ${randomBytes(32)})`);
  assert.equal(await authorsOf(sealed), fact, 'a newer key leaves older seals valid');
  const newer = await unzipped(await exported(world, owner, await budgetBy(owner)));
  assert.match(String(newer.get('ibid-seal.json')), /"kid": "newer"/);
  assert.equal(await authorsOf(newer), fact);
  await world.db.query(sql`delete from signing_keys where kid = 'newer'`);
  assert.equal(await authorsOf(newer), claim, 'what a withdrawn key has signed proves nothing');
});

async function budgetBy(by: Owner): Promise<string> {
  const wiki_id = await newWiki(by, 'Ours');
  const { body } = await by.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Budget', markdown: 'I approve' });
  await by.patch(`/v1/wikis/${wiki_id}/pages/${body.page_id}`, { markdown: 'I approve the budget.', base_revision: 1 });
  return wiki_id;
}

async function browserOf(user_id: string): Promise<(path: string) => Promise<string>> {
  const { body: session } = await (await signedInClient(world, user_id)).post('/v1/auth/browser');
  const cookie = `ibid=${session.browser_secret}`;
  return async (path) => {
    const { status, body } = await world.anonymous.send('GET', path, { headers: { accept: 'text/html', cookie } });
    assert.equal(status, 200, path);
    return body;
  };
}
