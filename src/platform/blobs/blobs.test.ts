import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ended, newWiki } from '../../../test/archives.ts';
import { cleanUp } from '../../../test/clean-up.ts';
import { collect } from '../../../test/collect.ts';
import { deleteForGood, runScheduled } from '../../../test/jobs.ts';
import { makeFolder } from '../../../test/process.ts';
import { announce, patch } from '../../../test/resumable.ts';
import { startS3Proxy, startS3Server } from '../../../test/s3-server.ts';
import { until } from '../../../test/until.ts';
import { openWorld } from '../../../test/world.ts';
import { raw, sql } from '../db/sql.ts';
import { enqueueDue } from '../jobs/background-queue.ts';
import { openFolderBlobs } from '../providers/storage/folder-blobs.ts';
import { openS3Blobs } from '../providers/storage/s3-blobs.ts';
import { readS3Url } from '../providers/storage/s3-place.ts';
import { lockForBackup } from './backup-lock.ts';
import { deleteUnreferencedBlobs } from './delete-unreferenced-blobs.job.ts';
import { trackStoredBlobs } from './track-stored-blobs.job.ts';

const folder = await makeFolder();
const s3 = await startS3Server();
cleanUp(() => s3.stop());
const bucket = await openS3Blobs(readS3Url(s3.url), join(folder, 'incoming'));
cleanUp(() => bucket.close());
const DATA_DIR = join(folder, 'data');
const inFolder = { world: await openWorld({ DATA_DIR }), store: await openFolderBlobs(join(DATA_DIR, 'blobs')) };
const inBucket = { world: await openWorld({ STORAGE_URL: s3.url }), store: bucket };

for (const [where, { world, store }] of Object.entries({ 'a folder': inFolder, 'a bucket': inBucket })) {
  const { db } = world;
  const owner = await world.owner();
  const { wiki_id } = owner;
  const { body: page } = await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Page', markdown: 'x' });

  const attach = (text: string, to = { wiki_id, page_id: page.page_id as string }) => {
    const body = new FormData();
    body.append('file', new Blob([text]), 'note.txt');
    return owner.send('POST', `/v1/wikis/${to.wiki_id}/pages/${to.page_id}/attachments`, { body });
  };
  const detach = (attachment_id: string) => owner.send('DELETE', `/v1/wikis/${wiki_id}/attachments/${attachment_id}`);
  const read = async (attachment_id: string) =>
    (await owner.get(`/v1/wikis/${wiki_id}/attachments/${attachment_id}`)).body;
  /** Stores a file, then deletes the only reference to it. */
  const abandon = async (text: string): Promise<string> => {
    const { body } = await attach(text);
    await detach(body.attachment_id);
    return body.sha256;
  };
  const age = () => db.query(sql`update blobs set kept_at = kept_at - interval '25 hours'`);
  const stored = async () => new Set((await collect(store.list())).map(({ sha256 }) => sha256));
  const tracked = async () =>
    new Set((await db.query<{ sha256: string }>(sql`select sha256 from blobs`)).map((b) => b.sha256));
  const mark = (sha256: string, ago: string) =>
    db.query(sql`update blobs set deleting_since = now() - ${ago}::interval where sha256 = ${sha256}`);
  /** Performs the steps that the job runs after marking. */
  const finishDeletion = async (sha256: string) => {
    await store.removeAll([sha256], Date.now() + 60_000);
    await db.query(sql`delete from blobs where sha256 = ${sha256}`);
  };

  test(`files of a deleted wiki are removed from ${where}, except files that another wiki uses`, async () => {
    const doomed = await newWiki(owner, 'Doomed');
    const { body: its } = await owner.post(`/v1/wikis/${doomed}/pages`, { title: 'Page', markdown: 'x' });
    const { body: own } = await attach('of the doomed alone', { wiki_id: doomed, page_id: its.page_id });
    const { body: shared } = await attach('of both', { wiki_id: doomed, page_id: its.page_id });
    const { body: kept } = await attach('of both');
    await world.upload(owner, doomed, { 'a/b.md': '# B\n' });
    const { body: job } = await owner.post(`/v1/wikis/${doomed}/exports`);
    await ended(owner, doomed, job.job_id);
    const rows = await db.query<{ sha256: string; kind: string }>(sql`
      select sha256, 'source' as kind from sources where wiki_id = ${doomed} union all
      select sha256, 'export' from exports where wiki_id = ${doomed}`);
    const [source, archive] = ['source', 'export'].map((kind) => rows.find((row) => row.kind === kind)?.sha256 ?? '');
    const all = [own.sha256, source, archive, shared.sha256];
    const present = async () => {
      const left = await stored();
      return all.map((sha256) => left.has(sha256));
    };
    assert.deepEqual(await present(), [true, true, true, true]);

    await age();
    await runScheduled(world, deleteUnreferencedBlobs);
    assert.deepEqual(await present(), [true, true, true, true], 'all are referred to');
    await deleteForGood(world, owner, doomed);
    await db.session(async (query) => {
      await lockForBackup(query);
      await runScheduled(world, deleteUnreferencedBlobs);
    });
    assert.deepEqual(await present(), [true, true, true, true], 'a running backup may need them');
    await runScheduled(world, deleteUnreferencedBlobs);
    assert.deepEqual(await present(), [false, false, false, true]);
    assert.equal(await read(kept.attachment_id), 'of both');
    assert.deepEqual(await tracked(), await stored());
  });

  test(`an unreferenced file stays in ${where} for a day after it was last stored`, async () => {
    const [young, again] = [await abandon('young'), await abandon('again')];
    await db.query(sql`update blobs set kept_at = now() - interval '25 hours' where sha256 = ${again}`);
    assert.equal(await abandon('again'), again);
    await runScheduled(world, deleteUnreferencedBlobs);
    const left = await stored();
    assert.ok(left.has(young) && left.has(again));
    await age();
    await runScheduled(world, deleteUnreferencedBlobs);
    const after = await stored();
    assert.ok(!after.has(young) && !after.has(again));
    const { body } = await attach('young');
    assert.equal(await read(body.attachment_id), 'young', 'a deleted blob can be stored again');
  });

  test(`storing a file during its deletion from ${where} waits for the deletion, and is a 503 if it takes too long`, async () => {
    const text = `contested ${where}`;
    const sha256 = await abandon(text);
    await mark(sha256, '0 s');
    const refused = await attach(text);
    assert.deepEqual([refused.status, refused.body.error], [503, 'storage_unavailable']);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);

    const before = world.statements.length;
    const waiting = attach(text);
    const looks = () => world.statements.slice(before).filter((sent) => sent.includes('insert into blobs')).length;
    await until('the request has met the deletion', () => looks() > 1);
    await finishDeletion(sha256);
    const { status, body } = await waiting;
    assert.equal(status, 201);
    assert.equal(await read(body.attachment_id), text);
  });

  test(`a deletion from ${where} interrupted by a crash is completed ten minutes later, unless the file is stored again`, async () => {
    const [unreferenced, again] = [await abandon('killed'), await abandon('killed and stored again')];
    const failed = async () =>
      (
        await db.query(sql`
        select 1 from background_jobs where name = ${deleteUnreferencedBlobs.name} and status = 'queued' and failures > 0`)
      ).length > 0;
    for (const sha256 of [unreferenced, again]) await mark(sha256, '1 minute');
    await db.query(sql`delete from schedules where name = ${deleteUnreferencedBlobs.name}`);
    await enqueueDue(db.query, deleteUnreferencedBlobs);
    await until('an attempt skipped blobs whose deletion may still be running', failed);
    assert.ok((await stored()).has(unreferenced));

    for (const sha256 of [unreferenced, again]) await mark(sha256, '11 minutes');
    await store.removeAll([again], Date.now() + 60_000);
    const { body } = await attach('killed and stored again');
    await db.query(sql`update background_jobs set run_after = now() where name = ${deleteUnreferencedBlobs.name}`);
    await runScheduled(world, deleteUnreferencedBlobs);
    assert.ok(!(await stored()).has(unreferenced));
    assert.equal(await read(body.attachment_id), 'killed and stored again');
    assert.deepEqual(await tracked(), await stored());
  });

  test(`files stored in ${where} before tracking began are tracked, and deleted if unreferenced`, async () => {
    const { body: used } = await attach('used before');
    const unused = await abandon('unused before');
    await db.query(sql`delete from blobs`);
    await runScheduled(world, deleteUnreferencedBlobs);
    assert.ok((await stored()).has(unused), 'only tracked blobs are deleted');
    await runScheduled(world, trackStoredBlobs);
    const rows = await db.query(sql`select byte_size from blobs where sha256 = ${unused}`);
    assert.deepEqual(rows, [{ byte_size: 'unused before'.length }]);
    await runScheduled(world, deleteUnreferencedBlobs);
    assert.ok((await stored()).has(unused), 'it counts as stored when it was found');
    await age();
    await runScheduled(world, deleteUnreferencedBlobs);
    assert.ok(!(await stored()).has(unused));
    assert.equal(await read(used.attachment_id), 'used before');
  });
}

test('a file that the job is deleting is stored again only after it is gone', async () => {
  let isDeleting = false;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  // A proxy in front of the bucket delays deletions.
  const proxy = await startS3Proxy(s3, async ({ method }) => {
    if (method !== 'DELETE') return;
    isDeleting = true;
    await released;
  });
  cleanUp(() => proxy.stop());
  const world = await openWorld({ STORAGE_URL: proxy.url.replace('/folder', '/held') });
  const owner = await world.owner();
  const pages = `/v1/wikis/${owner.wiki_id}/pages`;
  const { body: page } = await owner.post(pages, { title: 'Page', markdown: 'x' });
  const attach = () => {
    const body = new FormData();
    body.append('file', new Blob(['held']), 'note.txt');
    return owner.send('POST', `${pages}/${page.page_id}/attachments`, { body });
  };
  const address = (id: string) => `/v1/wikis/${owner.wiki_id}/attachments/${id}`;
  const { body: first } = await attach();
  await owner.send('DELETE', address(first.attachment_id));
  await world.db.query(sql`update blobs set kept_at = kept_at - interval '25 hours'`);
  const deleted = runScheduled(world, deleteUnreferencedBlobs);
  await until('the bucket is told to delete it', () => isDeleting);
  const before = world.statements.length;
  const attaching = attach();
  const looks = () => world.statements.slice(before).filter((sent) => sent.includes('insert into blobs')).length;
  await until('the request has met the deletion', () => looks() > 1);
  release();
  const { status, body: second } = await attaching;
  assert.equal(status, 201);
  await deleted;
  assert.equal((await owner.get(address(second.attachment_id))).body, 'held');
});

/** Hash columns that are not references to a blob, with the reason. */
const NO_REFERENCE = [
  'blobs.sha256', // The blob itself.
  'import_attachments.sha256', // Leftover blobs are deleted a day later.
  'upload_files.promised_sha256', // Announced by a client, not yet stored.
];

test('the view of references contains every column that refers to blobs', async () => {
  const columns = await inFolder.world.db.query<{ name: string }>(sql`
    select c.table_name || '.' || c.column_name as name from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.column_name like '%sha256%' order by 1`);
  const viewed = await inFolder.world.db.query<{ name: string }>(sql`
    select table_name || '.' || column_name as name from information_schema.view_column_usage
    where view_schema = 'public' and view_name = 'blob_references' and column_name like '%sha256%' order by 1`);
  const names = columns.map(({ name }) => name);
  assert.ok(viewed.length >= 6);
  assert.deepEqual(
    names.filter((name) => !NO_REFERENCE.includes(name)),
    viewed.map(({ name }) => name),
    'add it to the view in a new migration, or to NO_REFERENCE',
  );
  assert.ok(NO_REFERENCE.every((name) => names.includes(name)));
});

test('the view lists wiki, kind and date of each reference', async () => {
  const { world } = inFolder;
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'viewed.md': '# Viewed\n' });
  // A file of an upload references its bytes until it becomes a source; then the source does.
  const upload = await announce(owner, owner.wiki_id, { 'sent.md': Buffer.from('# Sent\n') });
  await patch(owner, upload.files[0]?.path ?? '', 0, Buffer.from('# Sent\n'));
  const seen = await world.db.transaction(async (query) => {
    await query(sql`set local ibid.service to on`);
    return query<{ kind: string; wiki_id: string; id: string; is_dated: boolean }>(sql`
      select kind, wiki_id, id, since is not null as is_dated from blob_references
      where wiki_id = ${owner.wiki_id} order by kind`);
  });
  const [source] = await world.db.query<{ source_id: string }>(sql`
    select source_id from sources where wiki_id = ${owner.wiki_id}`);
  assert.deepEqual(seen, [
    { kind: 'source', wiki_id: owner.wiki_id, id: source?.source_id, is_dated: true },
    { kind: 'upload_file', wiki_id: owner.wiki_id, id: upload.upload_id, is_dated: true },
  ]);
});

test('only the service sees blobs and references to them', async () => {
  const count = (isService: boolean) =>
    inFolder.world.db.transaction(async (query) => {
      await query(sql`set local role ibid_service`);
      if (isService) await query(sql`set local ibid.service to on`);
      const [row] = await query<{ blobs: number; references: number }>(sql`
        select (select count(*)::int from blobs) as blobs, (select count(*)::int from blob_references) as references`);
      return row;
    });
  assert.deepEqual(await count(false), { blobs: 0, references: 0 });
  const own = await count(true);
  assert.ok(own && own.blobs > 0 && own.references > 0);
});

test('looking up references to a blob uses indexes', async () => {
  const plan = await inFolder.world.db.transaction(async (query) => {
    await query(sql`set local enable_seqscan to off`);
    await query(sql`set local enable_bitmapscan to off`);
    await query(sql`set local enable_hashjoin to off`);
    await query(sql`set local enable_mergejoin to off`);
    const rows = await query(
      raw(`
      explain (format json) select b.sha256 from blobs b
      where b.sha256 = any (array['a', 'b']) and not exists (select from blob_references r where r.sha256 = b.sha256)`),
    );
    return JSON.stringify(rows);
  });
  for (const table of ['upload_files', 'sources', 'attachments', 'exports', 'imports', 'users']) {
    assert.match(plan, new RegExp(`"Index Name":"${table}_by_sha256"`), plan);
  }
});
