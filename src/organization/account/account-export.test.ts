import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unzipped } from '../../../test/archives.ts';
import { png } from '../../../test/pictures.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { type Client, openWorld } from '../../../test/world.ts';
import { newId } from '../../platform/core/ids.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await openWorld({ REQUEST_LOG_SIZE: '50', RATE_LIMITS: 'on' });
const { db } = world;
const acme = await world.owner('owner@acme.example');
const other = await world.owner('canary-owner@example.com');
await other.post(`/v1/wikis/${other.wiki_id}/pages`, { title: 'Canary', markdown: 'canary-text' });
const pages = `/v1/wikis/${acme.wiki_id}/pages`;
/** Ada writes in her own workspace and in another one. */
const ada = await world.owner('ada@example.com');
const join = async (role: string) => {
  await db.query(sql`delete from memberships where workspace_id = ${acme.workspace_id} and user_id = ${ada.user_id}`);
  await db.query(sql`
    insert into memberships (membership_id, workspace_id, user_id, role)
    values (${newId('mem')}, ${acme.workspace_id}, ${ada.user_id}, ${role})`);
};

interface Archive {
  names: string[];
  text: string;
  json(file: string): any;
  lines(file: string): any[];
  bytes(file: string): Buffer | undefined;
}

async function exportOf(client: Client): Promise<Archive> {
  const response = await fetch(`${world.address}/v1/me/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}` },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/zip');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.match(response.headers.get('content-disposition') ?? '', /^attachment; filename="my-data\.zip"$/);
  const files = await unzipped(Buffer.from(await response.arrayBuffer()));
  const textOf = (file: string) => files.get(file)?.toString() ?? assert.fail(`no ${file}`);
  return {
    names: [...files.keys()],
    text: [...files].map(([name, bytes]) => `${name}\n${bytes}`).join('\n'),
    json: (file) => JSON.parse(textOf(file)),
    lines: (file) =>
      textOf(file)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    bytes: (file) => files.get(file),
  };
}

await join('member');
const published = (await ada.post(pages, { title: 'Guide', markdown: 'ada wrote this', status: 'published' })).body;
const draft = (await ada.post(pages, { title: 'Plan', markdown: 'ada’s draft', status: 'draft' })).body;
await acme.post(pages, { title: 'Of others', markdown: 'others wrote this', status: 'published' });
const own = (await ada.post(`/v1/wikis/${ada.wiki_id}/pages`, { title: 'Diary', markdown: 'dear diary' })).body;
await ada.send('PUT', `/v1/wikis/${acme.wiki_id}/autosaves/draft-of-a-tab`, {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ title: 'Unsaved', markdown: 'not saved yet' }),
});
await ada.send('PUT', `/v1/wikis/${acme.wiki_id}/starred-pages/${published.page_id}`);
await ada.send('PUT', `/v1/wikis/${acme.wiki_id}/saved-searches/saved-search`, {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'Mine', query: 'looms' }),
});
await world.upload(ada, acme.wiki_id, { 'notes.md': '# Notes\n' });
await ada.send('PUT', '/v1/me/avatar', {
  headers: { 'content-type': 'image/png' },
  body: new Uint8Array(png()),
});
const session = await signedInClient(world, ada.user_id);

test('an export contains the data of the person, and the texts they wrote that they may read now', async () => {
  const archive = await exportOf(session);
  const { format, version, user_id } = archive.json('ibid.json');
  assert.deepEqual([format, version, user_id], ['ibid-account', 1, ada.user_id]);
  const profile = archive.json('profile.json');
  assert.deepEqual([profile.email, profile.email_verified], ['ada@example.com', true]);
  assert.deepEqual(profile.sign_in_methods, [{ method: 'email', issuer: 'ibid', subject: 'ada@example.com' }]);
  assert.deepEqual(archive.bytes(profile.avatar_file), png());
  const ids = (file: string, name: string) => archive.lines(file).map((row) => row[name]);
  assert.deepEqual(ids('sessions.jsonl', 'session_id'), [session.tokens.session_id]);
  assert.deepEqual(
    new Map(archive.lines('memberships.jsonl').map((row) => [row.workspace_id, row.role])),
    new Map([
      [acme.workspace_id, 'member'],
      [ada.workspace_id, 'owner'],
    ]),
  );
  assert.equal(archive.lines('api_keys.jsonl').length, 1);
  assert.deepEqual(ids('starred_pages.jsonl', 'page_id'), [published.page_id]);
  assert.deepEqual(ids('saved_searches.jsonl', 'query'), ['looms']);
  assert.deepEqual(ids('autosaves.jsonl', 'markdown'), ['not saved yet']);
  assert.deepEqual(
    archive.lines('uploads.jsonl').map(({ files }) => files[0].filename),
    ['notes.md'],
  );
  const revisions = new Map(archive.lines('revisions.jsonl').map((row) => [row.page_id, row]));
  assert.equal(revisions.get(published.page_id).markdown, 'ada wrote this');
  assert.equal(revisions.get(draft.page_id).markdown, 'ada’s draft');
  assert.equal(revisions.get(own.page_id).markdown, 'dear diary');
  assert.match(revisions.get(own.page_id).created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(ids('account_events.jsonl', 'type').includes('user.exported'));
  assert.ok(ids('workspace_events.jsonl', 'type').includes('page.created'));
  assert.ok(
    archive.lines('requests.jsonl').every(({ credential_kind }) => ['key', 'session'].includes(credential_kind)),
  );
  for (const foreign of ['others wrote this', 'canary', 'owner@acme.example', other.workspace_id])
    assert.ok(!archive.text.includes(foreign), foreign);
  const secrets = await db.query<{ secret: string }>(sql`
    select encode(secret_hash, 'hex') as secret from api_keys union all select encode(access_hash, 'hex') from sessions
    union all select encode(device_hash, 'hex') from sessions where device_hash is not null`);
  for (const { secret } of secrets) assert.ok(!archive.text.includes(secret));
  assert.ok(!archive.text.includes(String(ada.token)));
});

test('a viewer gets no texts of drafts, and a former member gets no texts or names', async () => {
  await join('viewer');
  const asViewer = await exportOf(session);
  const of = (archive: Archive) => new Map(archive.lines('revisions.jsonl').map((row) => [row.page_id, row.markdown]));
  assert.equal(of(asViewer).get(published.page_id), 'ada wrote this');
  assert.ok(of(asViewer).has(draft.page_id));
  assert.equal(of(asViewer).get(draft.page_id), undefined);
  await db.query(sql`
    update memberships set status = 'inactive' where workspace_id = ${acme.workspace_id} and user_id = ${ada.user_id}`);
  const without = await exportOf(session);
  assert.deepEqual([...of(without).keys()], [own.page_id]);
  for (const gone of ['ada wrote this', 'ada’s draft', 'not saved yet', 'looms', 'notes.md', published.page_id])
    assert.ok(!without.text.includes(gone), gone);
  const inactive = without.lines('memberships.jsonl').find((row) => row.workspace_id === acme.workspace_id);
  assert.deepEqual([inactive.status, inactive.workspace_name], ['inactive', undefined]);
  await join('member');
});

test('only a session can export, no key and no anonymous request', async () => {
  const key = await world.workspaceKey('ada@example.com', ada.workspace_id);
  for (const [client, status] of [
    [ada, 403],
    [key, 403],
    [world.anonymous, 401],
  ] as const) {
    assert.equal((await client.post('/v1/me/export')).status, status);
  }
  assert.equal((await world.anonymous.post('/v1/me/export', { user_id: ada.user_id })).status, 401);
  // A request that another site makes the browser send is refused despite the cookie.
  const browser = (await (await signedInClient(world, ada.user_id)).post('/v1/auth/browser')).body.browser_secret;
  const sent = (site: string) =>
    fetch(`${world.address}/v1/me/export`, {
      method: 'POST',
      headers: {
        cookie: `ibid=${browser}`,
        'sec-fetch-site': site,
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
  assert.equal((await sent('cross-site')).status, 401);
  const [before] = await db.query(sql`select count(*)::int as n from audit_events where type = 'user.exported'`);
  const form = await sent('same-origin');
  assert.equal(form.status, 200, 'a form without a script sends it');
  await form.arrayBuffer();
  const [later] = await db.query(sql`select count(*)::int as n from audit_events where type = 'user.exported'`);
  assert.equal(Number(later?.n), Number(before?.n) + 1);
});

test('an archive is cut off if its session is revoked during the download', async () => {
  const person = await world.owner();
  const leaving = await signedInClient(world, person.user_id);
  const page = await person.post(`/v1/wikis/${person.wiki_id}/pages`, { title: 'Long', markdown: 'x' });
  // Incompressible texts, larger than the connection buffers before the client reads.
  await db.query(sql`
    insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
    select ${person.wiki_id}, ${page.body.page_id}, n, 'Long',
      (select string_agg(md5(n::text || i::text), '') from generate_series(1, 8000) i), '', '[]', ${person.user_id}
    from generate_series(2, 50) n`);
  const response = await fetch(`${world.address}/v1/me/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${leaving.token}` },
  });
  const reader = response.body?.getReader() ?? assert.fail();
  await reader.read();
  await db.query(sql`update sessions set revoked_at = now() where user_id = ${person.user_id}`);
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  });
});

test('a user can export five times an hour, and the sixth answer says when to retry', async () => {
  const person = await world.person();
  const client = await signedInClient(world, person.user_id);
  for (let n = 0; n < 5; n += 1) await exportOf(client);
  const refused = await client.post('/v1/me/export');
  assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limited']);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});
