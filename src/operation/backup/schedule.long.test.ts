import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort, makeFolder, spawnService, worldOfProcess } from '../../../test/process.ts';
import { until } from '../../../test/until.ts';
import { makeDatabase } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';
import { runBackupCommand } from '../cli/backup.ts';
import { readConfig } from '../config.ts';
import { makeScheduledBackup } from './make-backup.job.ts';

const folder = await makeFolder();
const env = {
  DATABASE_URL: await makeDatabase(),
  DATA_DIR: join(folder, 'data'),
  BACKUP_URL: `file://${folder}/backups`,
  BACKUP_RETENTION: 'daily=1',
};

interface Status {
  last_outcome: string;
  last_backup_id: string;
  last_error: string;
}

test('backups run when due and not before, older ones are pruned, and failures are recorded', async () => {
  const port = String(await freePort());
  const service = spawnService({ ...env, PORT: port, BACKUP_SCHEDULE: '1h' });
  await service.ready;
  using world = worldOfProcess(`http://127.0.0.1:${port}`, env.DATABASE_URL);
  const { db } = world;
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A' });
  const status = async () => (await db.query<Status>(sql`select * from backup_status`))[0];
  const look = async () => {
    await db.query(sql`${makeScheduledBackup.enqueue({}, sql`(select)`)} returning 1`);
    const waiting = sql`select status, failures from background_jobs where name = 'make-backup' and status <> 'failed'`;
    await until(
      'the job has run',
      () => db.query(waiting),
      (rows) => rows.length === 0,
    );
  };
  const first = await until('a backup is made without being asked for', status);
  assert.equal(first?.last_outcome, 'succeeded', first?.last_error);
  await look();
  assert.deepEqual(await status(), first, 'none is made while that is new enough');

  await db.query(sql`update backup_status set last_made_at = now() - interval '61 minutes'`);
  await look();
  const second = await status();
  assert.notEqual(second?.last_backup_id, first?.last_backup_id, service.stdout());
  assert.deepEqual(await readdir(join(folder, 'backups/backups')), [second?.last_backup_id], 'one of a day is kept');
  assert.ok(await runBackupCommand(readConfig(env), ['verify-backup'], () => undefined), 'and is whole');

  const NO_FOLDER = /EEXIST|ENOTDIR/;
  const nowhere = { ...env, BACKUP_URL: 'file:///dev/null/backups' };
  await assert.rejects(
    runBackupCommand(readConfig(nowhere), ['backup'], () => undefined),
    NO_FOLDER,
  );
  const failed = await status();
  assert.deepEqual([failed?.last_outcome, failed?.last_backup_id], ['failed', second?.last_backup_id]);
  assert.match(failed?.last_error ?? '', NO_FOLDER);
  service.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
});
