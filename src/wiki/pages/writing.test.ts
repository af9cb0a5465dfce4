import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScheduled } from '../../../test/jobs.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import type { Client, Owner } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';
import { purgeTrash } from './trash/purge-trash.job.ts';

const world = await sharedWorld();
const owner = await world.owner();

/** Creates a wiki for a test, with functions that act on its pages. */
async function newWiki(by: Owner = owner) {
  const { body } = await by.post(`/v1/workspaces/${by.workspace_id}/wikis`, { title: 'A wiki' });
  const wiki_id: string = body.wiki_id;
  const pages = `/v1/wikis/${wiki_id}/pages`;
  return {
    wiki_id,
    pages,
    async create(title: string, more: Record<string, unknown> = {}) {
      const answer = await by.post(pages, { title, markdown: `About ${title}.\n`, ...more });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body;
    },
    read: (page_id: string) => by.get(`${pages}/${page_id}`),
    at: (path: string, accept?: string) => by.get(`${pages}/path/${path}`, accept ? { accept } : undefined),
    edit: (page_id: string, change: Record<string, unknown>) => by.patch(`${pages}/${page_id}`, change),
    trash: (page_id: string) => by.send('DELETE', `${pages}/${page_id}`),
    restore: (page_id: string) => by.post(`${pages}/${page_id}/restore`),
    tree: async () => (await by.get(`/v1/wikis/${wiki_id}/tree`)).body as { page_id: string; slug: string }[],
  };
}

test('a page is stored exactly as written, and is found by its words in the next request', async () => {
  const wiki = await newWiki();
  const markdown = '\ufeff# Hello\r\n\r\nwörld \t \r\n<b>ok</b>\u2028 zebrafish 😀';
  const made = await wiki.create('  Hello there ', { markdown });
  assert.deepEqual(
    [made.title, made.slug, made.path, made.revision, made.origin, made.status, made.parent_page_id],
    ['Hello there', 'hello-there', 'hello-there', 1, 'authored', 'published', ''],
  );
  assert.equal(made.markdown, markdown);
  assert.deepEqual((await wiki.read(made.page_id)).body, made);
  const hits = async (word: string) => (await owner.get(`${wiki.pages}/search?query=${word}`)).body.length;
  assert.equal(await hits('zebrafish'), 1);
  const edited = await wiki.edit(made.page_id, { markdown: 'Now about quaggas.', base_revision: 1 });
  assert.deepEqual([edited.status, edited.body.revision], [200, 2]);
  assert.deepEqual([await hits('zebrafish'), await hits('quaggas')], [0, 1]);
});

test('of two edits of the same revision, the second answers a conflict and overwrites nothing', async () => {
  const wiki = await newWiki();
  const { page_id } = await wiki.create('Contested');
  const first = await wiki.edit(page_id, { markdown: 'first', base_revision: 1 });
  assert.equal(first.status, 200);
  const second = await wiki.edit(page_id, { markdown: 'second', base_revision: 1 });
  assert.deepEqual([second.status, second.body.error], [409, 'edit_conflict']);
  assert.deepEqual(Object.keys(second.body).sort(), ['error', 'message', 'request_id']);
  assert.match(second.body.message, /revision 2.*revision 1.*base_revision 2/s);
  const ahead = await wiki.edit(page_id, { title: 'Never', base_revision: 7 });
  assert.equal(ahead.body.error, 'edit_conflict');
  assert.equal((await wiki.read(page_id)).body.markdown, 'first');
});

test('a new text or title must name its revision, by base_revision or by the ETag of a read', async () => {
  const wiki = await newWiki();
  const { page_id } = await wiki.create('Tagged');
  for (const change of [{ markdown: 'x' }, { title: 'x' }]) {
    const answer = await wiki.edit(page_id, change);
    assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request']);
  }
  const patch = (etag: string, markdown: string) =>
    owner.send('PATCH', `${wiki.pages}/${page_id}`, {
      headers: { 'content-type': 'application/json', 'if-match': etag },
      body: JSON.stringify({ markdown }),
    });
  const etag = (await wiki.read(page_id)).headers.get('etag') ?? '';
  assert.equal((await patch('*', 'x')).status, 400);
  assert.equal((await patch(etag, 'by its tag')).body.revision, 2);
  assert.equal((await patch(etag, 'too late')).body.error, 'edit_conflict');
});

test('an update without changes makes no revision', async () => {
  const wiki = await newWiki();
  const { page_id, markdown, title, updated_at } = await wiki.create('Same');
  for (const change of [{ markdown, title, base_revision: 1 }, { slug: 'same' }, { status: 'published' }, {}]) {
    const { status, body } = await wiki.edit(page_id, change);
    assert.deepEqual([status, body.revision, body.updated_at], [200, 1, updated_at], JSON.stringify(change));
  }
});

test('a reader with the current answer gets 304, and a new one after every visible change', async () => {
  const wiki = await newWiki();
  const { page_id } = await wiki.create('Known');
  for (const path of [`${wiki.pages}/${page_id}`, `${wiki.pages}/path/known`, `/v1/wikis/${wiki.wiki_id}/tree`]) {
    const etag = (await owner.get(path)).headers.get('etag') ?? '';
    assert.match(etag, /^"[\w-]+"$/);
    const again = await owner.get(path, { 'if-none-match': `"other", W/${etag}` });
    assert.deepEqual([again.status, again.body], [304, '']);
    await wiki.edit(page_id, { status: path.includes('tree') ? 'archived' : 'published', position: 4 });
    await wiki.edit(page_id, { slug: 'known-too' });
    assert.equal((await owner.get(path, { 'if-none-match': etag })).status, 200);
    await wiki.edit(page_id, { slug: 'known', status: 'published', position: 0 });
  }
});

test('a page moves with all pages below it, and every old path leads to it', async () => {
  const wiki = await newWiki();
  const guide = await wiki.create('Guide');
  const setup = await wiki.create('Setup', { parent_page_id: guide.page_id });
  const linux = await wiki.create('Linux', { parent_page_id: setup.page_id });
  const manual = await wiki.create('Manual');
  const moved = await wiki.edit(setup.page_id, { parent_page_id: manual.page_id, slug: 'install' });
  assert.deepEqual([moved.status, moved.body.path, moved.body.revision], [200, 'manual/install', 1]);
  assert.equal((await wiki.read(linux.page_id)).body.path, 'manual/install/linux');
  const old = await wiki.at('guide/setup/linux');
  assert.deepEqual([old.status, old.body.page_id, old.body.path], [200, linux.page_id, 'manual/install/linux']);
  const browser = await owner.send('GET', `${wiki.pages}/path/guide/setup/linux`, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  });
  assert.equal(browser.status, 308);
  assert.equal(browser.headers.get('location'), `${wiki.pages}/path/manual/install/linux`);
  const other = await wiki.create('Setup', { parent_page_id: guide.page_id });
  assert.equal((await wiki.at('guide/setup')).body.page_id, other.page_id, 'an existing page wins');
  const children = (await owner.get(`${wiki.pages}/${manual.page_id}/children`)).body;
  assert.deepEqual(
    children.map((page: { path: string }) => page.path),
    ['manual/install'],
  );
});

test('a page cannot be moved below itself, below a page of another wiki, to a taken path or to an overlong path', async () => {
  const wiki = await newWiki();
  const elsewhere = await newWiki(await world.owner());
  const foreign = await elsewhere.create('Foreign');
  const top = await wiki.create('Top');
  const child = await wiki.create('Child', { parent_page_id: top.page_id });
  const other = await wiki.create('Other');
  const refusals: [Record<string, unknown>, number, string][] = [
    [{ parent_page_id: top.page_id }, 409, 'conflict'],
    [{ parent_page_id: child.page_id }, 409, 'conflict'],
    [{ parent_page_id: foreign.page_id }, 400, 'invalid_request'],
    [{ parent_page_id: 'page_nothing' }, 400, 'invalid_request'],
    [{ slug: 'other' }, 409, 'slug_taken'],
    [{ slug: 'Not A Slug' }, 400, 'invalid_slug'],
  ];
  for (const [change, status, error] of refusals) {
    const answer = await wiki.edit(top.page_id, change);
    assert.deepEqual([answer.status, answer.body.error], [status, error], JSON.stringify(change));
  }
  const strayed = await owner.patch(`${wiki.pages}/${foreign.page_id}`, { status: 'archived' });
  assert.equal(strayed.status, 404);
  let parent_page_id = other.page_id;
  let last = 201;
  for (let depth = 0; last === 201 && depth < 40; depth += 1) {
    const answer = await owner.post(wiki.pages, {
      title: 'x',
      markdown: '',
      slug: 'x'.repeat(48),
      parent_page_id,
    });
    last = answer.status;
    if (last === 201) parent_page_id = answer.body.page_id;
    else assert.equal(answer.body.error, 'invalid_request');
  }
  assert.equal(last, 400, 'the depth of the tree is limited');
  const wider = await wiki.edit(other.page_id, { slug: 'other-and-a-much-longer-slug-than-it-had-before' });
  assert.equal(wider.body.error, 'invalid_request', 'a move cannot exceed the limit either');
});

test('links survive a move of their page, and writing back a text as read makes no revision', async () => {
  const wiki = await newWiki();
  const target = await wiki.create('Target');
  const markdown =
    'See [it](target#part "T"), [again][t], <a href="target">so</a> and `[code](target)`.\n\n[t]: <target?x>\n';
  const from = await wiki.create('From', { markdown });
  const folder = await wiki.create('Folder');
  await wiki.edit(target.page_id, { parent_page_id: folder.page_id, slug: 'goal' });
  const { body } = await wiki.read(from.page_id);
  assert.equal(
    body.markdown,
    'See [it](folder/goal#part "T"), [again][t], <a href="target">so</a> and `[code](target)`.\n\n[t]: <folder/goal?x>\n',
  );
  assert.equal(body.html.match(/href="folder\/goal/g)?.length, 3);
  assert.match(body.html, /<code>\[code\]\(target\)<\/code>/);
  const back = await wiki.edit(from.page_id, { markdown: body.markdown, base_revision: 1 });
  assert.equal(back.body.revision, 1);
  await wiki.edit(from.page_id, { parent_page_id: folder.page_id });
  const inside = (await wiki.read(from.page_id)).body;
  assert.match(inside.markdown, /\[it\]\(goal#part/);
  const changed = await wiki.edit(from.page_id, { markdown: `${inside.markdown}More.\n`, base_revision: 1 });
  assert.deepEqual([changed.body.revision, changed.body.markdown], [2, `${inside.markdown}More.\n`]);
});

test('a link to a missing page leads to the page once it is created, and follows it', async () => {
  const wiki = await newWiki();
  const from = await wiki.create('From', { markdown: '[wanted](wanted) and [[Named]]\n' });
  const wanted = await wiki.create('Wanted');
  await wiki.edit(wanted.page_id, { slug: 'found' });
  assert.match((await wiki.read(from.page_id)).body.markdown, /\[wanted\]\(found\)/);
  await wiki.create('Named', { slug: 'a-name' });
  const { body } = await wiki.edit(from.page_id, { markdown: '[[Named]]', base_revision: 1 });
  assert.match(body.html, /href="a-name"/);
});

test('a pending wiki link leads to the page that it means as soon as there is one, however it came about', async () => {
  const wiki = await newWiki();
  const markdown = '[[Set up#Über uns]], [[Guide/Tools]], [[“A” & <b>]], [[École]], [[Uploaded]]\n';
  const { page_id, html } = await wiki.create('Start', { markdown });
  assert.match(html, /^<p><a class="wiki missing" data-target="Set up" data-fragment="#h-%C3%BCber-uns">Set up#/);
  const shown = async () => {
    const { body } = await wiki.read(page_id);
    assert.equal(body.markdown, markdown);
    return [...body.html.matchAll(/<a class="wiki" href="([^"]*)">/g)].map(([, href]) => href);
  };
  assert.deepEqual(await shown(), []);
  const setUp = await wiki.create('set UP', { slug: 'installation' });
  assert.deepEqual(await shown(), ['installation#h-%C3%BCber-uns']);
  const guide = await wiki.create('Guide');
  const tools = await wiki.create('Gear', { slug: 'gear', parent_page_id: guide.page_id });
  assert.equal((await wiki.edit(tools.page_id, { slug: 'tools' })).status, 200);
  assert.deepEqual(await shown(), ['installation#h-%C3%BCber-uns', 'guide/tools']);
  await wiki.edit(setUp.page_id, { parent_page_id: guide.page_id });
  assert.deepEqual(
    await shown(),
    ['guide/installation#h-%C3%BCber-uns', 'guide/tools'],
    'the link keeps following its page',
  );
  const other = await wiki.create('Anything', { slug: 'other' });
  assert.equal((await wiki.edit(other.page_id, { title: '“a” & <B>', base_revision: 1 })).status, 200);
  const school = await wiki.create('ÉCOLE', { slug: 'school' });
  await world.upload(owner, wiki.wiki_id, { 'uploaded.md': '# Uploaded\n\n[[Start]] and [[Not yet]]' });
  const all = ['guide/installation#h-%C3%BCber-uns', 'guide/tools', 'other', 'school', 'uploaded'];
  assert.deepEqual(await shown(), all);
  await wiki.trash(school.page_id);
  assert.deepEqual(await shown(), all.toSpliced(3, 1), 'a page in the trash is missing');
  await wiki.restore(school.page_id);
  assert.deepEqual(await shown(), all);
  const backlinks = (await owner.get(`${wiki.pages}/${tools.page_id}/backlinks`)).body;
  assert.deepEqual(
    backlinks.map((page: { page_id: string }) => page.page_id),
    [page_id],
  );
  await wiki.create('Not yet');
  const uploaded = (await wiki.at('uploaded')).body.html;
  assert.match(uploaded, /<a class="wiki" href="start">Start<\/a> and <a class="wiki" href="not-yet">Not yet<\/a>/);
});

test('a wiki link survives a rename of its page and an edit of the text', async () => {
  const wiki = await newWiki();
  const folder = await wiki.create('Plans');
  const target = await wiki.create('Launch', { parent_page_id: folder.page_id });
  const from = await wiki.create('Start', { markdown: '[[Launch]] and [[Plans]]' });
  await wiki.edit(target.page_id, { title: '🚀 Launch', base_revision: 1 });
  const link = '<a class="wiki" href="plans/launch">Launch</a>';
  const preview = { markdown: '[[launch]]: soon', page_path: from.path };
  assert.match(
    (await owner.post(`/v1/wikis/${wiki.wiki_id}/preview`, preview)).body.html,
    /href="plans\/launch">launch</,
  );
  for (const [i, markdown] of ['[[Launch]]: soon', '[[Launch]]: now'].entries()) {
    const { body } = await wiki.edit(from.page_id, { markdown, base_revision: i + 1 });
    assert.ok(body.html.includes(link), body.html);
  }
  const backlinks = (await owner.get(`${wiki.pages}/${target.page_id}/backlinks`)).body;
  assert.deepEqual(
    backlinks.map(({ path }: { path: string }) => path),
    [from.path],
  );
  // From now on the link means another page with the same title, but never a page in the trash.
  const other = await wiki.create('Launch');
  const edited = async (markdown: string, base_revision: number) =>
    (await wiki.edit(from.page_id, { markdown, base_revision })).body.html;
  assert.match(await edited('[[Launch]]!', 3), /href="launch"/);
  await owner.send('DELETE', `${wiki.pages}/${other.page_id}`);
  await owner.send('DELETE', `${wiki.pages}/${target.page_id}`);
  assert.match(await edited('[[Launch]]?', 4), /wiki missing/);
});

test('a deleted page is hidden from everybody with all pages below it, and is restored with them', async () => {
  const wiki = await newWiki();
  const top = await wiki.create('Top');
  const kept = await wiki.create('Kept', { parent_page_id: top.page_id });
  const early = await wiki.create('Early', { parent_page_id: top.page_id });
  assert.equal((await wiki.trash(early.page_id)).status, 204);
  assert.equal((await wiki.trash(top.page_id)).status, 204);
  assert.equal((await wiki.trash(top.page_id)).status, 404);
  for (const page of [top, kept, early]) assert.equal((await wiki.read(page.page_id)).status, 404);
  assert.equal((await wiki.at('top/kept')).status, 404);
  assert.deepEqual((await owner.get(`${wiki.pages}/search?query=kept`)).body, []);
  assert.deepEqual([(await owner.get(wiki.pages)).body, await wiki.tree()], [[], []]);
  assert.equal((await wiki.edit(kept.page_id, { markdown: 'x', base_revision: 1 })).status, 404);
  assert.equal((await owner.post(wiki.pages, { title: 'x', markdown: '', parent_page_id: top.page_id })).status, 400);
  const { body: trash } = await owner.get(`/v1/wikis/${wiki.wiki_id}/trash`);
  assert.deepEqual(
    trash.map((page: { path: string; page_count: number }) => [page.path, page.page_count]),
    [
      ['top', 2],
      ['top/early', 1],
    ],
  );
  const usurper = await wiki.create('Top');
  assert.equal(usurper.path, 'top');
  const back = await wiki.restore(top.page_id);
  assert.deepEqual([back.status, back.body.path], [200, 'top-2']);
  assert.equal((await wiki.read(kept.page_id)).body.path, 'top-2/kept');
  assert.equal((await wiki.read(early.page_id)).status, 404, 'a page that was deleted earlier stays in the trash');
  assert.equal((await wiki.restore(top.page_id)).body.error, 'conflict');
  assert.equal((await wiki.restore(early.page_id)).body.path, 'top-2/early');
});

test('a viewer sees no drafts and no trash, and cannot change anything', async () => {
  const wiki = await newWiki();
  const draft = await wiki.create('Draft', { status: 'draft', markdown: 'secretword' });
  const open = await wiki.create('Open');
  const archived = await wiki.create('Archived', { status: 'archived', markdown: 'dustyword' });
  const viewer: Client = await world.member(owner.workspace_id, 'viewer');
  const member: Client = await world.member(owner.workspace_id, 'member');
  const wiki_path = `/v1/wikis/${wiki.wiki_id}`;
  const paths = async (client: Client, path: string) =>
    (await client.get(path)).body.map(({ slug }: { slug: string }) => slug);
  assert.deepEqual(await paths(viewer, wiki.pages), ['open']);
  assert.deepEqual(await paths(member, wiki.pages), ['draft', 'open']);
  assert.deepEqual(await paths(viewer, `${wiki.pages}?status=archived`), ['archived']);
  assert.deepEqual(await paths(viewer, `${wiki.pages}?status=draft`), []);
  assert.deepEqual(await paths(viewer, `${wiki_path}/tree`), ['open', 'archived']);
  assert.deepEqual(await paths(member, `${wiki_path}/tree`), ['draft', 'open', 'archived']);
  assert.deepEqual(await paths(viewer, `${wiki.pages}/search?query=secretword`), []);
  assert.deepEqual(await paths(member, `${wiki.pages}/search?query=secretword`), ['draft']);
  assert.deepEqual(await paths(member, `${wiki.pages}/search?query=dustyword`), []);
  assert.equal((await viewer.get(`${wiki.pages}/${draft.page_id}`)).status, 404);
  assert.equal((await viewer.get(`${wiki.pages}/path/draft`)).status, 404);
  assert.equal((await viewer.get(`${wiki.pages}/${archived.page_id}`)).status, 200);
  for (const refused of [
    await viewer.post(wiki.pages, { title: 'x', markdown: '' }),
    await viewer.patch(`${wiki.pages}/${open.page_id}`, { status: 'draft' }),
    await viewer.send('DELETE', `${wiki.pages}/${open.page_id}`),
    await viewer.get(`${wiki_path}/trash`),
  ]) {
    assert.equal(refused.status, 403);
  }
});

test('a page may have exactly 1.5 MiB in any encoding of its characters; hostile text is shown as plain text', async () => {
  const wiki = await newWiki();
  const limit = 1.5 * 2 ** 20;
  const cyrillic = 'я'.repeat(limit / 2 - 1);
  const escaped = `{"title":"Long","markdown":"${cyrillic.replaceAll('я', '\\u044f')}"}`;
  const headers = { 'content-type': 'application/json' };
  const made = await owner.send('POST', wiki.pages, { headers, body: escaped });
  assert.equal(made.status, 201);
  assert.equal(made.body.markdown.length, cyrillic.length);
  const more = await owner.post(wiki.pages, { title: 'Longer', markdown: 'x'.repeat(limit + 1) });
  assert.deepEqual([more.status, more.body.error], [413, 'payload_too_large']);
  assert.equal((await owner.post(wiki.pages, { title: 'NUL', markdown: 'a\0b' })).status, 400);
  const hostile = '>'.repeat(100_000);
  const shown = await wiki.create('Hostile', { markdown: hostile });
  assert.deepEqual([shown.markdown, shown.html], [hostile, `<pre>\n${hostile}</pre>`]);
});

test('a page takes the requested position among its siblings', async () => {
  const wiki = await newWiki();
  const [a, b, c] = [await wiki.create('A'), await wiki.create('B'), await wiki.create('C')];
  const order = async () => (await wiki.tree()).map(({ slug }) => slug).join('');
  assert.equal(await order(), 'abc');
  await wiki.edit(c.page_id, { position: 0 });
  assert.equal(await order(), 'cab');
  await wiki.edit(c.page_id, { position: b.position + 2 });
  assert.equal(await order(), 'abc');
  await wiki.edit(b.page_id, { parent_page_id: c.page_id });
  await wiki.edit(a.page_id, { parent_page_id: c.page_id, position: 0 });
  const children = (await owner.get(`${wiki.pages}/${c.page_id}/children`)).body;
  assert.deepEqual(
    children.map((page: { slug: string }) => page.slug),
    ['a', 'b'],
  );
});

test('an upload leaves alone the edits, moves, deletions and pages that users made since the previous one', async () => {
  const { pages, wiki_id, ...wiki } = await newWiki();
  const upload = (text: string) =>
    world.upload(owner, wiki_id, {
      'notes/edited.md': `# Edited\n\n${text}\n`,
      'notes/gone.md': `# Gone\n\n${text}\n`,
    });
  await upload('one');
  const edited = (await wiki.at('notes/edited')).body;
  const gone = (await wiki.at('notes/gone')).body;
  await wiki.edit(edited.page_id, { markdown: 'By hand.', base_revision: 1 });
  await wiki.edit(edited.page_id, { slug: 'renamed' });
  await wiki.trash(gone.page_id);
  await wiki.create('Gone', { parent_page_id: edited.parent_page_id });
  const { body } = await upload('two');
  assert.match(body.summary, /1 new page, 1 page left unchanged because of manual edits/);
  const kept = (await wiki.read(edited.page_id)).body;
  assert.deepEqual([kept.markdown, kept.revision, kept.stale, kept.path], ['By hand.', 2, true, 'notes/renamed']);
  assert.equal((await wiki.read(gone.page_id)).status, 404);
  assert.equal((await wiki.at('notes/gone')).body.origin, 'authored');
  assert.equal((await wiki.at('notes/gone-2')).body.markdown, '# Gone\n\ntwo\n');
  const current = await wiki.edit(edited.page_id, { markdown: 'With what is new.', base_revision: 2 });
  assert.equal(current.body.stale, false);
  assert.match(
    (await upload('one')).body.summary,
    /1 page left unchanged/,
    'the file lacks the text that people rewrote',
  );
});

test('the trash purges pages after 30 days by the clock of the database', async () => {
  const wiki = await newWiki();
  const [old, young] = [await wiki.create('Old'), await wiki.create('Young')];
  const child = await wiki.create('Child', { parent_page_id: old.page_id });
  for (const page of [old, young]) await wiki.trash(page.page_id);
  await world.db.query(sql`
    update pages set trashed_at = trashed_at - interval '30 days 1 second' where trashed_with = ${old.page_id}`);
  const left = () =>
    world.db.query<{ page_id: string }>(sql`select page_id from pages where wiki_id = ${wiki.wiki_id}`);
  await runScheduled(world, purgeTrash);
  assert.deepEqual(await left(), [{ page_id: young.page_id }]);
  assert.equal((await wiki.restore(child.page_id)).status, 404);
  assert.equal((await wiki.restore(young.page_id)).status, 200);
});
