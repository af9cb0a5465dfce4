import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../../../test/world.ts';
import { type Sql, sql } from '../db/sql.ts';
import { failBackgroundJob, releaseBackgroundJob } from './background-queue.ts';
import { claimBackgroundJob } from './claim-background-job.ts';

// Without a worker, so that only these tests claim jobs.
const world = await openWorld({ ROLE: 'web' });
const { db } = world;
const KINDS = [
  { name: 'send', lane: 'mail' },
  { name: 'tidy', lane: 'maintenance' },
] as const;

const claim = () => claimBackgroundJob(db.query, KINDS, 'worker');

/** Enqueues a job for each number in the range. All are due in the past; lower numbers are due earlier. */
async function add(workspace_id: string | null, [from, to]: [number, number], name = 'send', lane = 'mail') {
  await db.query(sql`
    insert into background_jobs (name, lane, key, workspace_id, run_after)
    select ${name}, ${lane}, ${workspace_id ?? ''}::text || n, ${workspace_id}::text, now() - interval '1 day' + n * interval '1 second'
    from generate_series(${from}::int, ${to}::int) n`);
}

const clear = () => db.query(sql`delete from background_jobs`);

/** Claims `count` jobs and returns the names of their workspaces. */
async function claims(names: Record<string, string>, count: number): Promise<(string | undefined)[]> {
  const seen: (string | undefined)[] = [];
  for (let i = 0; i < count; i += 1) {
    const job = await claim();
    seen.push(job && (names[job.workspace_id ?? ''] ?? job.name));
  }
  return seen;
}

test('workspaces take turns however many jobs each has queued, and the oldest job goes first', async () => {
  const [one, two, three] = [await world.owner(), await world.owner(), await world.owner()];
  await clear();
  await add(one.workspace_id, [1, 500]);
  await add(two.workspace_id, [600, 601]);
  await add(three.workspace_id, [599, 599]);
  await add(null, [700, 700], 'tidy', 'maintenance');
  await add(null, [1, 1], 'unknown', 'mail');
  await add(null, [1_000, 1_000]);
  const names = { [one.workspace_id]: 'one', [two.workspace_id]: 'two', [three.workspace_id]: 'three' };
  assert.deepEqual(await claims(names, 8), ['one', 'tidy', 'three', 'two', 'send', 'one', 'two', 'one']);
});

test('concurrent claims take different jobs, and eventually all', async () => {
  await clear();
  const { workspace_id } = await world.owner();
  await clear();
  await add(workspace_id, [1, 30]);
  await add(null, [31, 40]);
  const taken: (string | undefined)[] = [];
  // A claim that finds only locked rows returns nothing, so the test claims again.
  for (let round = 0; round < 40 && taken.length < 40; round += 1) {
    const jobs = await Promise.all([claim(), claim(), claim(), claim()]);
    taken.push(...jobs.flatMap((job) => job?.job_id ?? []));
  }
  assert.equal(taken.length, 40);
  assert.equal(new Set(taken).size, 40);
});

test('the cost of a claim does not grow with the queue', async () => {
  const { workspace_id } = await world.owner();
  const { workspace_id: other } = await world.owner();
  const pages = async (statement: (query: typeof db.query) => Promise<unknown>) => {
    let read = 0;
    await statement(async (text: Sql) => {
      const [row] = await db.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        sql`explain (analyze, buffers, format json) ${text}`,
      );
      const plan = row?.['QUERY PLAN'][0].Plan;
      read += (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
      return [];
    });
    return read;
  };
  const claimPages = () => pages((query) => claimBackgroundJob(query, KINDS, 'worker'));
  const readAt = async (jobs: number) => {
    await clear();
    await add(workspace_id, [1, jobs]);
    await add(other, [1, 1]);
    await db.query(sql`vacuum analyze background_jobs`);
    // Start a job of each, so that the oldest queued jobs belong to a workspace with running jobs.
    for (let i = 0; i < 3; i += 1) await claim();
    return [await claimPages(), await claimPages()];
  };
  const few = Math.max(...(await readAt(300)));
  const many = Math.max(...(await readAt(20_000)));
  // A scan of the queue would read hundreds of pages. A few additional pages are entries of deleted jobs that vacuum
  // could not remove yet.
  assert.ok(many < 4 * few, `${many} pages of 20,000 jobs, ${few} of 300`);
});

test('a worker whose job was taken over neither deletes the failed job nor delays the queued one', async () => {
  await clear();
  await add(null, [1, 1]);
  const lost = await claim();
  assert.ok(lost);
  await db.query(sql`update background_jobs set status = 'queued', worker_id = null where job_id = ${lost.job_id}`);
  const current = await claim();
  assert.ok(current);
  await failBackgroundJob(db.query, current, 'the mail server refused it');
  await failBackgroundJob(db.query, lost, 'late');
  const states = () =>
    db.query(sql`select status, failures, error, run_after < now() as is_due from background_jobs order by status`);
  const [failed] = await states();
  assert.deepEqual([failed?.status, failed?.error], ['failed', 'the mail server refused it']);
  await add(null, [1, 1]);
  const before = await states();
  await releaseBackgroundJob(db.query, lost, { pauseSeconds: 600, error: 'late', countsAsFailure: true });
  assert.deepEqual(await states(), before);
});
