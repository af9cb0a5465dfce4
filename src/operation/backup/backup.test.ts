import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { makeFolder } from '../../../test/process.ts';
import { announce, offsetOf, patch } from '../../../test/resumable.ts';
import { startS3Server } from '../../../test/s3-server.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { until } from '../../../test/until.ts';
import { type Client, makeDatabase, openOwner, openWorld, waitForUpload } from '../../../test/world.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import type { Migration } from '../../platform/db/apply-migration.ts';
import { listMigrations } from '../../platform/db/migrate.ts';
import { prepareDatabase } from '../../platform/db/prepare-database.ts';
import { sql } from '../../platform/db/sql.ts';
import { pauseAllJobs } from '../../platform/jobs/pause-jobs.ts';
import { openFolderBlobs } from '../../platform/providers/storage/folder-blobs.ts';
import { openDocumentReader } from '../../platform/sandbox/document-reader.ts';
import { openSandbox } from '../../platform/sandbox/sandbox.ts';
import { runBackupCommand } from '../cli/backup.ts';
import { verifySources } from '../cli/verify.ts';
import { readConfig } from '../config.ts';
import { copyDatabase } from './copy-database.ts';

/** BACKUP_KILLS sets how often a backup, and a restore, is killed. */
const KILLS = Number(process.env.BACKUP_KILLS || 2);
/** Maximum time between the start of a command's work and its kill. */
const MOMENT_MS = 150;

const folder = await makeFolder();
const BACKUP_URL = `file://${folder}/backups`;
const BACKUP_KEY_FILE = join(folder, 'backup.key');
await writeFile(BACKUP_KEY_FILE, randomBytes(32).toString('hex'));
const place = { DATABASE_URL: await makeDatabase(), DATA_DIR: join(folder, 'data'), PASSWORD_SIGN_IN: 'on' };
const world = await openWorld(place);
const owner = await world.owner();
const { wiki_id } = owner;
await world.upload(owner, wiki_id, {
  'a.md': '# Apple\n\nA zyzzyva eats an apple.\n\n```\ttab\\n```\n',
  'b.csv': 'name,age\nAda,36\n',
});
await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Written', markdown: 'by hand 😀 \\N \\. and\ttabs' });
const person = await signedInClient(world, owner.user_id);
const unfinished = await announce(owner, wiki_id, { 'late.md': Buffer.from('# Late\n\nIt comes in two parts.\n') });

/** Runs a backup command of `ibid`. Returns its result and its output. */
async function ibid(env: Record<string, string>, ...args: string[]) {
  const lines: string[] = [];
  const isWhole = await runBackupCommand(readConfig({ BACKUP_URL, BACKUP_KEY_FILE, ...env }), args, (line) =>
    lines.push(line),
  );
  return { isWhole, lines };
}

async function seen(client: Client) {
  const { body: pages } = await client.get(`/v1/wikis/${wiki_id}/pages`);
  const { body: sources } = await client.get(`/v1/wikis/${wiki_id}/sources`);
  const one = (page: { page_id: string }) => client.get(`/v1/wikis/${wiki_id}/pages/${page.page_id}`);
  const texts = await Promise.all(pages.map(async (page: { page_id: string }) => (await one(page)).body));
  const { body: found } = await client.get(`/v1/wikis/${wiki_id}/pages/search?query=zyzzyva`);
  const { body: me } = await client.get('/v1/me');
  return { pages, sources, texts, found, me };
}

const newPlace = async () => ({ DATABASE_URL: await makeDatabase(), DATA_DIR: join(await makeFolder(), 'data') });

test('after a lost disk, a restore brings back pages, search, sources and sign-in, and jobs wait for a resume', async () => {
  const [late] = unfinished.files;
  assert.ok(late && (await patch(owner, late.path, 0, late.content.subarray(0, 10))).status === 204);
  // A page has another score before its index is merged.
  await until('the index is merged', async () => {
    return (await world.db.query(sql`select from search_pending where wiki_id = ${wiki_id}`)).length === 0;
  });
  const before = await seen(owner);
  assert.ok(before.pages.length >= 3 && before.sources.length === 2, 'there is something to lose');
  assert.match(JSON.stringify(before.found), /zyzzyva/);
  const { isWhole, lines } = await ibid(place, 'backup');
  assert.ok(isWhole, lines.join('\n'));
  const next = await newPlace();
  const restored = await ibid(next, 'restore');
  assert.equal(restored.lines[0], lines[0], 'what it says is what was backed up');

  const again = await openWorld({ ...next, PASSWORD_SIGN_IN: 'on' });
  const reader = { ...again.as(owner.token), wiki_id };
  assert.deepEqual(await seen(reader), before);
  assert.equal((await again.as(person.token).get('/v1/me')).status, 200, 'who was signed in stays signed in');
  const [sandbox, documents] = [openSandbox(), openDocumentReader()];
  const readers = {
    blobs: await openFolderBlobs(join(next.DATA_DIR, 'blobs')),
    readerOf: documents.of,
    sandboxOf: sandbox.of,
  };
  assert.ok(await verifySources(again.db, readers, '', () => undefined), 'every page shows what its file says');
  await Promise.all([sandbox.close(), documents.close()]);

  assert.equal(await offsetOf(reader, late.path), 0, 'what was sent of a file is sent again');
  assert.equal((await patch(reader, late.path, 0, late.content)).status, 204);
  assert.equal((await reader.post(`${unfinished.path}/complete`)).status, 200);

  const sent = again.statements.length;
  const form = new FormData();
  form.append('files', new Blob(['# New']), 'new.md');
  const { body: upload } = await reader.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
  const begun = () =>
    again.db.query(sql`
      select 1 from jobs where attempt > 0 and upload_id = any (${[upload.upload_id, unfinished.upload_id]}::text[])
      union all select 1 from background_jobs where attempt > 0`);
  const looks = () => again.statements.slice(sent).filter((text) => text.includes('jobs_to_claim')).length;
  await until('a worker has looked for jobs', looks, (count) => count > 1);
  assert.equal((await again.db.query(sql`select 1 from jobs where status = 'queued'`)).length, 2);
  assert.deepEqual(await begun(), [], 'no job has begun');
  assert.deepEqual((await ibid(next, 'resume')).lines, ['jobs and mail resumed']);
  for (const id of [upload.upload_id, unfinished.upload_id]) {
    assert.equal((await waitForUpload(reader, wiki_id, id)).body.status, 'completed');
  }
  assert.deepEqual((await ibid(next, 'resume')).lines, ['jobs and mail were not paused']);
});

longTest('a second backup stores only new files, and without a key its objects are plain', async () => {
  const files = () => readdir(join(folder, 'backups/files'), { recursive: true });
  await ibid(place, 'backup');
  const before = await files();
  await world.upload(owner, wiki_id, { 'c.md': '# C' });
  await ibid(place, 'backup');
  const added = (await files()).filter((name) => !before.includes(name) && name.length > 2);
  assert.equal(added.length, 1);
  const plain = { ...place, BACKUP_URL: `file://${folder}/plain`, BACKUP_KEY_FILE: '' };
  await ibid(plain, 'backup');
  const [row] = await world.db.query<{ sha256: string }>(sql`select sha256 from sources where filename = 'c.md'`);
  const sha256 = row?.sha256 ?? '';
  assert.equal(readFileSync(join(folder, 'plain/files', sha256.slice(0, 2), sha256), 'utf8'), '# C');
  const stored = await Promise.all(
    (await files()).filter((name) => name.length > 2).map((name) => readFile(join(folder, 'backups/files', name))),
  );
  assert.ok(
    stored.every((bytes) => !bytes.includes('# C')),
    'with a key nothing can be read',
  );
});

for (const [name, key] of [
  ['backups', BACKUP_KEY_FILE],
  ['plain', ''],
] as const) {
  test(`a flipped bit, a truncated object and a missing object are found and named (${name})`, async () => {
    const env = { ...place, BACKUP_URL: `file://${folder}/${name}`, BACKUP_KEY_FILE: key };
    await ibid(env, 'backup');
    assert.ok((await ibid(env, 'verify-backup')).isWhole);
    const root = join(folder, name);
    const id = (await readdir(join(root, 'backups'))).sort().at(-1) ?? '';
    const files = (await readdir(join(root, 'files'), { recursive: true })).filter((file) => file.length > 2);
    for (const object of [
      `backups/${id}/manifest`,
      `backups/${id}/files`,
      `backups/${id}/tables/pages`,
      `files/${files[0]}`,
    ]) {
      const path = join(root, object);
      const whole = await readFile(path);
      const at = [9, Math.floor(Math.random() * whole.length), whole.length - 1].filter((i) => i < whole.length);
      const damaged = at.map((i) => Buffer.from(whole).fill((whole[i] ?? 0) ^ (1 << (i % 8)), i, i + 1));
      const others = [whole.subarray(0, -1), Buffer.concat([whole, Buffer.from('\n')]), Buffer.alloc(0), undefined];
      for (const bytes of [...damaged, ...others]) {
        if (bytes) await writeFile(path, bytes);
        else await rm(path);
        const { isWhole, lines } = await ibid(env, 'verify-backup', id);
        assert.deepEqual([isWhole, lines.map((line) => line.split(':')[0])], [false, [object]], `${at}`);
      }
      await writeFile(path, whole);
    }
    assert.ok((await ibid(env, 'verify-backup')).isWhole);
  });
}

test('a database is copied completely, its jobs continue, and tables that would be left out are refused', async () => {
  const copyInto = async (url: string) => {
    const [from, to] = [openOwner(place.DATABASE_URL), openOwner(url)];
    const prepare = async (migrations: readonly Migration[]) =>
      void (await prepareDatabase(to, { url, dataDir: '' }, () => undefined, migrations));
    return { to, copied: await copyDatabase(from, to, listMigrations(), prepare) };
  };
  const target = await makeDatabase();
  const { to, copied } = await copyInto(target);
  assert.ok(copied.rows > 50 && copied.tables > 40, JSON.stringify(copied));
  const hash = sql`select md5(string_agg(p::text, ',' order by p.page_id)) as pages from pages p`;
  assert.deepEqual(await to.query(hash), await world.db.query(hash));
  assert.deepEqual(await to.query(sql`select 1 from pg_trigger where not tgisinternal and tgenabled = 'D'`), []);
  assert.equal(await pauseAllJobs(to.query, false), false, 'jobs were not paused');
  await assert.rejects(copyInto(target), /has users or workspaces/);
  await world.db.query(sql`create table notes (note text)`);
  await assert.rejects(
    copyInto(await makeDatabase()),
    /the table notes does not belong to Ibid and would not be copied/,
  );
  await world.db.query(sql`drop table notes`);
});

test('a restore into a used database is refused, with advice', async () => {
  await assert.rejects(ibid(place, 'restore'), /has users or workspaces.*set a new DATA_DIR/);
});

longTest('a backup in a bucket is verified and restored like a backup in a folder', async () => {
  const s3 = await startS3Server();
  const bucket = { BACKUP_URL: `${s3.url}&tls=false`.replace('/folder?', '/backups?') };
  const { lines } = await ibid({ ...place, ...bucket }, 'backup');
  assert.deepEqual(await ibid({ ...bucket, DATA_DIR: place.DATA_DIR }, 'verify-backup'), { isWhole: true, lines });
  const next = await newPlace();
  assert.equal((await ibid({ ...next, ...bucket }, 'restore')).lines[0], lines[0]);
  await s3.stop();
});

longTest('a backup or restore killed at any moment changes nothing visible, and can be repeated', async (t) => {
  const main = new URL('src/operation/cli/ibid.ts', PACKAGE).pathname;
  /** Runs a command and kills it shortly after `isUnderWay`. Returns whether it was killed. */
  const killed = async (env: Record<string, string>, command: string, isUnderWay: () => Promise<boolean>) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const child = spawn(process.execPath, [main, command], {
      env: { PATH, NODE_COMPILE_CACHE, BACKUP_URL, BACKUP_KEY_FILE, ...env },
      stdio: 'ignore',
    });
    const ended = once(child, 'close');
    await until(`${command} is under way`, async () => child.exitCode !== null || (await isUnderWay()));
    if (command === 'backup' && child.exitCode === null) {
      assert.equal(getPriority(child.pid), Math.min(getPriority() + 15, 19), 'requests come first');
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * MOMENT_MS));
    child.kill('SIGKILL');
    return (await ended)[1] === 'SIGKILL';
  };
  const backups = () => readdir(join(folder, 'backups/backups'));
  const all = (await world.db.query(sql`select 1 from users`)).length;
  let next = await newPlace();
  let db = openOwner(next.DATABASE_URL);
  const users = async () => {
    const [there] = await db.query<{ there: boolean }>(sql`select to_regclass('users') is not null as there`);
    return there?.there ? (await db.query(sql`select 1 from users`)).length : 0;
  };
  const isCopying = async () =>
    (await db.query(sql`select 1 from pg_stat_activity where datname = current_database() and query like 'copy %'`))
      .length > 0;
  const kills = { backup: 0, restore: 0 };
  while (kills.backup < KILLS || kills.restore < KILLS) {
    const before = (await backups()).length;
    kills.backup += Number(await killed(place, 'backup', async () => (await backups()).length > before));
    assert.ok((await ibid({}, 'verify-backup')).isWhole, 'the latest backup is a whole one');
    kills.restore += Number(await killed(next, 'restore', isCopying));
    if ((await until('the server has noticed', users, (count) => count === 0 || count === all)) === 0) continue;
    next = await newPlace();
    db = openOwner(next.DATABASE_URL);
  }
  t.diagnostic(JSON.stringify(kills));
  await ibid(next, 'restore');
  assert.equal(await users(), all);
});
