import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { expireUploads } from '../src/sources/uploads/expire-uploads.job.ts';
import { ended, exported, imported, newWiki, send as sendArchive } from './archives.ts';
import { runScheduled } from './jobs.ts';
import { makeFolder } from './process.ts';
import { counted, limit, usageBy } from './quotas.ts';
import { announce, patch } from './resumable.ts';
import { type Answer, makeDatabase, type Owner, openWorld, waitForUpload } from './world.ts';
import { zipOf } from './zip.ts';

const place = { DATABASE_URL: await makeDatabase(), DATA_DIR: join(await makeFolder(), 'data') };
const world = await openWorld(place);
const other = await openWorld({ ...place, ROLE: 'web' });
const { db } = world;

function assertRefused({ status, body }: Answer, sentence: RegExp): void {
  assert.deepEqual([status, body.error], [409, 'quota_exceeded'], JSON.stringify(body));
  assert.match(body.message, sentence);
}

const newPage = (owner: Owner, title: string, markdown = 'text', at = owner) =>
  at.post(`/v1/wikis/${owner.wiki_id}/pages`, { title, markdown });

function sendFiles(owner: Owner, path: string, files: Record<string, string>): Promise<Answer> {
  const body = new FormData();
  for (const [name, content] of Object.entries(files)) body.append('file', new Blob([content]), name);
  return owner.send('POST', path, { body });
}

test('a write that would exceed a limit is refused with a sentence that names the limit and a remedy', async () => {
  const owner = await world.owner();
  const { workspace_id, wiki_id } = owner;
  await limit(db, workspace_id, { pages: 1, wikis: 1, invitations: 1, keys: 1, files: 2, jobs: 0, bytes: 10_000 });
  assert.equal((await newPage(owner, 'First')).status, 201);
  assertRefused(
    await newPage(owner, 'Second'),
    /^The workspace is limited to 1 pages, and this would bring it to 2\. Delete pages;/,
  );
  const workspace = `/v1/workspaces/${workspace_id}`;
  assertRefused(await owner.post(`${workspace}/wikis`, { title: 'Second' }), /limited to 1 wikis.* Delete one/);
  const invite = (email: string) => owner.post(`${workspace}/members/invite`, { email, role: 'member' });
  const { body: invitation } = await invite('one@example.com');
  assertRefused(await invite('two@example.com'), /limited to 1 pending invitations.* Revoke/);
  const key = () => owner.post(`${workspace}/api-keys`, { name: 'key' });
  assert.equal((await key()).status, 201);
  assertRefused(await key(), /limited to 1 API keys.* Revoke/);
  assertRefused(await owner.post(`/v1/wikis/${wiki_id}/exports`), /limited to 0 unfinished jobs.* Wait/);
  const files = ['a.md', 'b.md', 'c.md'].map((filename) => ({ filename, byte_size: 1 }));
  assertRefused(
    await owner.post(`/v1/wikis/${wiki_id}/uploads`, { files }),
    /limited to 2 files of unfinished uploads/,
  );
  const { body: page } = await owner.get(`/v1/wikis/${wiki_id}/pages`);
  const edit = { markdown: 'x'.repeat(10_000), base_revision: 1 };
  const refused = await owner.patch(`/v1/wikis/${wiki_id}/pages/${page[0].page_id}`, edit);
  assertRefused(refused, /limited to 9\.8 KiB stored, and this would bring it to 19\.\d KiB.*ask the operator/);

  await owner.post(`${workspace}/invitations/${invitation.invitation_id}/revoke`);
  assert.equal((await invite('two@example.com')).status, 200, 'what is revoked makes room');
  const { kept, actual } = await counted(db, workspace_id);
  assert.deepEqual(kept, actual, 'what was refused does not count');
});

test('a workspace above a limit keeps its data, and may read, shrink and write anything that does not count', async () => {
  const owner = await world.owner();
  const { wiki_id } = owner;
  for (const title of ['A', 'B', 'C']) await newPage(owner, title);
  await limit(db, owner.workspace_id, { pages: 1 });
  const pages = `/v1/wikis/${wiki_id}/pages`;
  const { status, body } = await owner.get(pages);
  assert.deepEqual([status, body.length], [200, 3]);
  const path = `${pages}/${body[0].page_id}`;
  assert.equal((await owner.patch(path, { markdown: 'other', base_revision: 1 })).status, 200);
  assert.equal((await owner.send('DELETE', path)).status, 204);
  assert.equal((await owner.post(`${path}/restore`)).status, 200, 'a page in the trash counts already');
  assertRefused(await newPage(owner, 'D'), /limited to 1 pages, and this would bring it to 4/);
  await limit(db, owner.workspace_id, { pages: 'plan' });
  assert.equal((await newPage(owner, 'D')).status, 201);
});

test('a plan has limits of its own, and null is no limit', async () => {
  const [owner, big] = [await world.owner(), await world.owner()];
  for (const [{ workspace_id }, plan_id] of [
    [owner, 'free'],
    [big, 'enterprise'],
  ] as const) {
    await db.query(sql`
      insert into subscriptions (workspace_id, plan_id, quantity, period_start, period_end)
      values (${workspace_id}, ${plan_id}, 1, now(), now() + interval '1 month')`);
  }
  const usage = async ({ workspace_id, get }: Owner) => (await get(`/v1/workspaces/${workspace_id}/usage`)).body;
  const [bytes] = await usage(owner);
  assert.deepEqual({ ...bytes, used: 0 }, { name: 'bytes', used: 0, limit: 5 * 2 ** 30, unlimited: false });
  const [unlimited] = await usage(big);
  assert.deepEqual({ ...unlimited, used: 0 }, { name: 'bytes', used: 0, limit: 0, unlimited: true });
});

for (const [name, most, callers] of [
  ['at most of few', 10, 30],
  ['and of many', 2_050, 60],
] as const) {
  test(`writers at two processes never exceed a limit: ${name}`, async () => {
    const owner = await world.owner();
    await limit(db, owner.workspace_id, { pages: most });
    // Bring the workspace close to the limit.
    await db.query(sql`
      insert into workspace_usage (workspace_id, transaction_id, pages) values (${owner.workspace_id}, 0, ${most - 10})
      on conflict (workspace_id, transaction_id) do update set pages = workspace_usage.pages + excluded.pages`);
    const at = [owner, { ...owner, ...other.as(owner.token) }];
    const answers = await Promise.all(
      Array.from({ length: callers }, (_, i) => newPage(owner, `Page ${i}`, 'text', at[i % 2])),
    );
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, 10);
    for (const answer of answers) if (answer.status !== 201) assertRefused(answer, /pages/);
    assert.equal((await usageBy(owner, owner.workspace_id)).pages, most);
  });
}

test('an idempotent write that exceeds a limit is refused, and succeeds once there is room', async () => {
  const owner = await world.owner();
  await limit(db, owner.workspace_id, { pages: 0 });
  const write = () =>
    owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'Page', markdown: 'x' }, { 'idempotency-key': 'once' });
  assertRefused(await write(), /pages/);
  await limit(db, owner.workspace_id, { pages: 1 });
  assert.deepEqual([(await write()).status, (await write()).status], [201, 201]);
  assert.equal((await usageBy(owner, owner.workspace_id)).pages, 1);
});

test('an upload over the limit is refused when it is announced, or when it is sent without keeping any of its bytes', async () => {
  const owner = await world.owner();
  const { workspace_id, wiki_id } = owner;
  const before = await usageBy(owner, workspace_id);
  await limit(db, workspace_id, { bytes: before.bytes + 1_000 });
  const uploads = `/v1/wikis/${wiki_id}/uploads`;
  const announced = (byte_size: number) => owner.post(uploads, { files: [{ filename: 'a.md', byte_size }] });
  assertRefused(await announced(1_001), /stored/);
  const blobs = async () =>
    (await db.query<{ count: number }>(sql`select count(*)::int as count from blobs`))[0]?.count;
  const kept = await blobs();
  assertRefused(await sendFiles(owner, uploads, { 'a.md': 'x'.repeat(600), 'b.md': 'y'.repeat(600) }), /stored/);
  assertRefused(await sendFiles(owner, uploads, { 'a.md': 'x'.repeat(3 * 2 ** 20) }), /stored/);
  assert.equal(await blobs(), kept, 'its bytes were discarded');
  assert.deepEqual(await usageBy(owner, workspace_id), before);

  // An announced upload reserves its bytes until it is given up.
  const { path, files } = await announce(owner, wiki_id, { 'a.md': Buffer.alloc(1_000, 'x') });
  assert.equal((await usageBy(owner, workspace_id)).bytes, before.bytes + 1_000);
  assertRefused(await announced(1), /stored/);
  assertRefused(await sendFiles(owner, uploads, { 'b.md': 'x' }), /stored/);
  await limit(db, workspace_id, { bytes: before.bytes + 500 });
  const sent = () => patch(owner, files[0]?.path ?? '', 0, Buffer.alloc(1_000, 'x'));
  assertRefused(await sent(), /stored/);
  await limit(db, workspace_id, { bytes: before.bytes + 1_000 });
  assert.equal((await sent()).status, 204);
  await owner.post(`${path}/cancel`);
  assert.equal((await usageBy(owner, workspace_id)).files, 0);
  assert.equal((await usageBy(owner, workspace_id)).bytes, before.bytes + 1_000, 'a retry would need its bytes');
  await db.query(sql`update uploads set finished_at = now() - interval '8 days' where wiki_id = ${wiki_id}`);
  await runScheduled(world, expireUploads);
  assert.deepEqual(await usageBy(owner, workspace_id), before);
  assert.deepEqual([(await owner.post(`${path}/retry`)).body.error], ['upload_state']);
});

test('duplicate bytes take no room, and the bytes of failed files are released with the upload', async () => {
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n', 'b.md': '# B\n' });
  const once = await usageBy(owner, owner.workspace_id);
  const again = await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n', 'b.bin': '\0\u0001'.repeat(10_000) });
  assert.equal(again.body.status, 'completed', JSON.stringify(again.body));
  assert.match(again.body.summary, /1 file failed/);
  assert.deepEqual(await usageBy(owner, owner.workspace_id), once);
});

test('a job that reaches a limit ends with that reason, and keeps its work so far', async () => {
  const owner = await world.owner();
  const { workspace_id, wiki_id } = owner;
  await limit(db, workspace_id, { pages: 150 });
  // Batches have 100 files, so the second batch exceeds the limit.
  const files = Object.fromEntries(Array.from({ length: 180 }, (_, i) => [`${i}.md`, `# Page ${i}\n`]));
  const { body: upload } = await world.upload(owner, wiki_id, files);
  assert.equal(upload.status, 'completed');
  assert.match(upload.summary, /100 new pages, 80 files failed.*The workspace is limited to 150 pages/);
  const [job] = (await owner.get(`/v1/wikis/${wiki_id}/jobs`)).body;
  assert.deepEqual([job.status, job.attempt], ['completed', 1], 'it is not tried again');
  const { body: failed } = await owner.get(
    `/v1/wikis/${wiki_id}/uploads/${upload.upload_id}/files?status=failed&limit=500`,
  );
  assert.equal(failed.length, 80);
  assert.match(failed[0].error, /^quota_exceeded: The workspace is limited to 150 pages/);
  const { kept, actual } = await counted(db, workspace_id);
  assert.deepEqual(kept, actual);
  assert.deepEqual(
    await usageBy(owner, workspace_id).then(({ pages, files, jobs }) => [pages, files, jobs]),
    [100, 0, 0],
  );
});

test('an import or an export that reaches a limit leaves no data', async () => {
  const owner = await world.owner();
  const { workspace_id, wiki_id } = owner;
  for (const title of ['A', 'B', 'C']) await newPage(owner, title, `${title} `.repeat(1_000));
  const archive = await exported(world, owner, wiki_id);
  const to = await newWiki(owner);
  const before = await usageBy(owner, workspace_id);
  await limit(db, workspace_id, { pages: before.pages + 2 });
  const job = await imported(owner, to, archive);
  assert.deepEqual([job.status, job.attempt], ['failed', 1]);
  assert.match(job.error, /^quota_exceeded: The workspace is limited to \d+ pages/);
  assert.deepEqual((await owner.get(`/v1/wikis/${to}/pages`)).body, []);
  assert.equal((await usageBy(owner, workspace_id)).pages, before.pages);

  const full = await usageBy(owner, workspace_id);
  await limit(db, workspace_id, { bytes: full.bytes + 100 });
  assertRefused(await sendArchive(owner, to, zipOf([['a.md', 'x'.repeat(500)]])), /stored/);
  const { body: made } = await owner.post(`/v1/wikis/${wiki_id}/exports`);
  const failed = await ended(owner, wiki_id, made.job_id);
  assert.equal(failed.status, 'failed');
  assert.match(failed.error, /^quota_exceeded: .*stored/);
  assert.deepEqual(await usageBy(owner, workspace_id), full);
});

test('expired invitations make room for others', async () => {
  const owner = await world.owner();
  await limit(db, owner.workspace_id, { invitations: 1 });
  const invite = (email: string) =>
    owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, { email, role: 'member' });
  assert.equal((await invite('early@example.com')).status, 200);
  await db.query(sql`update invitations set expires_at = now() where workspace_id = ${owner.workspace_id}`);
  assert.equal((await invite('late@example.com')).status, 200);
  assertRefused(await invite('later@example.com'), /pending invitations/);
});

test('a workspace at its limit affects no other workspace', async () => {
  const [full, free] = [await world.owner(), await world.owner()];
  await limit(db, full.workspace_id, { pages: 0, bytes: 0 });
  const [refused, made] = await Promise.all([newPage(full, 'Page'), newPage(free, 'Page')]);
  assertRefused(refused, /The workspace is limited to/);
  assert.equal(made.status, 201);
  const { body } = await sendFiles(free, `/v1/wikis/${free.wiki_id}/uploads`, { 'a.md': '# A' });
  await waitForUpload(free, free.wiki_id, body.upload_id);
});
