import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../test/process.ts';
import { makeEmptyDatabase, openOwner } from '../../test/world.ts';
import { readConfig } from '../config.ts';
import { listMigrations, migrate } from '../db/migrate.ts';
import { runMigrateCommand } from './migrate.ts';

test('migrate --plan says what is pending and changes nothing; migrate applies it, and then nothing is pending', async () => {
  const DATABASE_URL = await makeEmptyDatabase();
  const config = readConfig({ DATABASE_URL, DATA_DIR: join(await makeFolder(), 'data') });
  const ibid = async (...args: string[]) => {
    const lines: string[] = [];
    await runMigrateCommand(config, args, (line) => lines.push(line));
    return lines;
  };
  const all = listMigrations();
  const [last] = all.slice(-1);
  await migrate(openOwner(DATABASE_URL), all.slice(0, -2));
  for (let i = 0; i < 2; i += 1) {
    const plan = await ibid('--plan');
    assert.equal(plan.length, 3, plan.join('\n'));
    assert.match(plan[1] ?? '', new RegExp(`^${last?.name}: (one transaction|indexes|rows).*; .*go(es)? on$`));
  }
  assert.match((await ibid()).join(), new RegExp(`^applied: .*${last?.name}$`));
  assert.deepEqual(await ibid('--plan'), ['the database is up to date']);
});
