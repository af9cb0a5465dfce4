import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { pruneIdempotencyKeys } from '../src/platform/access/idempotency.ts';
import { sql } from '../src/platform/db/sql.ts';
import { until } from './until.ts';
import { type Answer, openWorld } from './world.ts';

/** The table whose inserts fail: the statements are rewritten to name a missing table. */
const fault: { at?: string } = {};
const world = await openWorld(
  {},
  { rewrite: (text) => (fault.at ? text.replace(`insert into ${fault.at}`, 'insert into nowhere') : text) },
);

const keyed = (key: string) => ({ 'idempotency-key': key });

test('a repeated request runs once and gets the first answer, byte for byte', async () => {
  const owner = await world.owner();
  const first = await owner.post('/v1/workspaces', { name: 'Once' }, keyed('a-1'));
  const again = await owner.post('/v1/workspaces', { name: 'Once' }, keyed('a-1'));
  assert.equal(first.status, 200);
  assert.equal(first.headers.get('idempotency-replayed'), null);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.deepEqual(again.body, first.body);
  assert.equal((await owner.get('/v1/workspaces')).body.length, 2);
  const other = await owner.post('/v1/workspaces', { name: 'Once' }, keyed('a-2'));
  assert.notEqual(other.body.workspace_id, first.body.workspace_id);
});

test('a key that was used for another request is 422 and changes nothing', async () => {
  const owner = await world.owner();
  await owner.post('/v1/workspaces', { name: 'One' }, keyed('b-1'));
  const refused = await owner.post('/v1/workspaces', { name: 'Two' }, keyed('b-1'));
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.body.detail[0].loc, ['header', 'idempotency-key']);
  assert.equal((await owner.get('/v1/workspaces')).body.length, 2);
});

test('of twenty concurrent requests one acts, and the others wait for its answer', async () => {
  for (let round = 0; round < 3; round += 1) {
    const owner = await world.owner();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => owner.post('/v1/workspaces', { name: 'Race' }, keyed(`c-${round}`))),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      answers.map(() => 200),
    );
    assert.equal(new Set(answers.map(({ body }) => body.workspace_id)).size, 1);
    assert.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1);
    assert.equal((await owner.get('/v1/workspaces')).body.length, 2);
  }
});

test('a repetition runs by itself if the request that it waited for was refused', async () => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/members/invite`;
  const invite = () => owner.post(path, { email: 'twice@example.com', role: 'member' }, keyed('m-1'));
  const answers: Promise<Answer>[] = [];
  await world.db.transaction(async (query) => {
    await query(sql`
      update workspaces set seats_unlimited = false, seats_granted = 1 where workspace_id = ${owner.workspace_id}`);
    answers.push(invite(), invite());
    await until('the first one waits for the workspace', async () => {
      const waiting = await world.db.query(sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`);
      return waiting.length > 0;
    });
  });
  const refused = (await Promise.all(answers)).map(({ status, body }) => [status, body.error]);
  assert.deepEqual(refused, [
    [409, 'seat_limit_reached'],
    [409, 'seat_limit_reached'],
  ]);
});

test('a refusal is not stored: a corrected request succeeds with the same key', async () => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/members/invite`;
  const invite = { email: 'late@example.com', role: 'member' };
  await world.db.query(sql`
    update workspaces set seats_unlimited = false, seats_granted = 1 where workspace_id = ${owner.workspace_id}`);
  assert.equal((await owner.post(path, invite, keyed('d-1'))).body.error, 'seat_limit_reached');
  await world.db.query(sql`update workspaces set seats_granted = 2 where workspace_id = ${owner.workspace_id}`);
  assert.equal((await owner.post(path, invite, keyed('d-1'))).status, 200);
});

test('a key belongs to one caller: the same key of another caller is another request', async () => {
  const [ann, bob] = [await world.owner(), await world.owner()];
  const first = await ann.post('/v1/workspaces', { name: 'Mine' }, keyed('e-1'));
  const second = await bob.post('/v1/workspaces', { name: 'Mine' }, keyed('e-1'));
  assert.equal(second.headers.get('idempotency-replayed'), null);
  assert.notEqual(first.body.workspace_id, second.body.workspace_id);
});

test('a caller who lost access gets no stored answer', async () => {
  const owner = await world.owner();
  const member = await world.member(owner.workspace_id, 'member');
  const path = `/v1/workspaces/${owner.workspace_id}/wikis`;
  assert.equal((await member.post(path, { title: 'Notes' }, keyed('f-1'))).status, 201);
  await world.db.query(sql`update memberships set status = 'inactive' where membership_id = ${member.membership_id}`);
  assert.equal((await member.post(path, { title: 'Notes' }, keyed('f-1'))).status, 403);
});

test('a repeated upload is the same upload, and other bytes with its key are 422', async () => {
  const owner = await world.owner();
  const send = (text: string) => {
    const form = new FormData();
    form.append('files', new Blob([text]), 'a.md');
    return owner.send('POST', `/v1/wikis/${owner.wiki_id}/uploads`, { body: form, headers: keyed('g-1') });
  };
  const [first, again, other] = [await send('# A\n'), await send('# A\n'), await send('# B\n')];
  assert.equal(first.status, 201);
  assert.equal(again.body.upload_id, first.body.upload_id);
  assert.equal(other.status, 422);
});

test('stored answers are encrypted in the database, and expire after a day', async () => {
  const owner = await world.owner();
  await owner.post('/v1/workspaces', { name: 'Canary-in-answer' }, keyed('h-1'));
  const { db } = world;
  const [row] = await db.query<{ dump: string }>(
    sql`select string_agg(encode(answer, 'escape'), ' ') as dump from idempotency_keys`,
  );
  assert.ok(row && !row.dump.includes('Canary'));
  await db.query(sql`update idempotency_keys set created_at = now() - interval '25 hours'`);
  const later = await owner.post('/v1/workspaces', { name: 'Canary-in-answer' }, keyed('h-1'));
  assert.equal(later.headers.get('idempotency-replayed'), null);
});

test('an invalid key is 400, and a GET ignores one', async () => {
  const owner = await world.owner();
  for (const key of ['ä', 'x'.repeat(256), 'a b']) {
    const refused = await owner.post('/v1/workspaces', { name: 'No' }, keyed(key));
    assert.equal(refused.status, 400, JSON.stringify(key));
  }
  assert.equal((await owner.get('/v1/workspaces', keyed('a b'))).status, 200);
});

test('requests wait neither for locked rows of expired keys nor for each other to delete such rows', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  await owner.post('/v1/workspaces', { name: 'Long ago' }, keyed('i-1'));
  await world.db.query(sql`update idempotency_keys set created_at = now() - interval '25 hours'`);
  await world.db.transaction(async (query) => {
    await query(sql`select id from idempotency_keys for update`);
    for (const client of [owner, other]) {
      assert.equal((await client.post('/v1/workspaces', { name: 'Today' }, keyed('i-2'))).status, 200);
    }
  });
});

test('an expired key can be used again, and the new answer is replayed', async () => {
  const owner = await world.owner();
  const ask = () => owner.post('/v1/workspaces', { name: 'Again' }, keyed('j-1'));
  const first = await ask();
  await world.db.query(sql`update idempotency_keys set created_at = now() - interval '24 hours'`);
  const [second, third] = [await ask(), await ask()];
  assert.notEqual(second.body.workspace_id, first.body.workspace_id);
  assert.deepEqual([third.headers.get('idempotency-replayed'), third.body], ['true', second.body]);
});

test('expired keys are pruned in batches that skip locked rows, and other keys stay', async () => {
  const owner = await world.owner();
  const { db } = world;
  await db.query(sql`delete from idempotency_keys`);
  await owner.post('/v1/workspaces', { name: 'Kept' }, keyed('k-1'));
  await db.query(sql`
    insert into idempotency_keys (id, fingerprint, answer, created_at)
    select sha256(n::text::bytea), '', '', now() - interval '25 hours' from generate_series(1, 2500) n`);
  await db.transaction(async (query) => {
    await query(sql`select 1 from idempotency_keys where created_at < now() - interval '1 day' limit 1 for update`);
    assert.equal(await pruneIdempotencyKeys(db.query), 2_499);
  });
  assert.equal(await pruneIdempotencyKeys(db.query), 1);
  assert.equal((await db.query(sql`select 1 from idempotency_keys`)).length, 1);
});

test('a write whose answer cannot be stored is rolled back, and a retry performs it', async () => {
  const owner = await world.owner();
  const pages = `/v1/wikis/${owner.wiki_id}/pages`;
  const requests: [path: string, body: object][] = [
    ['/v1/workspaces', { name: 'Whole' }],
    [pages, { title: 'Whole', markdown: 'text' }],
  ];
  for (const [path, body] of requests) {
    const before = (await owner.get(path)).body.length;
    const headers = keyed(randomUUID());
    fault.at = 'idempotency_keys';
    assert.equal((await owner.post(path, body, headers)).status, 500);
    assert.equal((await owner.get(path)).body.length, before);
    fault.at = undefined;
    const made = await owner.post(path, body, headers);
    assert.deepEqual([made.status < 300, made.headers.get('idempotency-replayed')], [true, null]);
    assert.deepEqual((await owner.post(path, body, headers)).body, made.body);
    assert.equal((await owner.get(path)).body.length, before + 1);
  }
});

test('a request that writes nothing gets the first answer again', async () => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/widget-token`;
  const [first, again] = [
    await owner.post(path, { widget: 'profile' }, keyed('l-1')),
    await owner.post(path, { widget: 'profile' }, keyed('l-1')),
  ];
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.deepEqual(again.body, first.body);
});
