import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listMigrations, migrate } from '../src/platform/db/migrate.ts';
import { sql } from '../src/platform/db/sql.ts';
import { fillTables, openMigrator, underLoad } from './migration-load.ts';
import { until } from './until.ts';
import { makeEmptyDatabase, openOwner } from './world.ts';

/** The first migration after the baseline, which only runs on new databases. */
const FIRST = '002';

/** Longest wait of a request for a migration that passes, in milliseconds. */
const NOTICED_MS = 1_000;

const database = await makeEmptyDatabase();
const observer = openOwner(database);
const ran: string[] = [];
const migrator = openMigrator(database, (text) => ran.push(text));
const all = listMigrations();
const released = all.filter(({ name }) => name < FIRST);
await migrate(migrator, released);
await fillTables(observer);

for (const [i, { name }] of all.entries()) {
  if (name < FIRST) continue;
  test(`${name} blocks no request while it is applied to 100,000 pages`, async (t) => {
    const waited = await underLoad(database, observer, async () => {
      assert.deepEqual(await migrate(migrator, all.slice(0, i + 1)), [name]);
    });
    t.diagnostic(`a request waited ${waited.toFixed(0)} ms at most`);
    assert.ok(waited < NOTICED_MS, `a request waited ${waited.toFixed(0)} ms for a lock of the migration`);
  });
}

test('a migration that waits for a long transaction blocks no request', async (t) => {
  const alter = { name: '998_alter.sql', text: 'alter table pages add column more int; alter table jobs add more int' };
  const waited = await underLoad(database, observer, async () => {
    const migrating = await observer.transaction(async (query) => {
      await query(sql`select 1 from jobs limit 1`);
      const done = migrate(migrator, [...all, alter]);
      await until(
        'it was tried five times',
        () => ran.filter((text) => text === alter.text).length,
        (tries) => tries >= 5,
      );
      return { done };
    });
    assert.deepEqual(await migrating.done, [alter.name]);
  });
  t.diagnostic(`a request waited ${waited.toFixed(0)} ms at most`);
  assert.ok(waited < NOTICED_MS, `a request waited ${waited.toFixed(0)} ms for a lock of the migration`);
  await observer.query(sql`delete from migrations where name = ${alter.name}`);
});

test('a migration that locks pages for long is detected', async () => {
  const lock = { name: '999_lock.sql', text: 'lock table pages; select pg_sleep(3)' };
  const waited = await underLoad(database, observer, async () => {
    assert.deepEqual(await migrate(migrator, [...all, lock]), [lock.name]);
  });
  assert.ok(waited >= NOTICED_MS, `a request waited only ${waited.toFixed(0)} ms`);
});

test('an index finds an address among the invitations of all workspaces', async () => {
  const [called] = await observer.query<{ body: string }>(
    sql`select prosrc as body from pg_proc where proname = 'is_invited'`,
  );
  await observer.transaction(async (query, runScript) => {
    await runScript(`prepare invited as ${called?.body.replace(/\baddress\b/, '$1')}`);
    const plan = JSON.stringify(await query(sql`explain (format json) execute invited('x@example.com')`));
    assert.match(plan, /"Index Name":"invitations_by_email"/, plan);
  });
});
