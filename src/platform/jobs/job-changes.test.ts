import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Query } from '../db/db.ts';
import { openJobChanges } from './job-changes.ts';

const job = { wiki_id: 'wiki_1', job_id: 'job_1' };

test('a reader that stops watching twice does not stop other readers of the same job', async () => {
  const query = (async () => [{ job_id: job.job_id, version: '1' }]) as Query;
  const changes = openJobChanges(query, (error) => assert.fail(String(error)));
  const stopFirst = changes.watch(job, () => undefined);
  stopFirst();
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const stopSecond = changes.watch(job, resolve);
  stopFirst();
  await told;
  stopSecond();
});
