import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { open, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { openDb } from '../src/platform/db/db.ts';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { skipUnless } from './needs.ts';
import { freePort, makeFolder, spawnService, worldOfProcess } from './process.ts';
import { until } from './until.ts';

const run = promisify(execFile);

const disk = await makeFolder();
/** Mounting a disk needs root and Linux, and some containers forbid it. */
const isMounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=640m,mode=755', 'tmpfs', disk]).then(
  () => true,
  () => false,
);
if (isMounted) cleanUp(() => run('umount', ['--lazy', disk]).then(() => undefined));

const MIB = 2 ** 20;

test('on a full disk writes are 503 and leave no partial data, reads work, and freed space restores writes', {
  skip: skipUnless(
    isMounted,
    'Run it as root on Linux, with CAP_SYS_ADMIN in a container: it mounts a disk of its own.',
  ),
}, async (t) => {
  const dataDir = join(disk, 'data');
  const port = await freePort();
  const service = spawnService({ PORT: String(port), DATA_DIR: dataDir });
  await service.ready;
  using world = worldOfProcess(`http://127.0.0.1:${port}`, { dataDir });
  const owner = await world.owner();
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const upload = (files: Record<string, string>) => {
    const form = new FormData();
    for (const [name, text] of Object.entries(files)) form.append('files', new Blob([text]), name);
    return owner.send('POST', `${wiki}/uploads`, { body: form });
  };
  const made = await owner.post(`${wiki}/pages`, { title: 'Kept', markdown: 'It stays.' });
  assert.equal(made.status, 201);
  const page = `${wiki}/pages/${made.body.page_id}`;
  const rename = async () => (await owner.patch(page, { title: 'Kept' })).status;

  await t.test('files that do not fit are 503, and leave no upload and no partial file', async () => {
    const [uploads, files] = [
      (await owner.get(`${wiki}/uploads`)).body,
      await readdir(join(dataDir, 'blobs', 'incoming')),
    ];
    await leaveFree(disk, 280);
    const large = 'word '.repeat(16 * MIB);
    const { status, body } = await upload({ 'a.txt': large, 'b.txt': large, 'c.txt': large, 'd.txt': large });
    assert.equal(status, 503, JSON.stringify(body));
    assert.equal(body.error, 'storage_unavailable');
    assert.deepEqual((await owner.get(`${wiki}/uploads`)).body, uploads);
    assert.deepEqual(await readdir(join(dataDir, 'blobs', 'incoming')), files);
  });

  await t.test('writes are 503 while reads succeed', async () => {
    await leaveFree(disk, 200);
    await until('writes are refused', rename, (status) => status === 503);
    for (const refused of [
      await owner.patch(page, { title: 'Lost' }),
      await owner.post(`${wiki}/pages`, { title: 'Lost', markdown: '' }),
      await owner.send('DELETE', page),
      await upload({ 'small.md': '# Small\n' }),
    ]) {
      assert.equal(refused.status, 503);
      assert.equal(refused.body.error, 'storage_unavailable');
    }
    for (const path of [page, `${wiki}/pages/search?query=stays`, `${wiki}/uploads`, '/v1/overview']) {
      assert.equal((await owner.get(path)).status, 200, path);
    }
    assert.equal((await owner.get(page)).body.title, 'Kept');
  });

  await t.test('the service continues by itself after space is freed', async () => {
    await rm(join(disk, 'filler'));
    await until('writes are taken', rename, (status) => status !== 503);
    const { body: ended } = await world.upload(owner, owner.wiki_id, { 'small.md': '# Small\n' });
    assert.equal(ended.status, 'completed', JSON.stringify(ended));
    assert.equal(service.isOver(), false);
    service.kill('SIGTERM');
    await service.ended;
  });

  await t.test('WAL that the backup storage refuses is dropped before it fills the disk', async () => {
    const away = { BACKUP_URL: 'file:///dev/null/backups', BACKUP_WAL: '7d' };
    const archiving = spawnService({ PORT: String(port), DATA_DIR: dataDir, ...away });
    await archiving.ready;
    using again = worldOfProcess(`http://127.0.0.1:${port}`, { dataDir });
    const connection = { ...runningPostgres(dataDir), user: SUPERUSER };
    const superuser = openDb({ connection, connections: 1, onConnectionLost: () => undefined });
    await superuser.query(sql`select pg_switch_wal()`);
    await superuser.close();
    const gap = () => again.db.query(sql`select 1 from wal_archive where gap_at is not null`);
    await until('it is given up', gap, (rows) => rows.length === 1);
    await until(
      'nothing waits',
      () => readdir(join(dataDir, 'postgres-wal')),
      (left) => left.length === 0,
    );
    await until(
      'the log says so',
      async () => archiving.stdout(),
      (text) => /"isPaused":false.*WAL that was waiting to be stored was discarded/.test(text),
    );
    const written = await again.as(owner.token).post(`${wiki}/pages`, { title: 'Kept on', markdown: '' });
    assert.equal(written.status, 201);
  });
});

/** Fills the disk until this many MiB are free. */
async function leaveFree(disk: string, mib: number): Promise<void> {
  const filler = await open(join(disk, 'filler'), 'a');
  try {
    const { bavail, bsize } = await statfs(disk);
    const zeros = Buffer.alloc(MIB);
    for (let left = bavail * bsize - mib * MIB; left > 0; left -= zeros.length) await filler.write(zeros);
  } finally {
    await filler.close();
  }
}
