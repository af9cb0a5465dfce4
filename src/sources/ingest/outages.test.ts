import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/until.ts';
import { makeDatabase, openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

/** Statements that match fail, to simulate an outage in the middle of an upload. */
let failing: RegExp | undefined;
let failed = 0;
const world = await openWorld(
  { DATABASE_URL: await makeDatabase() },
  {
    rewrite(text) {
      if (!failing?.test(text)) return text;
      failed += 1;
      return `select ibid_is_away() -- ${failed}`;
    },
  },
);
const { db } = world;

test('three database outages during an upload fail none of its files', async () => {
  const owner = await world.owner();
  // The error that the service sees during an outage.
  await db.transaction(async (_, runScript) =>
    runScript(`
      create function ibid_is_away() returns void language plpgsql as
        $$ begin raise exception 'away' using errcode = '57P01'; end $$;
      grant execute on function ibid_is_away to public;`),
  );
  // The database is available when the job starts, but not when it writes pages or reverts its attempts.
  failing = /insert into sources|begun_by = null\s+where \S+ = \$\d+ and \S+ = \$\d+ and f.file_no/;
  const body = new FormData();
  for (const name of ['a.md', 'b.md']) body.append('files', new Blob([`# ${name}\n`]), name);
  const { body: upload } = await owner.send('POST', `/v1/wikis/${owner.wiki_id}/uploads`, { body });
  const attempts = async () => (await db.query<{ attempt: number }>(sql`select attempt from jobs`))[0]?.attempt ?? 0;
  for (let outage = 1; outage <= 4; outage += 1) {
    await until('an attempt has ended', attempts, (seen) => seen > outage);
    await db.query(sql`update jobs set run_after = now() where status = 'queued'`);
  }
  failing = undefined;
  await db.query(sql`update jobs set run_after = now() where status = 'queued'`);
  const ended = await until(
    'the upload has ended',
    async () => (await owner.get(`/v1/wikis/${owner.wiki_id}/uploads/${upload.upload_id}`)).body,
    ({ finished_at }) => finished_at !== undefined,
  );
  assert.deepEqual([ended.status, ended.source_count], ['completed', 2], JSON.stringify(ended));
  assert.ok(failed > 3);
});
