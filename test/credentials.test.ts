import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { AUDIENCE, startOpenIdProvider } from './openid-provider.ts';
import { openWorld } from './world.ts';

const openId = await startOpenIdProvider();
cleanUp(() => openId.stop());
const world = await openWorld({ OIDC_ISSUER: openId.issuer, OIDC_AUDIENCE: AUDIENCE });

test('an access token of the configured issuer signs its user in, and its first use creates the user', async () => {
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    const ann = world.as(await openId.token(algorithm));
    const first = await ann.post('/v1/onboarding');
    assert.equal(first.status, 200);
    assert.equal(first.body.workspace_created, true);
    assert.deepEqual(
      { ...first.body.overview.session.user, user_id: '' },
      {
        user_id: '',
        email: 'ann.lee@example.org',
        display_name: 'Ann Lee',
        avatar_url: 'https://img.example.org/ann.png',
      },
    );
    const again = await world.as(await openId.token(algorithm)).post('/v1/onboarding');
    assert.equal(again.body.workspace_created, false, 'a new token of the same subject is the same user');
    assert.equal(again.body.workspace.workspace_id, first.body.workspace.workspace_id);
  }
});

test('the same e-mail address at another issuer is another user', async () => {
  const local = await world.person('local@example.com');
  await world.db.query(sql`update users set email = 'ann.lee@example.org' where user_id = ${local.user_id}`);
  const remote = await world.as(await openId.token('ES256')).get('/v1/overview');
  assert.equal(remote.body.session.user.email, 'ann.lee@example.org');
  assert.notEqual(remote.body.session.user.user_id, local.user_id);
});

test('a token that the issuer made for another audience gets the same 401 as any invalid credential', async () => {
  const [header, payload, signature] = (await openId.token('ES256')).split('.');
  const claims = JSON.parse(Buffer.from(payload ?? '', 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, aud: 'https://elsewhere.example' })).toString('base64url');
  const refused = await world.as(`${header}.${forged}.${signature}`).get('/v1/workspaces');
  const anonymous = await world.anonymous.get('/v1/workspaces');
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
  assert.deepEqual({ ...refused.body, request_id: '' }, { ...anonymous.body, request_id: '' });
});

test('a workspace key works only in its workspace', async () => {
  const owner = await world.owner('keys@example.com');
  const key = await world.workspaceKey('keys@example.com', owner.workspace_id);
  const other = await owner.post('/v1/workspaces', { name: 'Other' });
  const list = await key.get('/v1/workspaces');
  assert.deepEqual(
    list.body.map((workspace: { workspace_id: string }) => workspace.workspace_id),
    [owner.workspace_id],
  );
  assert.equal((await key.get(`/v1/workspaces/${other.body.workspace_id}/members`)).status, 403);
  const create = await key.post('/v1/workspaces', { name: 'More' });
  assert.equal(create.status, 403);
  assert.equal(create.body.error, 'key_is_workspace_bound');
  const overview = await key.get('/v1/overview');
  assert.equal(overview.body.session.organization_id, owner.workspace_id);
  assert.equal(overview.body.session.organizations.length, 1);
});

test('a workspace key never has more permissions than its creator has now', async () => {
  const owner = await world.owner('creator@example.com');
  const key = await world.workspaceKey('creator@example.com', owner.workspace_id);
  const successor = await world.member(owner.workspace_id, 'owner');
  const invite = { email: 'someone@example.com', role: 'viewer' };
  assert.equal((await key.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, invite)).status, 200);
  const demoted = await successor.patch(`/v1/workspaces/${owner.workspace_id}/members/${owner.membership_id}`, {
    role: 'viewer',
  });
  assert.equal(demoted.status, 200);
  assert.equal((await key.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, invite)).status, 403);
  await world.db.query(sql`update memberships set status = 'inactive' where membership_id = ${owner.membership_id}`);
  assert.equal((await key.get(`/v1/workspaces/${owner.workspace_id}/members`)).status, 403);
  assert.equal((await key.post('/v1/onboarding')).status, 403, 'a key is not a user who could be given a workspace');
});

test('a revoked or expired key answers 401 from the next request on', async () => {
  const { db } = world;
  for (const end of [sql`revoked_at = now()`, sql`expires_at = now()`]) {
    const person = await world.owner();
    assert.equal((await person.get('/v1/workspaces')).status, 200);
    await db.query(sql`update api_keys set ${end} where user_id = ${person.user_id}`);
    assert.equal((await person.get('/v1/workspaces')).status, 401);
  }
});

test('only the hash of a key is stored', async () => {
  const person = await world.person();
  const rows = await world.db.query(sql`select to_jsonb(k) as row from api_keys k where user_id = ${person.user_id}`);
  const secret = (person.token ?? '').slice('ibid_live_'.length);
  assert.equal(rows.length, 1);
  for (let i = 0; i + 12 <= secret.length; i += 1) {
    assert.ok(!JSON.stringify(rows).includes(secret.slice(i, i + 12)), 'a piece of the secret is in the database');
  }
});

test('the current workspace is the most recently used one', async () => {
  const owner = await world.owner();
  const { body: second } = await owner.post('/v1/workspaces', { name: 'Second' });
  assert.equal((await owner.get('/v1/overview')).body.session.organization_id, owner.workspace_id);
  await owner.get(`/v1/workspaces/${second.workspace_id}/members`);
  assert.equal((await owner.get('/v1/overview')).body.session.organization_id, second.workspace_id);
});

test('a user without a workspace has an empty overview, and an onboarding without nulls', async () => {
  const person = await world.person();
  const { body } = await person.get('/v1/overview');
  assert.equal(body.session.organization_id, '');
  assert.deepEqual([body.access, body.session.organizations, body.wikis], [[], [], []]);
});
