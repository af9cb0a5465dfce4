import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { pauseAllJobs } from '../src/platform/jobs/pause-jobs.ts';
import { cleanUp } from './clean-up.ts';
import { sendRaw } from './raw-http.ts';
import { nameOf, success, validRequest } from './requests.ts';
import { signedInClient } from './signed-in.ts';
import { GLOBAL_TABLES, ofAShard, simulateShards, TABLES_OF_A_SHARD } from './simulated-shards.ts';
import { openTenants } from './tenants.ts';
import { makeDatabase, openOwner, openWorld } from './world.ts';

const DATABASE_URL = await makeDatabase();
const DATA_DIR = await mkdtemp(join(tmpdir(), 'ibid-sharding-'));
cleanUp(() => rm(DATA_DIR, { recursive: true, force: true }));
const shards = await simulateShards(openOwner(DATABASE_URL));
const tenants = await openTenants({ DATABASE_URL, DATA_DIR });
const { db } = tenants.world;
// Jobs would process the uploads of some requests before other requests read them, or not.
await pauseAllJobs(db.query, true);
// The use of a key is recorded once a minute, in a separate statement.
await db.query(sql`update api_keys set last_used_at = now() + interval '1 hour'`);
const sharded = await openWorld({
  ...tenants.env,
  DATABASE_URL: ofAShard(DATABASE_URL),
  DATA_DIR,
  ROLE: 'web',
});

/**
 * Work of endpoints that belongs to no single workspace. All other work runs in one or more transactions with the key
 * of a workspace, which read and write rows of that workspace and read tables of all shards.
 */
const CROSSINGS: Record<string, string> = {
  // A user's data is in all workspaces that they are a member of.
  'GET /v1/workspaces': 'asks all',
  'GET /v1/overview': 'asks all',
  'POST /v1/me/export': 'asks all',
  'GET /v1/workspaces/lookup': 'asks all',
  // By the user's address.
  'POST /v1/auth/invitation': 'asks all',
  'POST /v1/me/connection': 'asks all',
  'GET /v1/me/invitations': 'asks all',
  'POST /v1/me/invitations/:invitation_id/accept': 'asks all',
  // Checks whether the user has a workspace and whether the slug is free, and creates the workspace.
  'POST /v1/onboarding': 'asks all',
  'POST /v1/workspaces': 'asks all',
  // Requests look up a key before they know its workspace, so keys are on all shards, but they count for their
  // workspace.
  'POST /v1/workspaces/:workspace_id/api-keys': 'writes api_keys',
  'DELETE /v1/workspaces/:workspace_id/api-keys/:key_id': 'writes api_keys',
  'POST /v1/widgets/developers/api-keys': 'writes api_keys',
  'DELETE /v1/widgets/developers/api-keys/:key_id': 'writes api_keys',
  // Users change their own account, if the workspace of the widget's token permits it.
  'PATCH /v1/widgets/profile': 'writes users',
  'PUT /v1/widgets/profile/avatar': 'writes users',
  'PATCH /v1/widgets/profile/preferences': 'writes users',
  'DELETE /v1/widgets/profile/sessions/:session_id': 'writes sessions',
};

async function requestOf(endpoint: Endpoint) {
  const ids = await tenants.fresh(endpoint, tenants.owner);
  return validRequest(endpoint, ids, await tenants.tokenFor(endpoint, tenants.owner));
}

/** Returns how the transactions of an endpoint go beyond one shard. */
async function crossingsOf(endpoint: Endpoint): Promise<string> {
  const request = await requestOf(endpoint);
  await shards.take();
  const whole = await sendRaw(sharded.address, request);
  assert.equal(whole.status, success(endpoint), whole.text);
  const { written } = await shards.take();
  const again = endpoint.method === 'GET' ? request : await requestOf(endpoint);
  await shards.set('asks one shard');
  const alone = await sendRaw(sharded.address, again);
  const { isHidden } = await shards.take();
  await shards.set('asks all shards');
  const isRead = endpoint.method === 'GET' && alone.text !== whole.text;
  const asks = alone.status !== whole.status || isHidden || isRead;
  return [asks ? 'asks all' : '', ...written.map((name) => `writes ${name}`)].filter(Boolean).join(', ');
}

/** Returns a new session of a user in a workspace of their own, whose account can be deleted. */
async function deletable(email: string) {
  const person = await tenants.world.owner(email);
  await db.query(sql`delete from wikis where wiki_id = ${person.wiki_id}`);
  return signedInClient(sharded, person.user_id);
}

for (const endpoint of ENDPOINTS) {
  const crossings = CROSSINGS[nameOf(endpoint)];
  test(`${nameOf(endpoint)} ${crossings ? `crosses shards: ${crossings}` : 'stays on one shard'}`, async () => {
    assert.equal(
      await crossingsOf(endpoint),
      crossings ?? '',
      'if this is intended, correct CROSSINGS and docs/scale.md',
    );
  });
}

test('CROSSINGS contains only names of endpoints', () => {
  const names = ENDPOINTS.map(nameOf);
  assert.deepEqual(
    Object.keys(CROSSINGS).filter((name) => !names.includes(name)),
    [],
  );
});

test('an account is deleted on all shards, since its rows are in all of its workspaces', async () => {
  const [first, second] = ['first@example.com', 'second@example.com'];
  const clients = [await deletable(first), await deletable(second)];
  await shards.set('asks one shard');
  await shards.take();
  await clients[0]?.post('/v1/me/deletion', { email: first });
  assert.equal((await shards.take()).isHidden, true);
  await shards.set('asks all shards');
  assert.equal((await clients[1]?.post('/v1/me/deletion', { email: second }))?.status, 204);
  assert.deepEqual((await shards.take()).written, []);
});

test('the last use of a credential is recorded separately from its request, once a minute, in tables of all shards', async () => {
  const key = await tenants.key(tenants.owner.user_id, {});
  await shards.take();
  assert.equal((await sharded.as(key).get(`/v1/wikis/${tenants.a.wiki_id}`)).status, 200);
  assert.deepEqual((await shards.take()).written, ['api_keys', 'users']);
  assert.equal((await sharded.as(key).get(`/v1/wikis/${tenants.a.wiki_id}`)).status, 200);
  assert.deepEqual((await shards.take()).written, []);
});

test('docs/scale.md lists each table as of workspaces, of all shards or of each shard, and none uses a sequence', async () => {
  const text = await readFile(new URL('docs/scale.md', PACKAGE), 'utf8');
  const listed = (heading: string) => {
    const [, line = ''] = new RegExp(`\\*\\*${heading}\\*\\*: ([^.]*)\\.`).exec(text) ?? [];
    return [...line.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort();
  };
  assert.deepEqual(listed('Of all shards'), [...GLOBAL_TABLES].sort());
  assert.deepEqual(listed('Of each shard'), [...TABLES_OF_A_SHARD].sort());
  const unplaced = await db.query(sql`
    select table_name from information_schema.columns
    where table_schema = 'public' and table_name = any (${shards.tables}::text[])
    group by 1 having bool_and(column_name not in ('workspace_id', 'wiki_id'))`);
  assert.deepEqual(unplaced, [], 'rows that name no workspace and no wiki: list the table in simulated-shards.ts');
  const sequences = await db.query(sql`
    select sequencename from pg_sequences where schemaname = 'public' and sequencename <> 'shard_hidden'`);
  assert.deepEqual(sequences, []);
});
