import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { openRoles } from './process.ts';
import { announce, patch } from './resumable.ts';
import { until } from './until.ts';

const { world, start } = await openRoles();
const { query } = world.db;

/** A file that takes seconds to compile, so that a worker can be killed during it. */
const SLOW = Buffer.from('- x\n'.repeat(60_000));

test('a file whose worker dies three times fails with the reason, and the other files of its upload become pages', async () => {
  const web = await start('web');
  const owner = await world.owner();
  const contents = { 'a.md': Buffer.from('# A\n'), 'm.md': SLOW, 'z.md': Buffer.from('# Z\n') };
  const upload = await announce(owner, owner.wiki_id, contents);
  for (const { path, content } of upload.files) await patch(owner, path, 0, content);
  await owner.post(`${upload.path}/complete`);
  const stateOf = async () => {
    const [row] = await query<{ attempts: number; status: string; job: string }>(sql`
      select f.attempts, f.status, j.status as job from upload_files f join jobs j using (upload_id)
      where f.upload_id = ${upload.upload_id} and f.filename = 'm.md'`);
    assert.ok(row);
    return row;
  };

  let kills = 0;
  for (;;) {
    const worker = await start('worker');
    const { attempts: before } = await stateOf();
    const { job } = await until(
      'the file is begun, or the upload has ended',
      stateOf,
      ({ attempts, job }) => attempts > before || job === 'completed' || job === 'failed',
    );
    worker.kill('SIGKILL');
    await worker.ended;
    if (job === 'completed' || job === 'failed') break;
    kills += 1;
    assert.ok(kills <= 3, 'it must be given up after the third time');
    // Do not wait for the lease to expire, nor for the pauses between attempts.
    await query(sql`delete from workers`);
    await query(sql`update jobs set run_after = now() where status = 'queued'`);
  }
  assert.equal(kills, 3);
  const files = await query<{ filename: string; status: string; error: string }>(sql`
    select filename, status, error from upload_files where upload_id = ${upload.upload_id} order by filename`);
  assert.deepEqual(
    files.map(({ filename, status }) => [filename, status]),
    [
      ['a.md', 'done'],
      ['m.md', 'failed'],
      ['z.md', 'done'],
    ],
  );
  assert.match(files[1]?.error ?? '', /^interrupted: the service stopped 3 times/);
  const { body } = await owner.get(upload.path);
  assert.equal(body.status, 'completed');
  assert.match(body.summary, /1 file failed\. Failed: m\.md \(the service stopped 3 times while processing the file/);
  web.kill('SIGKILL');
  await web.ended;
});

test('if two files were in work when workers died, only the file that kills a worker alone fails', async () => {
  const web = await start('web');
  const uploads: string[] = [];
  for (const name of ['first', 'second']) {
    const owner = await world.owner();
    const upload = await announce(owner, owner.wiki_id, { [`${name}.md`]: SLOW });
    for (const { path, content } of upload.files) await patch(owner, path, 0, content);
    await owner.post(`${upload.path}/complete`);
    uploads.push(upload.upload_id);
  }
  const files = () =>
    query<{ attempts: number; status: string }>(sql`
      select attempts, status from upload_files where upload_id = any (${uploads}::text[]) order by upload_id`);
  /** Waits until all jobs were taken, and then for a while longer. */
  const areTaken = async () => {
    const waiting = () => query(sql`select from jobs where upload_id = any (${uploads}::text[]) and status = 'queued'`);
    await until('the worker has taken both jobs', waiting, ({ length }) => length === 0);
    let looks = 0;
    await until('the second one would be in work, too', files, () => ++looks === 10);
  };
  const kill = async (what: string, isReached: (attempts: number[]) => boolean) => {
    const worker = await start('worker');
    await until(what, files, (rows) => isReached(rows.map(({ attempts }) => attempts)));
    await areTaken();
    const seen = await files();
    worker.kill('SIGKILL');
    await worker.ended;
    await query(sql`delete from workers`);
    await query(sql`update jobs set run_after = now() where status = 'queued'`);
    return seen.map(({ attempts }) => attempts);
  };
  assert.deepEqual(await kill('both are in work', (attempts) => attempts.every((n) => n === 1)), [1, 1]);
  assert.deepEqual(await kill('both are in work again', (attempts) => attempts.every((n) => n === 2)), [2, 2]);
  const alone = await kill('one of them is in work', (attempts) => attempts.includes(3));
  assert.deepEqual(alone.toSorted(), [2, 3], 'the other one waits until it has the process for itself');
  const worker = await start('worker');
  const ended = await until('both have ended', files, (rows) => rows.every(({ status }) => status !== 'pending'));
  assert.deepEqual(
    ended.map(({ status }) => status),
    alone.map((attempts) => (attempts === 3 ? 'failed' : 'done')),
  );
  for (const service of [worker, web]) service.kill('SIGKILL');
  for (const service of [worker, web]) await service.ended;
});

test('a file in work does not count as a cause when the service is killed or its worker is stopped', async () => {
  for (const [role, signal] of [
    ['all', 'SIGKILL'],
    ['worker', 'SIGTERM'],
  ] as const) {
    const web = role === 'worker' ? await start('web') : undefined;
    const service = await start(role);
    const owner = await world.owner();
    const upload = await announce(owner, owner.wiki_id, { [`${role}.md`]: SLOW });
    for (const { path, content } of upload.files) await patch(owner, path, 0, content);
    await owner.post(`${upload.path}/complete`);
    const stateOf = async () => {
      const [row] = await query<{ attempts: number; status: string }>(sql`
        select attempts, status from upload_files where upload_id = ${upload.upload_id}`);
      return row;
    };
    await until('the file is in work', stateOf, (row) => row?.attempts === 1);
    service.kill(signal);
    const taken = await until('its attempt is taken back', stateOf, (row) => row?.attempts === 0);
    assert.equal(taken?.status, 'pending');
    service.kill('SIGKILL');
    await service.ended;
    web?.kill('SIGKILL');
    await web?.ended;
  }
});
