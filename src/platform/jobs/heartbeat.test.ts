import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { until } from '../../../test/until.ts';
import type { Query } from '../db/db.ts';
import { type Sql, toStatement } from '../db/sql.ts';
import { startHeartbeat } from './heartbeat.ts';

test('a suspended process renews the lease of its worker process before it requeues the jobs of dead workers', async () => {
  const sent: string[] = [];
  let living: unknown;
  let isStill = true;
  const query = (async (statement: Sql) => {
    const { text, values } = toStatement(statement);
    if (/set status = 'queued'/.test(text)) living = values[0];
    sent.push(/set status = 'queued'/.test(text) ? 'requeue' : /update workers/.test(text) ? 'renew' : 'other');
    // As long as a process that is suspended after its first statement.
    if (isStill) await pause(3_100);
    isStill = false;
    return [];
  }) as Query;
  const heartbeat = startHeartbeat({
    query,
    worker_id: 'own',
    records: new Map(),
    unrecorded: new Set(),
    isIdle: () => true,
    supervised: () => 'other',
    log: pino({ level: 'silent' }),
  });
  await until(
    'jobs are requeued',
    () => [...sent],
    (all) => all.includes('requeue'),
  );
  await heartbeat.stop();
  assert.deepEqual(sent.slice(0, 3), ['renew', 'renew', 'requeue']);
  assert.deepEqual(living, ['own', 'other'], 'it may be suspended again before this statement');
});
