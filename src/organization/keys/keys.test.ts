import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();

test('a key shows its secret once, works until revoked, and is listed masked with its last use', async () => {
  const owner = await world.owner();
  for (const path of [`/v1/workspaces/${owner.workspace_id}/api-keys`, '/v1/me/api-keys']) {
    const made = await owner.post(path, { name: ' Import ' });
    assert.equal(made.status, 201);
    assert.equal(made.body.name, 'Import');
    assert.equal(made.body.created_by, owner.user_id);
    assert.match(made.body.secret, /^ibid_live_[0-9A-Za-z]{35}$/);
    assert.ok(!('last_used_at' in made.body) && !('expires_at' in made.body));
    const key = world.as(made.body.secret);
    assert.equal((await key.get('/v1/workspaces')).body[0].workspace_id, owner.workspace_id);
    const listed = (await owner.get(path)).body.find((entry: { key_id: string }) => entry.key_id === made.body.key_id);
    assert.ok(listed.last_used_at);
    assert.ok(!JSON.stringify(listed).includes(made.body.secret.slice(10, 30)));
    assert.equal(listed.obfuscated_value.slice(-4), made.body.secret.slice(-4));
    const revoked = await owner.send('DELETE', `${path}/${made.body.key_id}`);
    assert.deepEqual([revoked.status, revoked.body], [204, '']);
    assert.equal((await key.get('/v1/workspaces')).status, 401);
    assert.equal((await owner.send('DELETE', `${path}/${made.body.key_id}`)).status, 404);
  }
});

test('a key with limited permissions has no others, whatever its creator may do', async () => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/api-keys`;
  const { body } = await owner.post(path, { name: 'Reader', permissions: ['pages:read', 'members:read'] });
  assert.deepEqual(body.permissions, ['members:read', 'pages:read']);
  const reader = world.as(body.secret);
  assert.equal((await reader.get(`/v1/wikis/${owner.wiki_id}/pages`)).status, 200);
  assert.equal((await reader.get(`/v1/wikis/${owner.wiki_id}/sources`)).status, 403);
  assert.equal((await reader.patch(`/v1/wikis/${owner.wiki_id}`, { title: 'No' })).status, 403);
  assert.deepEqual((await reader.get('/v1/workspaces')).body[0].permissions, ['members:read', 'pages:read']);
  const { body: members } = await reader.get(`/v1/workspaces/${owner.workspace_id}/members`);
  assert.equal(members.viewer.can_manage_members, false);
});

test('a key cannot create a key with more permissions or a longer life than its own', async () => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/api-keys`;
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const first = await owner.post(path, { name: 'First', permissions: ['developers:manage', 'pages:read'], expires_at });
  const second = await world
    .as(first.body.secret)
    .post(path, { name: 'Second', permissions: ['billing:manage', 'pages:read'] });
  assert.deepEqual(second.body.permissions, ['pages:read']);
  assert.equal(second.body.expires_at, expires_at);
  const third = await world.as(first.body.secret).post(path, { name: 'Third' });
  assert.deepEqual(third.body.permissions, ['developers:manage', 'pages:read']);
  assert.equal((await world.as(first.body.secret).post('/v1/me/api-keys', { name: 'Mine' })).status, 403);
});

test('a key limited to managing members grants no more than it has', async () => {
  const owner = await world.owner();
  const { body } = await owner.post('/v1/me/api-keys', {
    name: 'People',
    permissions: ['members:manage', 'members:read'],
  });
  const key = world.as(body.secret);
  const path = `/v1/workspaces/${owner.workspace_id}/members`;
  const member = await world.member(owner.workspace_id, 'member');
  for (const role of ['owner', 'admin', 'developer', 'billing']) {
    assert.equal((await key.patch(`${path}/${member.membership_id}`, { role })).body.error, 'role_not_grantable');
    assert.equal((await key.post(`${path}/invite`, { email: 'a@example.com', role })).body.error, 'role_not_grantable');
  }
  assert.equal(
    (await key.patch(`${path}/${owner.membership_id}`, { role: 'viewer' })).body.error,
    'role_not_grantable',
  );
  assert.equal((await key.patch(`${path}/${member.membership_id}`, { role: 'viewer' })).body.role, 'viewer');
});

test('invalid input is 400 and creates nothing', async () => {
  const owner = await world.owner();
  for (const input of [
    { name: 'x'.repeat(101) },
    { name: 'a', permissions: ['pages:eat'] },
    { name: 'a', expires_at: '2020-01-01T00:00:00Z' },
    { name: 'a', expires_at: 'tomorrow' },
    { name: 'a', expires_at: '2027-13-45T00:00:00Z' },
  ]) {
    assert.equal((await owner.post('/v1/me/api-keys', input)).status, 400, JSON.stringify(input));
  }
  assert.equal((await owner.get('/v1/me/api-keys')).body.length, 1, 'the one that the test calls with');
});

test('a key of another workspace or person can be neither seen nor revoked', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  const theirs = await other.post(`/v1/workspaces/${other.workspace_id}/api-keys`, { name: 'Theirs' });
  const personal = await other.post('/v1/me/api-keys', { name: 'Theirs' });
  assert.equal(
    (await owner.send('DELETE', `/v1/workspaces/${owner.workspace_id}/api-keys/${theirs.body.key_id}`)).status,
    404,
  );
  assert.equal(
    (await owner.send('DELETE', `/v1/workspaces/${other.workspace_id}/api-keys/${theirs.body.key_id}`)).status,
    403,
  );
  assert.equal((await owner.send('DELETE', `/v1/me/api-keys/${personal.body.key_id}`)).status, 404);
  assert.equal((await world.as(theirs.body.secret).get('/v1/workspaces')).status, 200);
  assert.equal((await world.as(personal.body.secret).get('/v1/workspaces')).status, 200);
});
