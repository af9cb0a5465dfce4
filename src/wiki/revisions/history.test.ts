import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exported, unzipped } from '../../../test/archives.ts';
import { runScheduled } from '../../../test/jobs.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';
import { packRevisions } from './pack-revisions.job.ts';

const world = await openWorld();
const owner = await world.owner();
const pages = `/v1/wikis/${owner.wiki_id}/pages`;

/** Uploads the texts under one file name, so that each becomes a revision of the same page, and returns the page. */
async function pageOf(name: string, texts: string[]) {
  for (const text of texts) await world.upload(owner, owner.wiki_id, { [`${name}.md`]: text });
  return (await owner.get(`${pages}/path/${name}`)).body;
}

async function setStatus(page_id: string, status: string): Promise<void> {
  await world.db.query(sql`update pages set status = ${status} where page_id = ${page_id}`);
}

test('every revision of a page is listed by its number and can still be read after the page changed', async () => {
  const { page_id } = await pageOf('states', ['# One\n\nFirst.\n', '# Two\n\nSecond.\n', '# Three\n\nThird.\n']);
  const { status, body } = await owner.get(`${pages}/${page_id}/revisions`);
  assert.equal(status, 200);
  assert.deepEqual(
    body.map(({ revision, title }: { revision: number; title: string }) => [revision, title]),
    [
      [1, 'One'],
      [2, 'Two'],
      [3, 'Three'],
    ],
  );
  for (const entry of body) {
    assert.deepEqual(Object.keys(entry), [
      'page_id',
      'wiki_id',
      'revision',
      'title',
      'origin',
      'created_at',
      'created_by',
      'created_by_name',
    ]);
    assert.equal(entry.created_by, owner.user_id);
  }
  const first = await owner.get(`${pages}/${page_id}/revisions/1`);
  assert.deepEqual(first.body, {
    ...body[0],
    markdown: '# One\n\nFirst.\n',
    html: '<h1 id="h-one">One</h1>\n<p>First.</p>',
    outline: [{ level: 1, text: 'One', anchor: 'h-one' }],
  });
  const some = await owner.get(`${pages}/${page_id}/revisions?limit=1&offset=1`);
  assert.deepEqual(some.body, [body[1]]);
  assert.match(some.headers.get('link') ?? '', /offset=2/);
  assert.deepEqual((await owner.get(`${pages}/${page_id}/revisions?offset=3`)).body, []);
});

test('a revision number in a non-canonical spelling, or of a missing revision, answers 404', async () => {
  const { page_id } = await pageOf('numbers', ['# One\n']);
  for (const number of ['0', '2', '01', '+1', '1.0', '1e0', '-1', 'x', '%20', '99999999999999999999', '1%00']) {
    const answer = await owner.get(`${pages}/${page_id}/revisions/${number}`);
    assert.equal(answer.status, number === '1%00' ? 400 : 404, number);
    if (number === '1%00') continue;
    assert.equal((await owner.get(`${pages}/${page_id}/revisions/1/diff/${number}`)).status, 404, number);
    assert.equal((await owner.get(`${pages}/${page_id}/revisions/${number}/diff/1`)).status, 404, number);
  }
});

test('two revisions are compared by line and by word, in either direction', async () => {
  const text = '# Title\n\nThe quick fox.\n\nStays.\n';
  const { page_id } = await pageOf('compared', [text, text.replace('quick', 'slow')]);
  const { status, body } = await owner.get(`${pages}/${page_id}/revisions/1/diff/2`);
  assert.equal(status, 200);
  const { hunks, ...counts } = body;
  assert.deepEqual(counts, {
    page_id,
    wiki_id: owner.wiki_id,
    from_revision: 1,
    to_revision: 2,
    from_title: 'Title',
    to_title: 'Title',
    added: 1,
    removed: 1,
    coarse: false,
    truncated: false,
  });
  assert.equal(hunks.length, 1);
  const [removed, added] = hunks[0].lines.filter(({ kind }: { kind: string }) => kind !== 'context');
  assert.deepEqual(removed.segments[1], { kind: 'removed', text: 'quick' });
  assert.deepEqual(added.segments[1], { kind: 'added', text: 'slow' });
  const back = await owner.get(`${pages}/${page_id}/revisions/2/diff/1`);
  assert.equal(back.body.hunks[0].lines.find(({ kind }: { kind: string }) => kind === 'added').text, 'The quick fox.');
  const same = await owner.get(`${pages}/${page_id}/revisions/2/diff/2`);
  assert.deepEqual([same.body.added, same.body.removed, same.body.hunks], [0, 0, []]);
});

test('restoring an old revision adds a new one and leaves the history unchanged', async () => {
  const { page_id } = await pageOf('back', ['# One\n\nSee [it](states).\n', '# Two\n']);
  const at = `${pages}/${page_id}`;
  const before = (await owner.get(`${at}/revisions/1`)).body;
  const stale = await owner.post(`${at}/revisions/1/restore`, { base_revision: 1 });
  assert.deepEqual([stale.status, stale.body.error], [409, 'edit_conflict']);
  const restored = await owner.post(`${at}/revisions/1/restore`, { base_revision: 2 });
  assert.equal(restored.status, 200, restored.body.message);
  assert.equal(restored.body.revision, 3);
  assert.equal(restored.body.title, 'One');
  assert.deepEqual((await owner.get(at)).body, restored.body);
  const third = (await owner.get(`${at}/revisions/3`)).body;
  for (const field of ['title', 'markdown', 'html', 'outline']) assert.deepEqual(third[field], before[field], field);
  assert.deepEqual((await owner.get(`${at}/revisions/1`)).body, before);
  assert.equal((await owner.get(`${at}/revisions/2`)).body.title, 'Two');
  assert.equal(
    (await owner.get(`${pages}/search?query=One`)).body.some((hit: { page_id: string }) => hit.page_id === page_id),
    true,
  );
  const again = await owner.post(`${at}/revisions/3/restore`, {});
  assert.equal(again.body.revision, 3, 'a restore without a change creates no revision');
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.equal((await viewer.post(`${at}/revisions/1/restore`, {})).status, 403);
});

test('links of a restored text lead to the same pages after a move', async () => {
  const make = async (title: string, markdown: string, parent_page_id = '') =>
    (await owner.post(pages, { title, markdown, parent_page_id, slug: title })).body;
  const folder = await make('mv', 'Folder.');
  const target = await make('mv-target', 'Target.', folder.page_id);
  const page = await make('mv-page', 'See [it](mv-target).', folder.page_id);
  const at = `${pages}/${page.page_id}`;
  await owner.patch(at, { markdown: 'Nothing.', base_revision: 1 });
  assert.equal((await owner.patch(at, { parent_page_id: '' })).status, 200);
  const restored = await owner.post(`${at}/revisions/1/restore`, {});
  assert.equal(restored.body.markdown, 'See [it](mv/mv-target).');
  const backlinks = await owner.get(`${pages}/${target.page_id}/backlinks`);
  assert.deepEqual(
    backlinks.body.map(({ page_id }: { page_id: string }) => page_id),
    [page.page_id],
  );
});

test('the history of a draft is visible only to members who may write', async () => {
  const { page_id } = await pageOf('draft', ['# One\n', '# Two\n']);
  await setStatus(page_id, 'draft');
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const member = await world.member(owner.workspace_id, 'member');
  for (const path of ['revisions', 'revisions/1', 'revisions/1/diff/2', 'backlinks']) {
    assert.equal((await member.get(`${pages}/${page_id}/${path}`)).status, 200, path);
    assert.equal((await viewer.get(`${pages}/${page_id}/${path}`)).status, 404, path);
  }
});

test('backlinks are listed by page id, and a draft among them is visible only to members who may write', async () => {
  await world.upload(owner, owner.wiki_id, {
    'links/target.md': '# Target\n',
    'links/a.md': 'See [it](target.md), and [again](target.md#x).\n',
    'links/b.md': 'See [it](./target.md).\n',
    'links/c.md': 'Nothing here.\n',
  });
  const [target, a, b] = await Promise.all(
    ['target', 'a', 'b'].map(async (name) => (await owner.get(`${pages}/path/links/${name}`)).body),
  );
  const backlinks = `${pages}/${target.page_id}/backlinks`;
  const ids = async (client: typeof owner | Awaited<ReturnType<typeof world.member>>, query = '') =>
    (await client.get(backlinks + query)).body.map(({ page_id }: { page_id: string }) => page_id);
  assert.deepEqual(await ids(owner), [a.page_id, b.page_id].toSorted());
  const listed = (await owner.get(pages)).body.find(({ page_id }: { page_id: string }) => page_id === a.page_id);
  assert.deepEqual((await owner.get(backlinks)).body[0], listed, 'a backlink is the record that lists of pages show');
  assert.deepEqual(await ids(owner, '?limit=1&offset=1'), [[a.page_id, b.page_id].toSorted()[1]]);
  assert.deepEqual((await owner.get(`${pages}/${a.page_id}/backlinks`)).body, []);
  await setStatus(a.page_id, 'draft');
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.deepEqual(await ids(viewer), [b.page_id]);
  assert.equal((await ids(owner)).length, 2);
});

test('a revision names its author only to callers who may read the members', async () => {
  const writer = await world.member(owner.workspace_id, 'member');
  await world.db.query(sql`update users set display_name = 'Ada' where user_id = ${writer.user_id}`);
  const { body: page } = await writer.post(pages, { title: 'Named', markdown: '' });
  const named = async (client: Pick<typeof owner, 'get'>) => {
    const { body } = await client.get(`${pages}/${page.page_id}/revisions`);
    return body.map(({ created_by_name }: { created_by_name: string }) => created_by_name);
  };
  assert.deepEqual(await named(owner), ['Ada']);
  const { body: key } = await owner.post('/v1/me/api-keys', { name: 'reads', permissions: ['pages:read'] });
  assert.deepEqual(await named(world.as(key.secret)), ['']);
  await owner.send('DELETE', `/v1/workspaces/${owner.workspace_id}/members/${writer.membership_id}`);
  assert.deepEqual(await named(owner), ['']);
});

/** Backdates the revisions of a page, runs the job that packs them, and returns the numbers of the packed ones. */
async function packed(page_id: string): Promise<number[]> {
  await world.db.query(sql`
    update revisions set created_at = created_at - interval '2 hours' where page_id = ${page_id}`);
  await world.db.query(sql`update wikis set revisions_packed_to = null where wiki_id = ${owner.wiki_id}`);
  await runScheduled(world, packRevisions);
  const rows = await world.db.query<{ revision: number }>(sql`
    select revision from revisions
    where page_id = ${page_id} and packed is not null and (markdown, html, outline) = ('', '', '[]') order by revision`);
  return rows.map(({ revision }) => revision);
}

test('a packed revision reads the same as before, byte by byte', async () => {
  const first = '# Größe\r\n\n日本 "x" \\ <b>y</b>\u2028\n\n## One\n\n- a\n';
  const { body: page } = await owner.post(pages, { title: 'Packed', markdown: first });
  const at = `${pages}/${page.page_id}`;
  await owner.patch(at, { markdown: `${first}\nMore.\n`, base_revision: 1 });
  await owner.patch(at, { title: 'Packed again', base_revision: 2 });
  const person = await signedInClient(world, owner.user_id);
  const paths = ['revisions/1', 'revisions/2', 'revisions/3', 'revisions/1/diff/3', 'revisions/2/diff/1', ''];
  const read = async () => {
    const records = await Promise.all(
      paths.map(async (path) => (await owner.get(`${at}/${path}`.replace(/\/$/, ''))).body),
    );
    const archive = await unzipped(await exported(world, owner, owner.wiki_id));
    const mine = await fetch(`${world.address}/v1/me/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${person.token}` },
    });
    const own = await unzipped(Buffer.from(await mine.arrayBuffer()));
    const of = (text: string) =>
      text
        .split('\n')
        .filter((line) => line.includes(page.page_id))
        .map((line) => JSON.parse(line));
    const [history, revisions] = [String(archive.get('history.jsonl')), String(own.get('revisions.jsonl'))].map(of);
    return { records, history, revisions };
  };
  const timeless = (value: unknown) => JSON.stringify(value).replaceAll(/"created_at":"[^"]*"/g, '');
  const before = await read();
  assert.equal(before.records[0].markdown, first);
  assert.equal(before.history?.length, 3);
  assert.equal(before.revisions?.length, 3);
  assert.deepEqual(await packed(page.page_id), [1, 2], 'the current revision stays unpacked');
  const after = await read();
  for (const [i, path] of paths.entries()) assert.equal(timeless(after.records[i]), timeless(before.records[i]), path);
  assert.equal(timeless(after.history), timeless(before.history));
  assert.equal(timeless(after.revisions), timeless(before.revisions));
  const restored = await owner.post(`${at}/revisions/1/restore`, {});
  assert.deepEqual([restored.status, restored.body.markdown], [200, first]);
  assert.deepEqual(await packed(page.page_id), [1, 2, 3]);

  // Deleting packed revisions keeps the workspace's usage correct.
  const counted = async () => {
    const [row] = await world.db.query<{ same: boolean }>(sql`
      select sum(u.bytes) = (select a.bytes from actual_usage(${owner.workspace_id}) a) as same
      from workspace_usage u where u.workspace_id = ${owner.workspace_id}`);
    return row?.same;
  };
  assert.equal(await counted(), true);
  await world.db.query(sql`delete from revisions where page_id = ${page.page_id} and revision < 3`);
  assert.equal(await counted(), true);
});

test('an upload is merged with edits even if the common base revision is packed', async () => {
  const text = '# Base\n\nOne.\n\nTwo.\n\nThree.\n';
  const page = await pageOf('packed-base', [text]);
  const at = `${pages}/${page.page_id}`;
  await owner.patch(at, { markdown: text.replace('One.', 'One, edited.'), base_revision: 1 });
  assert.deepEqual(await packed(page.page_id), [1]);
  const merged = await pageOf('packed-base', [text.replace('Three.', 'Three, uploaded.')]);
  assert.equal(merged.markdown, '# Base\n\nOne, edited.\n\nTwo.\n\nThree, uploaded.\n');
});
