import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { runDoctor } from '../src/operation/cli/doctor/doctor.ts';
import { newId } from '../src/platform/core/ids.ts';
import { shareCalls } from '../src/platform/db/replicas/wal-positions.ts';
import { sql } from '../src/platform/db/sql.ts';
import { longTest } from './extent.ts';
import { startPostgresPair } from './postgres-pair.ts';
import { freePort, makeFolder } from './process.ts';
import { sampleOf, scrape } from './scrape.ts';
import { until } from './until.ts';
import { type Client, openWorld } from './world.ts';

/** REPLICA_TRIALS: number of writes that are read back at once. */
const TRIALS = Number(process.env.REPLICA_TRIALS || 100);
const WRITERS = 4;

const { primary, standby, user, database } = await startPostgresPair();
const [port, folder] = await Promise.all([freePort(), makeFolder()]);
const addressAt = (server: { port: number }) => `postgres://${user}@127.0.0.1:${server.port}/${database}`;
const world = await openWorld({
  DATABASE_URL: addressAt(primary),
  DATABASE_REPLICA_URLS: addressAt(standby),
  METRICS_PORT: String(port),
});
const owner = await world.owner();
const pages = `/v1/wikis/${owner.wiki_id}/pages`;
const { body: page } = await owner.post(pages, { title: 'First', markdown: 'x' });

/** Returns the findings of `ibid doctor` about the replica. */
async function examined(): Promise<string[]> {
  const lines: string[] = [];
  const env = { DATABASE_URL: addressAt(primary), DATABASE_REPLICA_URLS: addressAt(standby), DATA_DIR: folder };
  await runDoctor(env, [], (line) => lines.push(line));
  return lines.filter((line) => / replicas: /.test(line));
}

const wiki = `/v1/wikis/${owner.wiki_id}`;
const titleFor = async (reader: Client) => (await reader.get(wiki)).body.title;

async function rename(title: string): Promise<void> {
  assert.equal((await owner.patch(wiki, { title })).status, 200);
}

async function replica(): Promise<Record<'up' | 'lag_bytes' | 'reads_total' | 'fallbacks_total', number>> {
  const samples = await scrape(port);
  const of = (name: string) => sampleOf(samples, `ibid_replica_${name}`, { server: `127.0.0.1:${standby.port}` }) ?? -1;
  return {
    up: of('up'),
    lag_bytes: of('lag_bytes'),
    reads_total: of('reads_total'),
    fallbacks_total: of('fallbacks_total'),
  };
}

const untilUp = () => until('the replica is used', async () => (await replica()).up === 1);

test('a replica answers the reads of every reading endpoint like the primary', async () => {
  await untilUp();
  const ids: Record<string, string> = {
    ...{ workspace_id: owner.workspace_id, organization_id: owner.workspace_id, wiki_id: owner.wiki_id },
    page_id: page.page_id,
  };
  const before = await replica();
  for (const { path, access, method } of ENDPOINTS) {
    if (method !== 'GET' || access.on === 'anyone' || access.on === 'widget') continue;
    const named = path.replace(/[:*]([a-z_]+)/g, (_, name: string) => ids[name] ?? newId('page'));
    // The primary also answers while the replica lags. A read that cannot run on the replica falls back every time.
    await until(`the replica answers every read of GET ${named}`, async () => {
      await untilUp();
      const { fallbacks_total } = await replica();
      const { status } = await owner.get(`${named}${path.endsWith('/search') ? '?q=first' : ''}`);
      assert.ok(status < 500, `GET ${named}: ${status}`);
      const after = await replica();
      return after.up === 1 && after.fallbacks_total === fallbacks_total;
    });
  }
  const after = await replica();
  assert.ok(after.reads_total - before.reads_total > 20);
});

longTest('a read sees all earlier writes, by the same caller and by others', async () => {
  const colleague = await world.member(owner.workspace_id, 'member');
  await untilUp();
  const before = await replica();
  const stale: string[] = [];
  let left = TRIALS;
  const write = async (name: number) => {
    const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: `Wiki ${name}` });
    for (; left > 0; left -= 1) {
      const title = `Title ${name} ${left}`;
      assert.equal((await owner.patch(`/v1/wikis/${body.wiki_id}`, { title })).status, 200);
      const reader = left % 2 === 0 ? owner : colleague;
      const seen = (await reader.get(`/v1/wikis/${body.wiki_id}`)).body.title;
      if (seen !== title) stale.push(`${seen} instead of ${title}`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i + 1)));
  assert.deepEqual(stale, []);
  const after = await replica();
  const [reads, fallbacks] = [after.reads_total - before.reads_total, after.fallbacks_total - before.fallbacks_total];
  assert.ok(reads > 0, 'no read was answered by the replica');
  if (process.env.REPLICA_TRIALS)
    console.log(`${TRIALS} trials: the replica answered ${reads} reads, the primary ${fallbacks} in its place`);
});

longTest('while a replica does not replay, reads see all writes, and a revoked key is refused', async () => {
  const colleague = await world.member(owner.workspace_id, 'member');
  const { body: key } = await owner.post('/v1/me/api-keys', { name: 'to revoke' });
  const byKey = world.as(key.secret);
  await untilUp();
  assert.equal((await byKey.get(wiki)).status, 200);
  const before = await replica();
  await standby.admin.query(sql`select pg_wal_replay_pause()`);
  await until('the replay is paused', async () => {
    const [row] = await standby.admin.query<{ state: string }>(sql`select pg_get_wal_replay_pause_state() as state`);
    return row?.state === 'paused';
  });
  for (const title of ['Second', 'Third', 'Fourth']) {
    await rename(title);
    for (const reader of [owner, colleague]) assert.equal(await titleFor(reader), title);
  }
  assert.equal((await owner.send('DELETE', `/v1/me/api-keys/${key.key_id}`)).status, 204);
  assert.equal((await byKey.get(wiki)).status, 401);
  const member = `/v1/workspaces/${owner.workspace_id}/members/${colleague.membership_id}`;
  assert.equal((await owner.post(`${member}/deactivate`)).status, 200);
  assert.equal((await colleague.get(wiki)).status, 403);
  const paused = await until('the lag is seen', replica, ({ lag_bytes }) => lag_bytes > 0);
  assert.equal(paused.up, 0);
  assert.match((await examined()).join(), /^warning +replicas: .* lags by \d+ bytes/);
  assert.ok(paused.fallbacks_total > before.fallbacks_total);
  await standby.admin.query(sql`select pg_wal_replay_resume()`);
  await untilUp();
  assert.match((await examined()).join(), /^ok +replicas: .* follows the primary$/);
  const resumed = await replica();
  assert.equal(await titleFor(owner), 'Fourth');
  assert.ok((await replica()).reads_total > resumed.reads_total, 'the replica answers again');
});

longTest('a hanging replica is detected even while the primary hangs too, and no later read waits for it', async () => {
  await untilUp();
  await Promise.all([primary.signal('SIGSTOP'), standby.signal('SIGSTOP')]);
  try {
    await until('the replica is not used', async () => (await replica()).up === 0);
  } finally {
    await primary.signal('SIGCONT');
  }
  const { fallbacks_total } = await replica();
  await until('the primary answers', async () => (await owner.get(wiki)).status === 200);
  assert.equal((await replica()).fallbacks_total, fallbacks_total, 'a read was sent to it');
  await standby.signal('SIGCONT');
  await untilUp();
});

test('a replica that was promoted on its own answers no read', async () => {
  await standby.admin.query(sql`select pg_promote()`);
  await primary.admin.session(async (_query, run) => {
    await run(`alter system set synchronous_standby_names = ''`);
    await run('select pg_reload_conf()');
  });
  // Write to it, so that its log is longer than the primary's.
  await standby.admin.session((_query, run) =>
    run('create table of_its_own as select generate_series(1, 100000) as i'),
  );
  await rename('Fifth');
  assert.equal(await titleFor(owner), 'Fifth');
  await until('the replica is not used', async () => (await replica()).up === 0);
  assert.match((await examined()).join(), /^warning +replicas: .* is not a standby/);
  assert.equal(await titleFor(owner), 'Fifth');
});

test('callers share a query to the primary, unless the query started before their call', async () => {
  const answers: ((value: number) => void)[] = [];
  const current = shareCalls(() => new Promise<number>((resolve) => answers.push(resolve)));
  const first = current();
  const [second, third] = [current(), current()];
  assert.equal(answers.length, 1);
  answers[0]?.(1);
  assert.equal(await first, 1);
  await until('the next question', () => answers.length === 2);
  answers[1]?.(2);
  assert.deepEqual(await Promise.all([second, third]), [2, 2]);
});
