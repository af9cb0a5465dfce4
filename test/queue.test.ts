import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { until } from './until.ts';
import { makeDatabase, openWorld } from './world.ts';

const DATABASE_URL = await makeDatabase();
const world = await openWorld({ DATABASE_URL, DATABASE_CONNECTIONS: '10' });

/** Connections, of ten, that the writes of one workspace may use at once. */
const SHARE = 4;

/** Longer than the timeout for connecting to the database. */
const HELD_SECONDS = 6;

test("a hundred callers queue for the workspace's share of the connections, even while its lock blocks that share", async () => {
  const owner = await world.owner();
  const { workspace_id } = owner;
  const invite = `/v1/workspaces/${workspace_id}/members/invite`;
  let callers: ReturnType<typeof owner.post>[] = [];
  await world.db.transaction(async (query) => {
    await query(sql`select 1 from workspaces where workspace_id = ${workspace_id} for update`);
    callers = Array.from({ length: 100 }, (_, i) => owner.post(invite, { email: `${i}@example.com`, role: 'member' }));
    await until(
      'each connection of its share waits for the lock',
      async () => {
        const waiting = await world.db.query(sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
        return { waiting: waiting.length };
      },
      ({ waiting }) => waiting >= SHARE,
    );
    await query(sql`select pg_sleep(${HELD_SECONDS})`);
  });
  const statuses: Record<number, number> = {};
  for (const { status } of await Promise.all(callers)) statuses[status] = (statuses[status] ?? 0) + 1;
  assert.deepEqual(statuses, { 200: 100 });
});
