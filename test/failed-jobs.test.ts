import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { longTest } from './extent.ts';
import { startMailServer } from './mail-server.ts';
import { until } from './until.ts';
import { makeDatabase, openWorld } from './world.ts';

const DATABASE_URL = await makeDatabase();
const mail = await startMailServer();
cleanUp(() => mail.stop());
const world = await openWorld({ DATABASE_URL, SMTP_URL: mail.url });

async function ibid(...args: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
  const options = { env: { PATH: process.env.PATH, DATABASE_URL } };
  const command = fileURLToPath(new URL('bin/ibid', PACKAGE));
  return promisify(execFile)(process.execPath, [command, ...args], options).then(
    (answer) => ({ ...answer, code: 0 }),
    (error) => error,
  );
}

longTest(
  'a message without attempts left is listed with its error, and is sent when the operator retries it',
  async () => {
    const owner = await world.owner();
    const email = 'colleague@example.com';
    const path = `/v1/workspaces/${owner.workspace_id}`;
    mail.refuse(451);
    assert.equal((await owner.post(`${path}/members/invite`, { email, role: 'member' })).status, 200);
    // Its ten attempts would take an hour.
    await until(
      'an attempt has failed',
      async () =>
        world.db.query(sql`
      update background_jobs set failures = 9, run_after = now()
      where name = 'send-invitation-mail' and status = 'queued' and failures > 0 returning 1`),
      ({ length }) => length === 1,
    );
    const mailStatus = async () => (await owner.get(`${path}/invitations`)).body[0]?.mail_status;
    await until('it has failed for good', mailStatus, (status) => status === 'failed');

    const { stdout } = await until(
      'the job is listed',
      () => ibid('jobs'),
      ({ stdout }) => stdout !== '',
    );
    const [line = '', ...others] = stdout.trimEnd().split('\n');
    assert.deepEqual(others, []);
    const [job_id = '', name, tenant, failed_at, error] = line.split('\t');
    assert.deepEqual([name, tenant], ['send-invitation-mail', owner.workspace_id]);
    assert.match(String(failed_at), /^\d{4}-\d\d-\d\dT/);
    assert.match(String(error), /mail server deferred the message/);

    mail.accept();
    assert.equal((await ibid('jobs', 'retry', job_id)).stdout, `${job_id} is queued again\n`);
    const { body: events } = await owner.get(`${path}/audit-events?type=job.retried`);
    assert.deepEqual(
      [events.length, events[0]?.target_id, events[0]?.credential_kind],
      [1, job_id, 'command'],
      'the workspace sees that its job was run again',
    );
    await mail.sentTo(email);
    await until('the sender sees it', mailStatus, (status) => status === 'sent');
    assert.equal((await ibid('jobs')).stdout, '');
    const again = await ibid('jobs', 'retry', job_id);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /no failed job/);
  },
);

test('a failed job is deleted instead of retried if a newer job with its key is queued', async () => {
  await world.db.query(sql`
    insert into background_jobs (job_id, name, lane, key, status, run_after) values
      ('failed', 'of-another-release', 'mail', 'a', 'failed', now()), ('newer', 'of-another-release', 'mail', 'a', 'queued', now())`);
  assert.match((await ibid('jobs', 'retry', 'failed')).stdout, /removed/);
  assert.deepEqual(await world.db.query(sql`select job_id from background_jobs where name = 'of-another-release'`), [
    { job_id: 'newer' },
  ]);
});
