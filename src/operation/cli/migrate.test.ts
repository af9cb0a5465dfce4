import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../test/process.ts';
import { makeEmptyDatabase, openOwner } from '../../../test/world.ts';
import { listMigrations } from '../../platform/db/migrate.ts';
import { sql } from '../../platform/db/sql.ts';
import { readConfig } from '../config.ts';
import { runMigrateCommand } from './migrate.ts';

test('migrate --plan prints pending migrations and changes nothing; migrate applies them', async () => {
  const DATABASE_URL = await makeEmptyDatabase();
  const config = readConfig({ DATABASE_URL, DATA_DIR: join(await makeFolder(), 'data') });
  const ibid = async (...args: string[]) => {
    const lines: string[] = [];
    await runMigrateCommand(config, args, (line) => lines.push(line));
    return lines;
  };
  const all = listMigrations();
  const [last] = all.slice(-1);
  // The state that a first start leaves if it is stopped at once.
  await openOwner(DATABASE_URL).query(
    sql`create table migrations (name text collate "C" primary key, applied_at timestamptz not null default now(), works_with text)`,
  );
  for (let i = 0; i < 2; i += 1) {
    const plan = await ibid('--plan');
    assert.equal(plan.length, 1 + all.length, plan.join('\n'));
    assert.match(plan.at(-2) ?? '', new RegExp(`^${last?.name}: (one transaction|indexes|rows)`));
  }
  assert.match((await ibid()).join(), new RegExp(`^applied: .*${last?.name}$`));
  assert.deepEqual(await ibid('--plan'), ['the database is up to date']);
});
