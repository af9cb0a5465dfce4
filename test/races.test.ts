import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { sql } from '../src/db/sql.ts';
import { startService } from '../src/service.ts';
import { AUDIENCE, startOpenIdProvider } from './openid-provider.ts';
import { cleanUp } from './process.ts';
import { type Answer, type Client, makeDatabase, openOwner, type World, waitForUpload, worldOf } from './world.ts';

/** RACE_ROUNDS: how often each race is run. */
const ROUNDS = Number(process.env.RACE_ROUNDS || 20);
const CALLERS = 20;
/** Twenty uploads of a wiki are twenty jobs one after the other. */
const UPLOAD_ROUNDS = Math.ceil(ROUNDS / 5);

const provider = await startOpenIdProvider();
const [world, other] = await startTwo(await makeDatabase());
const { query } = world.db;

/** Two services on one database, as on two machines. */
async function startTwo(database: string): Promise<[World, World]> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-races-'));
  const config = readConfig({
    PORT: '0',
    DATA_DIR: folder,
    DATABASE_URL: database,
    OIDC_ISSUER: provider.issuer,
    OIDC_AUDIENCE: AUDIENCE,
    RATE_LIMITS: 'off',
  });
  const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const [one, two] = await Promise.all([startService(config, log), startService(config, log)]);
  cleanUp(async () => {
    await one.stop();
    await two.stop();
    provider.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const db = openOwner(database);
  return [worldOf(db, one.address), worldOf(db, two.address)];
}

/** The same caller at the one service and at the other. */
function atBoth(client: Client): Client[] {
  return [client, other.as(client.token, client.user_id)];
}

/** Calls at once, spread over both services, and answers what came: how often each status with its code. */
async function atOnce(n: number, client: (i: number) => Client, call: (client: Client, i: number) => Promise<Answer>) {
  const calls = Array.from({ length: n }, (_, i) => call(atBoth(client(i))[i % 2] as Client, i));
  const answers = await Promise.all(calls);
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const key = status < 300 ? String(status) : `${status} ${body.error}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return { answers, counts };
}

function report(t: TestContext, calls: number, rounds = ROUNDS): void {
  t.diagnostic(`${rounds} rounds, ${calls} calls, 0 violations`);
}

test('of first calls at once exactly one creates the workspace, and all name it', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const person = await world.person();
    const { answers, counts } = await atOnce(
      CALLERS,
      () => person,
      (client) => client.post('/v1/onboarding'),
    );
    assert.deepEqual(counts, { 200: CALLERS });
    assert.equal(answers.filter(({ body }) => body.workspace_created).length, 1, 'Exactly one call creates it.');
    assert.equal(new Set(answers.map(({ body }) => body.workspace.workspace_id)).size, 1, 'All name the same one.');
    const made = await query(sql`select 1 from workspaces where created_by = ${person.user_id}`);
    assert.equal(made.length, 1);
  }
  report(t, ROUNDS * CALLERS);
});

test('of people of the same name who arrive at once each gets a workspace with a slug of its own', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `same${round}`;
    const people = await Promise.all(Array.from({ length: CALLERS }, (_, i) => world.person(`${name}@${i}.example`)));
    const { answers, counts } = await atOnce(
      CALLERS,
      (i) => people[i] as Client,
      (client) => client.post('/v1/onboarding'),
    );
    assert.deepEqual(counts, { 200: CALLERS });
    assert.equal(new Set(answers.map(({ body }) => body.workspace.slug)).size, CALLERS);
  }
  report(t, ROUNDS * CALLERS);
});

test('a slug that many ask for at once goes to one of them', async (t) => {
  const owner = await world.owner();
  for (let round = 0; round < ROUNDS; round += 1) {
    const slug = `wanted-${round}`;
    const workspaces = await atOnce(
      CALLERS,
      () => owner,
      (client) => client.post('/v1/workspaces', { name: 'W', slug }),
    );
    assert.deepEqual(workspaces.counts, { 200: 1, '409 slug_taken': CALLERS - 1 });
    const path = `/v1/workspaces/${owner.workspace_id}/wikis`;
    const wikis = await atOnce(
      CALLERS,
      () => owner,
      (client) => client.post(path, { title: 'W', slug }),
    );
    assert.deepEqual(wikis.counts, { 201: 1, '409 slug_taken': CALLERS - 1 });
  }
  report(t, 2 * ROUNDS * CALLERS);
});

test('names that lead to the same slug never fail, however many come at once', async (t) => {
  const owner = await world.owner();
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `Derived ${round}`;
    const workspaces = await atOnce(
      CALLERS,
      () => owner,
      (client) => client.post('/v1/workspaces', { name }),
    );
    assert.deepEqual(workspaces.counts, { 200: CALLERS });
    assert.equal(new Set(workspaces.answers.map(({ body }) => body.slug)).size, CALLERS);
    const path = `/v1/workspaces/${owner.workspace_id}/wikis`;
    const wikis = await atOnce(
      CALLERS,
      () => owner,
      (client) => client.post(path, { title: name }),
    );
    assert.deepEqual(wikis.counts, { 201: CALLERS });
    assert.equal(new Set(wikis.answers.map(({ body }) => body.slug)).size, CALLERS);
  }
  report(t, 2 * ROUNDS * CALLERS);
});

test('the last seat is given once', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const owner = await world.owner();
    const { workspace_id } = owner;
    await query(sql`
      update workspaces set seats_unlimited = false, seats_granted = 2 where workspace_id = ${workspace_id}`);
    const { counts } = await atOnce(
      CALLERS,
      () => owner,
      (client, i) =>
        client.post(`/v1/workspaces/${workspace_id}/members/invite`, { email: `${i}@example.com`, role: 'member' }),
    );
    assert.deepEqual(counts, { 200: 1, '409 seat_limit_reached': CALLERS - 1 });
    const pending = await query(
      sql`select 1 from invitations where workspace_id = ${workspace_id} and state = 'pending'`,
    );
    assert.equal(pending.length, 1, 'Active members and pending invitations must never be more than the seats.');
  }
  report(t, ROUNDS * CALLERS);
});

test('an address that is invited many times at once gets one invitation', async (t) => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/members/invite`;
  for (let round = 0; round < ROUNDS; round += 1) {
    const email = `${randomUUID()}@example.com`;
    const { counts } = await atOnce(
      CALLERS,
      () => owner,
      (client) => client.post(path, { email, role: 'member' }),
    );
    assert.deepEqual(counts, { 200: 1, '409 invitation_pending': CALLERS - 1 });
    const stored = await query(sql`select 1 from invitations where email = ${email}`);
    assert.equal(stored.length, 1);
  }
  report(t, ROUNDS * CALLERS);
});

test('owners who demote each other at once leave one', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = await world.owner();
    const { workspace_id } = first;
    const second = await world.member(workspace_id, 'owner');
    const pair = [first, second];
    const { counts } = await atOnce(
      2,
      (i) => pair[i] as Client,
      (client, i) =>
        client.patch(`/v1/workspaces/${workspace_id}/members/${pair[1 - i]?.membership_id}`, { role: 'member' }),
    );
    assert.equal(counts[200], 1, `One of two demotions must be refused: ${JSON.stringify(counts)}`);
    assert.equal(await ownersOf(workspace_id), 1);
  }
  report(t, 2 * ROUNDS);
});

test('many owners who demote themselves at once leave one', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = await world.owner();
    const { workspace_id } = first;
    const more = await Promise.all(Array.from({ length: CALLERS - 1 }, () => world.member(workspace_id, 'owner')));
    const owners = [first, ...more];
    const { counts } = await atOnce(
      CALLERS,
      (i) => owners[i] as Client,
      (client, i) =>
        client.patch(`/v1/workspaces/${workspace_id}/members/${owners[i]?.membership_id}`, { role: 'member' }),
    );
    assert.deepEqual(counts, { 200: CALLERS - 1, '409 last_owner': 1 });
    assert.equal(await ownersOf(workspace_id), 1);
  }
  report(t, ROUNDS * CALLERS);
});

async function ownersOf(workspace_id: string): Promise<number> {
  const owners = await query(sql`
    select 1 from memberships where workspace_id = ${workspace_id} and role = 'owner' and status = 'active'`);
  return owners.length;
}

test('the same bytes that are uploaded many times at once are one source and one page, and no upload fails', async (t) => {
  for (let round = 0; round < UPLOAD_ROUNDS; round += 1) {
    const owner = await world.owner();
    const { wiki_id } = owner;
    const { answers, counts } = await atOnce(
      CALLERS,
      () => owner,
      (client) => {
        const form = new FormData();
        form.append('files', new Blob([`# Round ${round}\n`]), 'guide/same.md');
        return client.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
      },
    );
    assert.deepEqual(counts, { 201: CALLERS });
    const ended = await Promise.all(answers.map(({ body }) => waitForUpload(owner, wiki_id, body.upload_id)));
    assert.deepEqual(new Set(ended.map(({ body }) => body.status)), new Set(['completed']));
    assert.equal(
      ended.reduce((sum, { body }) => sum + body.source_count, 0),
      1,
      'One upload made the source.',
    );
    const [counted] = await query(sql`
      select (select count(*)::int from sources where wiki_id = ${wiki_id}) as sources,
        array(select path from pages where wiki_id = ${wiki_id} order by path) as pages,
        (select count(*)::int from revisions where wiki_id = ${wiki_id}) as revisions,
        (select sum(failures)::int from jobs where wiki_id = ${wiki_id}) as failures`);
    assert.deepEqual(counted, { sources: 1, pages: ['guide', 'guide/same'], revisions: 2, failures: 0 });
  }
  report(t, UPLOAD_ROUNDS * CALLERS, UPLOAD_ROUNDS);
});

test('somebody who comes with a token for the first time, many times at once, is one user', async (t) => {
  const token = await provider.token('ES256');
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await query<{ user_id: string }>(
      sql`select user_id from identities where issuer = ${provider.issuer}`,
    );
    await query(sql`delete from users where user_id = any (${before.map(({ user_id }) => user_id)}::text[])`);
    const fresh = round === 0 ? token : await provider.token('ES256');
    const { counts } = await atOnce(
      CALLERS,
      () => world.as(fresh),
      (client) => client.get('/v1/workspaces'),
    );
    assert.deepEqual(counts, { 200: CALLERS });
    const [users] = await query(sql`
      select (select count(*)::int from identities where issuer = ${provider.issuer}) as identities,
        (select count(*)::int from users where lower(email) = 'ann.lee@example.org') as users`);
    assert.deepEqual(users, { identities: 1, users: 1 });
  }
  report(t, ROUNDS * CALLERS);
});
