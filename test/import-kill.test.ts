import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/db/sql.ts';
import { send, zipped } from './archives.ts';
import { cleanUp, serviceInAPlace, until, worldOfProcess } from './process.ts';

const PAGES = 1_500;
const KILLS = 2;

test('an import whose service is killed in the middle is taken up again and makes everything once', async () => {
  const { data_dir, address, start } = await serviceInAPlace();
  let service = await start();
  cleanUp(async () => void service.kill('SIGKILL'));
  const files = Array.from(
    { length: PAGES },
    (_, i) => [`f${i % 7}/page-${i}.md`, `# Page ${i}\n\n[next](../f${(i + 1) % 7}/page-${i + 1}.md)\n`] as const,
  );
  let wiki_id = '';
  let job_id = '';
  {
    using world = worldOfProcess(address, { data_dir });
    const owner = await world.owner();
    wiki_id = owner.wiki_id;
    const made = await send(owner, wiki_id, await zipped(files));
    assert.equal(made.status, 201, JSON.stringify(made.body));
    job_id = made.body.job_id;
  }
  for (let kill = 0; kill < KILLS; kill += 1) {
    {
      using world = worldOfProcess(address, { data_dir });
      await until('the import is at work', async () => {
        const [row] = await world.db.query<{ attempt: number }>(sql`
          select attempt from jobs where wiki_id = ${wiki_id} and job_id = ${job_id}`);
        return (row?.attempt ?? 0) > kill;
      });
      const [row] = await world.db.query<{ pages: number; is_over: boolean }>(sql`
        select (select count(*)::int from pages where wiki_id = ${wiki_id}) as pages, finished_at is not null as is_over
        from jobs where wiki_id = ${wiki_id} and job_id = ${job_id}`);
      assert.equal(row?.is_over, false, 'the import must last until it is killed: give it more pages');
      assert.equal(row?.pages, 0, 'nothing of it is seen before it is done');
    }
    service.kill('SIGKILL');
    await service.ended;
    service = await start();
  }
  using world = worldOfProcess(address, { data_dir });
  const { query } = world.db;
  await until('the import has ended', async () => {
    const [row] = await query<{ status: string; error: string }>(sql`
      select status, error from jobs where wiki_id = ${wiki_id} and job_id = ${job_id}`);
    assert.notEqual(row?.status, 'failed', row?.error);
    return row?.status === 'completed';
  });
  const [row] = await query<Record<string, number>>(sql`
    select count(*)::int as pages, count(distinct path)::int as paths,
      (select count(*)::int from revisions where wiki_id = ${wiki_id}) as revisions,
      (select count(*)::int from page_links where wiki_id = ${wiki_id} and to_page_id is not null) as links
    from pages where wiki_id = ${wiki_id}`);
  assert.deepEqual(row, { pages: PAGES + 7, paths: PAGES + 7, revisions: PAGES + 7, links: PAGES - 1 });
  service.kill('SIGTERM');
  await service.ended;
});
