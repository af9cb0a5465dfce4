import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../../../test/world.ts';
import { sql } from '../../db/sql.ts';
import { mergeSearchIndex } from './merge-search-index.job.ts';

// Nothing is merged but what these tests ask for.
const world = await openWorld({ ROLE: 'web' });
const { db } = world;
const due = mergeSearchIndex.due ?? sql``;

/** Lets documents of a wiki wait for this many seconds. */
async function wait({ wiki_id }: { wiki_id: string }, documents: number, seconds: number): Promise<void> {
  await db.query(sql`delete from search_pending where wiki_id = ${wiki_id}`);
  await db.query(sql`
    insert into search_pending (wiki_id, kind, document_id, version, created_at)
    select ${wiki_id}, 'page', 'page_' || n, 1, now() - make_interval(secs => ${seconds})
    from generate_series(1, ${documents}::int) n`);
}

test('wikis of which many documents wait, or one for long, are merged, and no others', async () => {
  const [few, many, old] = [await world.owner(), await world.owner(), await world.owner()];
  await wait(few, 31, 0);
  await wait(many, 32, 0);
  await wait(old, 1, 60);
  const found = (await db.query<{ wiki_id: string }>(due)).map(({ wiki_id }) => wiki_id);
  assert.deepEqual(found.sort(), [many.wiki_id, old.wiki_id].sort());
});

test('what is read each second to find them does not grow with the documents that wait', async () => {
  const owner = await world.owner();
  const pagesRead = async (documents: number) => {
    await wait(owner, documents, 0);
    await db.query(sql`vacuum analyze search_pending`);
    const [row] = await db.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      sql`explain (analyze, buffers, format json) ${due}`,
    );
    const plan = row?.['QUERY PLAN'][0].Plan;
    return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
  };
  await pagesRead(100);
  const few = await pagesRead(100);
  const many = await pagesRead(20_000);
  assert.ok(many < 2 * few, `${many} pages of 20,000 documents, ${few} of 100`);
});
