import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, readConfig } from '../src/config.ts';
import { openServiceDb } from '../src/db/db.ts';
import { SERVICE } from '../src/db/request-context.ts';
import { sql } from '../src/db/sql.ts';
import { toApiError } from '../src/http/to-api-error.ts';
import { cleanUp } from './clean-up.ts';
import { startPostgresPair } from './postgres-pair.ts';
import { until } from './until.ts';
import { openWorld } from './world.ts';

const { primary, standby, user, database } = await startPostgresPair();
// The standby comes first: the service has to find the primary by itself.
const servers = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
const DATABASE_URL = `postgres://${user}@${servers}/${database}?target_session_attrs=read-write`;

test('with several servers in DATABASE_URL the service finds the one that takes writes, also after a fail-over, and loses nothing', async () => {
  const world = await openWorld({ DATABASE_URL });
  const owner = await world.owner();
  const acknowledged: string[] = [];
  const answers: { status: number; retryAfter: string | null }[] = [];
  const write = async (i: number) => {
    const { status, headers, body } = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, {
      title: `Page ${i}`,
      markdown: 'x',
    });
    answers.push({ status, retryAfter: headers.get('retry-after') });
    if (status === 201) acknowledged.push(body.page_id);
    return status === 201;
  };
  assert.ok(await write(0));
  await primary.signal('SIGKILL');
  await primary.ended;
  assert.ok(!(await write(1)), 'without a primary a write fails');
  await standby.admin.query(sql`select pg_promote()`);
  let i = 2;
  await until('a write after the fail-over', () => write((i += 1)));
  for (const { status, retryAfter } of answers.filter(({ status }) => status !== 201)) {
    assert.equal(status, 503);
    assert.ok(retryAfter, 'a client is told when to try again');
  }
  for (const page_id of acknowledged) {
    assert.equal((await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${page_id}`)).status, 200);
  }
});

test('a server that hangs is given up when the time of the statement is over: 503, and its connections are closed', async () => {
  const db = openServiceDb({ connection: { connectionString: DATABASE_URL }, onConnectionLost: () => undefined });
  cleanUp(() => db.close());
  const budget = { left: () => 500, abandoned: () => new AbortController().signal };
  const ask = () => db.in(SERVICE, budget).query(sql`select 1`);
  await ask();
  await standby.signal('SIGSTOP');
  const refused = await ask().then(
    () => assert.fail('a stopped server has answered'),
    (error) => toApiError(error),
  );
  assert.deepEqual([refused.status, refused.code], [503, 'database_unavailable']);
  const transaction = await db
    .in(SERVICE, budget)
    .transaction((query) => query(sql`select 1`))
    .catch((error) => toApiError(error).code);
  assert.equal(transaction, 'database_unavailable', 'new connections are given up too');
  await standby.signal('SIGCONT');
  await until(
    'the server answers again',
    () => ask().then(() => true, String),
    (seen) => seen === true,
  );
});

test('a target_session_attrs that is not understood is refused, and so is a server without an address', () => {
  const wrong = (url: string, reason: RegExp) =>
    assert.throws(
      () => readConfig({ DATABASE_URL: url }),
      (error) => error instanceof ConfigError && reason.test(error.message),
    );
  wrong('postgres://u@one,two/db?target_session_attrs=standby', /one of any, read-write, primary/);
  wrong('postgres://u@one:5432,two:x/db', /postgres:/);
  assert.ok(readConfig({ DATABASE_URL: 'postgres://u:p@one:5432,[::1]:5433/db' }).DATABASE_URL);
});
