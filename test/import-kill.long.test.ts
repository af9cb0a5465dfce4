import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { send, zipped } from './archives.ts';
import { cleanUp } from './clean-up.ts';
import { openRestartableService, worldOfProcess } from './process.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

const PAGES = 1_500;
const KILLS = 2;

test('an import whose service is killed halfway continues and creates everything once', async () => {
  const { dataDir, address, start } = await openRestartableService();
  let service = await start();
  cleanUp(async () => void service.kill('SIGKILL'));
  const files = Array.from(
    { length: PAGES },
    (_, i) => [`f${i % 7}/page-${i}.md`, `# Page ${i}\n\n[next](../f${(i + 1) % 7}/page-${i + 1}.md)\n`] as const,
  );
  let wiki_id = '';
  let job_id = '';
  {
    using world = worldOfProcess(address, { dataDir });
    const owner = await world.owner();
    wiki_id = owner.wiki_id;
    const made = await send(owner, wiki_id, await zipped(files));
    assert.equal(made.status, 201, JSON.stringify(made.body));
    job_id = made.body.job_id;
  }
  const jobs = ({ db }: World) =>
    db.query<{ status: string; attempt: number; progress: number; error: string }>(sql`
      select status, attempt, progress, error from jobs where wiki_id = ${wiki_id} and job_id = ${job_id}`);
  for (let kill = 0; kill < KILLS; kill += 1) {
    {
      using world = worldOfProcess(address, { dataDir });
      await until(
        'the import is at work',
        async () => (await jobs(world))[0],
        (job) => job !== undefined && job.attempt > kill,
      );
      const [row] = await world.db.query<{ pages: number; is_over: boolean }>(sql`
        select (select count(*)::int from pages where wiki_id = ${wiki_id}) as pages, finished_at is not null as is_over
        from jobs where wiki_id = ${wiki_id} and job_id = ${job_id}`);
      assert.equal(row?.is_over, false, 'the import must last until it is killed: give it more pages');
      assert.equal(row?.pages, 0, 'nothing of it is visible before it is done');
    }
    service.kill('SIGKILL');
    await service.ended;
    service = await start();
  }
  using world = worldOfProcess(address, { dataDir });
  const { query } = world.db;
  const job = await until(
    'the import has ended',
    async () => (await jobs(world))[0],
    (seen) => /completed|failed/.test(seen?.status ?? ''),
  );
  assert.equal(job.status, 'completed', job.error);
  const [row] = await query<Record<string, number>>(sql`
    select count(*)::int as pages, count(distinct path)::int as paths,
      (select count(*)::int from revisions where wiki_id = ${wiki_id}) as revisions,
      (select count(*)::int from page_links where wiki_id = ${wiki_id} and to_page_id is not null) as links
    from pages where wiki_id = ${wiki_id}`);
  assert.deepEqual(row, { pages: PAGES + 7, paths: PAGES + 7, revisions: PAGES + 7, links: PAGES - 1 });
  service.kill('SIGTERM');
  await service.ended;
});
