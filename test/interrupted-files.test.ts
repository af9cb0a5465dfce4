import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/db/sql.ts';
import { openRoles } from './process.ts';
import { announce, patch } from './resumable.ts';
import { until } from './until.ts';

const { world, start } = await openRoles();
const { query } = world.db;

/** Takes seconds to compile, so that a worker can be killed meanwhile. */
const SLOW = Buffer.from('- x\n'.repeat(60_000));

test('a file whose worker ends three times fails with the reason, and the other files of its upload become pages', async () => {
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
    // Saves the time of a lease and of the pauses between attempts.
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
  assert.match(files[1]?.error ?? '', /^interrupted: the service ended 3 times/);
  const { body } = await owner.get(upload.path);
  assert.equal(body.status, 'completed');
  assert.match(body.summary, /1 file failed\. Failed: m\.md \(the service ended 3 times while it worked on the file/);
  web.kill('SIGKILL');
  await web.ended;
});
