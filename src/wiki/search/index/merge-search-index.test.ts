import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Owner, openWorld } from '../../../../test/world.ts';
import type { Db } from '../../../platform/db/db.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';
import { mergePending } from './merge-pending.ts';
import { mergeSearchIndex } from './merge-search-index.job.ts';

// A web process runs no jobs, so that only these tests merge.
const world = await openWorld({ ROLE: 'web' });
const { db } = world;
const due = mergeSearchIndex.due ?? sql``;

/** Replaces the pending documents of a wiki with rows that are this many seconds old. */
async function wait({ wiki_id }: { wiki_id: string }, documents: number, seconds: number): Promise<void> {
  await db.query(sql`delete from search_pending where wiki_id = ${wiki_id}`);
  await db.query(sql`
    insert into search_pending (wiki_id, kind, document_id, version, created_at)
    select ${wiki_id}, 'page', 'page_' || n, 1, now() - make_interval(secs => ${seconds})
    from generate_series(1, ${documents}::int) n`);
}

test('a merge is due for wikis with many pending documents or an old one, and for no others', async () => {
  const [few, many, old] = [await world.owner(), await world.owner(), await world.owner()];
  await wait(few, 31, 0);
  await wait(many, 32, 0);
  await wait(old, 1, 60);
  const found = (await db.query<{ wiki_id: string }>(due)).map(({ wiki_id }) => wiki_id);
  assert.deepEqual(found.sort(), [many.wiki_id, old.wiki_id].sort());
});

test('the cost of finding due wikis does not grow with the number of pending documents', async () => {
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

/** Creates a wiki whose pages have no computed terms, as after an upgrade of the analysis. */
async function withoutTerms(pages: number): Promise<Owner> {
  const owner = await world.owner();
  for (let i = 0; i < pages; i += 1) {
    const page = { title: `Sluice ${i}`, markdown: `The weir of place ${i}.` };
    assert.equal((await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, page)).status, 201);
  }
  await db.query(sql`update search_pending set analysis = 0 where wiki_id = ${owner.wiki_id}`);
  return owner;
}

const waiting = async ({ wiki_id }: Owner) =>
  (await db.query(sql`select from search_pending where wiki_id = ${wiki_id}`)).length;
const found = async (owner: Owner) =>
  (await owner.get(`/v1/wikis/${owner.wiki_id}/pages/search?query=weir`)).body.length;

test('a slow merge is not aborted by the timeout of idle transactions', async () => {
  const owner = await withoutTerms(2);
  const slow: Db = {
    query: db.query,
    transaction: (work) =>
      db.transaction(async (query) => {
        await query(sql`select set_config('idle_in_transaction_session_timeout', '50', true)`);
        return work(async <T>(statement: Sql) => {
          const rows = await query<T>(statement);
          await sleep(200);
          return rows;
        });
      }),
  };
  assert.ok((await mergePending(slow, owner.wiki_id, 'page', 'wait')) > 0);
  assert.deepEqual([await waiting(owner), await found(owner)], [0, 2]);
});

test('a machine that can compute only one document within the time limit merges one at a time', async () => {
  const owner = await withoutTerms(3);
  for (const left of [2, 1, 0]) {
    assert.equal(await mergePending(db, owner.wiki_id, 'page', 'wait', 0), 1);
    assert.equal(await waiting(owner), left);
  }
  assert.equal(await mergePending(db, owner.wiki_id, 'page', 'wait', 0), 0);
  assert.equal(await found(owner), 3);
});

test('a failed batch is retried at half its size, and later batches grow again', async () => {
  const owner = await withoutTerms(6);
  await db.query(sql`delete from search_pending where wiki_id = ${owner.wiki_id} and version > 1`);
  const pending = await waiting(owner);
  // Simulates a connection that is lost because an answer takes too long.
  const lost: Db = { query: db.query, transaction: () => Promise.reject(new Error('the connection is lost')) };
  await assert.rejects(mergePending(lost, owner.wiki_id, 'page', 'wait'));
  await assert.rejects(mergePending(lost, owner.wiki_id, 'page', 'wait'));
  const quarter = Math.floor(Math.floor(pending / 2) / 2);
  for (const size of [quarter, 2 * quarter, pending - 3 * quarter]) {
    assert.equal(await mergePending(db, owner.wiki_id, 'page', 'wait'), size);
  }
  assert.equal(await found(owner), 6);
});

test('documents merged by others while their terms are computed are not merged again, and never replaced by an earlier text', async () => {
  const owner = await withoutTerms(3);
  const [page] = (await owner.get(`/v1/wikis/${owner.wiki_id}/pages`)).body;
  const late: Db = {
    query: db.query,
    transaction: async (work) => {
      // The terms are computed by now. Edit the page, and let another merge empty the queue.
      const edit = { base_revision: page.revision, markdown: 'A barrage.' };
      const { status } = await owner.patch(`/v1/wikis/${owner.wiki_id}/pages/${page.page_id}`, edit);
      assert.equal(status, 200);
      while ((await mergePending(db, owner.wiki_id, 'page', 'wait')) > 0);
      return db.transaction(work);
    },
  };
  await mergePending(late, owner.wiki_id, 'page', 'wait');
  assert.equal(await found(owner), 2);
  const [index] = await db.query(
    sql`select documents from search_wikis where wiki_id = ${owner.wiki_id} and kind = 'page'`,
  );
  const pages = (await owner.get(`/v1/wikis/${owner.wiki_id}/pages`)).body.length;
  assert.deepEqual([index, await waiting(owner)], [{ documents: pages }, 0]);
});
