import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/until.ts';
import { makeDatabase, openWorld } from '../../../test/world.ts';
import { sql } from '../db/sql.ts';
import { enqueueDue, requeueFailedJob } from './background-queue.ts';
import { pruneOldRateLimitCounts } from './prune-rate-limit-counts.job.ts';

const { db } = await openWorld({ DATABASE_URL: await makeDatabase() });
const { name, lane } = pruneOldRateLimitCounts;
const ofJob = sql`name = ${name}`;

const jobs = () =>
  db.query<{ job_id: string; status: string; crashes: number; error: string }>(sql`
    select job_id, status, crashes, error from background_jobs where ${ofJob}`);

const schedule = () => db.query(sql`update schedules set due_at = now() where name = ${name}`);

/** Enqueues a job whose worker is gone; `worker_id` is null if only its end could not be recorded. */
async function lose(crashes: number, worker_id: string | null): Promise<void> {
  await until('no such job is there', async () => (await jobs()).length === 0);
  await db.query(sql`
    insert into background_jobs (name, lane, key, input, status, attempt, failures, crashes, worker_id)
    values (${name}, ${lane}, '', '{}', 'running', 9, 9, ${crashes}, ${worker_id})`);
  await until('the job is queued again', jobs, ([job]) => job?.status !== 'running');
  await db.query(sql`update background_jobs set run_after = now() where ${ofJob}`);
}

test('a job whose process ended twice, or whose end could not be recorded, is retried', async () => {
  await lose(1, 'a worker that is gone');
  await lose(2, null);
  await until('the job has completed', async () => (await jobs()).length === 0);
});

test('a job whose process ended three times fails, is not scheduled again, and runs when the operator retries it', async () => {
  await lose(2, 'a worker that is gone');
  const [job] = await until('the job is given up', jobs, ([seen]) => seen?.status === 'failed');
  assert.deepEqual([job?.crashes, job?.error], [3, 'every process that ran it ended']);
  await schedule();
  await enqueueDue(db.query, pruneOldRateLimitCounts);
  assert.equal((await jobs()).length, 1);
  assert.equal((await requeueFailedJob(db.query, job?.job_id ?? ''))?.result, 'queued');
  await until('the job has completed', async () => (await jobs()).length === 0);
  await schedule();
  assert.equal(await enqueueDue(db.query, pruneOldRateLimitCounts), 1);
});
