import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, readConfig } from '../src/operation/config.ts';
import { openServiceDb } from '../src/platform/db/db.ts';
import { FormerPrimary, openTimelines } from '../src/platform/db/replicas/timelines.ts';
import { SERVICE } from '../src/platform/db/request-context.ts';
import { sql } from '../src/platform/db/sql.ts';
import { toApiError } from '../src/platform/http/to-api-error.ts';
import { cleanUp } from './clean-up.ts';
import { startPostgresPair } from './postgres-pair.ts';
import { until } from './until.ts';
import { openWorld } from './world.ts';

const { primary, standby, user, database } = await startPostgresPair();
// The standby comes first: the service has to find the primary by itself.
const servers = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
const DATABASE_URL = `postgres://${user}@${servers}/${database}?target_session_attrs=read-write`;

const world = await openWorld({ DATABASE_URL });
const owner = await world.owner();
const pages = `/v1/wikis/${owner.wiki_id}/pages`;
const acknowledged: string[] = [];

/** Returns whether a page was created. Otherwise asserts 503 with Retry-After. */
async function write(): Promise<boolean> {
  const { status, headers, body } = await owner.post(pages, { title: 'Page', markdown: 'x' });
  if (status === 201) acknowledged.push(body.page_id);
  else assert.ok(status === 503 && headers.get('retry-after'), `${status} ${JSON.stringify(body)}`);
  return status === 201;
}

async function assertAllThere(): Promise<void> {
  for (const page_id of acknowledged) assert.equal((await owner.get(`${pages}/${page_id}`)).status, 200);
}

test('with several servers in DATABASE_URL the service finds the primary, also after a failover, and loses no write', async () => {
  assert.ok(await write());
  await primary.kill();
  assert.ok(!(await write()), 'without a primary a write fails');
  await standby.admin.query(sql`select pg_promote()`);
  await until('a write after the fail-over', write);
  await assertAllThere();
});

test('a process that knows a later timeline drops connections to the former primary, also within a transaction', async () => {
  // Acknowledges by itself, like a primary without a synchronous standby.
  await primary.startAgain('synchronous_standby_names=');
  const timelines = openTimelines();
  const open = ({ port }: { port: number }) => {
    const connection = { connectionString: `postgres://${user}@127.0.0.1:${port}/${database}` };
    const db = openServiceDb({ connection, timelines, onConnectionLost: () => undefined });
    cleanUp(() => db.close());
    return db.in(SERVICE);
  };
  const [former, latest] = [open(primary), open(standby)];
  const ask = sql`select 1`;
  await former.transaction((query) => query(ask));
  await assert.rejects(
    former.transaction(async (query) => {
      await query(ask);
      await latest.query(ask);
    }),
    FormerPrimary,
  );
  await assert.rejects(former.query(ask), FormerPrimary);
  await latest.query(ask);
});

test('a former primary left alone serves neither reads nor writes: 503 until the latest primary is back', async () => {
  await standby.kill();
  for (let i = 0; i < 3; i += 1) {
    assert.ok(!(await write()));
    assert.equal((await owner.get(pages)).status, 503);
  }
  await standby.startAgain();
  await until('a write at the latest primary', write);
  await assertAllThere();
  await primary.kill();
});

test('a hanging server is 503 when the time of the statement is over, and its connections are closed', async () => {
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

test('an unknown target_session_attrs is refused, and so is a server without an address', () => {
  const wrong = (url: string, reason: RegExp) =>
    assert.throws(
      () => readConfig({ DATABASE_URL: url }),
      (error) => error instanceof ConfigError && reason.test(error.message),
    );
  wrong('postgres://u@one,two/db?target_session_attrs=standby', /one of any, read-write, primary/);
  wrong('postgres://u@one:5432,two:x/db', /postgres:/);
  assert.ok(readConfig({ DATABASE_URL: 'postgres://u:p@one:5432,[::1]:5433/db' }).DATABASE_URL);
});
