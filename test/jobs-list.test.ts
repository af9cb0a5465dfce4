import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JOBS } from '../src/app.ts';
import { isRecordJob, LANES } from '../src/platform/jobs/define-job.ts';
import { Job } from '../src/platform/jobs/schema.ts';

test('each job has a unique name, and each lane has jobs', () => {
  const names = JOBS.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
  assert.deepEqual(new Set(JOBS.map(({ lane }) => lane)), new Set(Object.keys(LANES)));
});

test('every kind of public job in the API can run, except a kind that only old records have', () => {
  const kinds = JOBS.filter(isRecordJob).map(({ name }) => name);
  const named = (Job.properties.kind as unknown as { enum: string[] }).enum;
  assert.deepEqual(named.toSorted(), [...kinds, 'compile'].toSorted());
});

test("a job scheduled for tenants is one job per tenant, and a tenant's job never runs twice at once", () => {
  for (const job of JOBS) {
    if (isRecordJob(job) || job.every === undefined) continue;
    assert.equal(job.key, 'tenant', job.name);
    if (job.for === 'service') assert.equal(job.due, undefined, `${job.name}: the service itself has one job`);
    else
      assert.ok(
        job.due && ['wiki', 'workspace'].includes(job.for),
        `${job.name}: define by \`due\` which tenants have work`,
      );
  }
});
