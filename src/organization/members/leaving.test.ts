import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await sharedWorld();

const membersPath = (workspace_id: string) => `/v1/workspaces/${workspace_id}/members`;

test('a deactivated member loses access with the next request, and regains it when reactivated', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const member = await world.member(owner.workspace_id, 'member');
  assert.equal((await member.get(path)).status, 200);
  const deactivated = await owner.post(`${path}/${member.membership_id}/deactivate`);
  assert.deepEqual([deactivated.status, deactivated.body.status], [200, 'inactive']);
  assert.equal((await member.get(path)).status, 403);
  assert.deepEqual((await member.get('/v1/workspaces')).body, []);
  const { seats } = (await owner.get(path)).body;
  assert.equal(seats.active, 1);
  assert.equal((await owner.post(`${path}/${member.membership_id}/reactivate`)).body.status, 'active');
  assert.equal((await member.get(path)).status, 200);
});

test('a removed member is no longer listed, and can be invited again', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const member = await world.member(owner.workspace_id, 'member');
  const email = (await member.get('/v1/overview')).body.session.user.email;
  const removed = await owner.send('DELETE', `${path}/${member.membership_id}`);
  assert.deepEqual([removed.status, removed.body], [204, '']);
  assert.equal((await member.get(path)).status, 403);
  assert.equal((await owner.send('DELETE', `${path}/${member.membership_id}`)).status, 404);
  assert.equal((await owner.post(`${path}/invite`, { email, role: 'member' })).status, 200);
});

test("every member can leave, removing others needs members:manage, and a viewer's restricted key can do neither", async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const other = await world.member(owner.workspace_id, 'viewer');
  assert.equal((await viewer.send('DELETE', `${path}/${other.membership_id}`)).status, 403);
  const { body } = await viewer.post('/v1/me/api-keys', { name: 'Reader', permissions: ['pages:read'] });
  assert.equal((await world.as(body.secret).send('DELETE', `${path}/${viewer.membership_id}`)).status, 403);
  assert.equal((await viewer.send('DELETE', `${path}/${viewer.membership_id}`)).status, 204);
  assert.equal((await viewer.get(path)).status, 403);
});

test('the last active owner can neither leave nor be deactivated: 409 last_owner', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  await world.member(owner.workspace_id, 'owner', 'inactive');
  for (const answer of [
    await owner.send('DELETE', `${path}/${owner.membership_id}`),
    await owner.post(`${path}/${owner.membership_id}/deactivate`),
  ]) {
    assert.deepEqual([answer.status, answer.body.error], [409, 'last_owner']);
  }
});

test('an admin cannot change or remove an owner', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const admin = await world.member(owner.workspace_id, 'admin');
  for (const answer of [
    await admin.send('DELETE', `${path}/${owner.membership_id}`),
    await admin.post(`${path}/${owner.membership_id}/deactivate`),
    await admin.post(`/v1/workspaces/${owner.workspace_id}/transfer`, { membership_id: admin.membership_id }),
  ]) {
    assert.equal(answer.status, 403);
  }
});

test('a transfer makes the new member an owner and the old owner an admin, both or neither', async () => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/transfer`;
  const heir = await world.member(owner.workspace_id, 'member');
  const inactive = await world.member(owner.workspace_id, 'member', 'inactive');
  const foreign = await world.owner();
  assert.equal((await owner.post(path, { membership_id: foreign.membership_id })).status, 400);
  assert.equal((await owner.post(path, { membership_id: owner.membership_id })).status, 400);
  assert.equal((await owner.post(path, { membership_id: inactive.membership_id })).body.error, 'member_inactive');
  const done = await owner.post(path, { membership_id: heir.membership_id });
  assert.deepEqual([done.status, done.body.role], [200, 'owner']);
  const { body } = await heir.get(membersPath(owner.workspace_id));
  const roles = body.members.map((member: { membership_id: string; role: string }) => [
    member.membership_id,
    member.role,
  ]);
  assert.deepEqual(roles.slice(0, 2), [
    [owner.membership_id, 'admin'],
    [heir.membership_id, 'owner'],
  ]);
  assert.equal((await owner.post(path, { membership_id: owner.membership_id })).status, 403);
});

test('reactivating a member needs a free seat', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const member = await world.member(owner.workspace_id, 'member', 'inactive');
  await world.db.query(sql`
    update workspaces set seats_unlimited = false, seats_granted = 1 where workspace_id = ${owner.workspace_id}`);
  const refused = await owner.post(`${path}/${member.membership_id}/reactivate`);
  assert.deepEqual([refused.status, refused.body.error], [409, 'seat_limit_reached']);
});

test('each write adds one audit record with actor, target, credential and address', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const member = await world.member(owner.workspace_id, 'member');
  const renamed = await owner.send('PATCH', `/v1/wikis/${owner.wiki_id}`, {
    body: '{"title":"Handbook"}',
    headers: { 'content-type': 'application/json', 'x-request-id': 'my-request-1' },
  });
  assert.equal(renamed.status, 200);
  await owner.patch(`${path}/${member.membership_id}`, { role: 'viewer' });
  await owner.patch(`${path}/${member.membership_id}`, { role: 'nonsense' });
  await owner.post(`/v1/workspaces/${owner.workspace_id}/api-keys`, { name: 'Secret' });
  const { status, body } = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events`);
  assert.equal(status, 200);
  assert.deepEqual(
    body.map((event: { type: string }) => event.type),
    ['workspace.created', 'wiki.renamed', 'organization_membership.updated', 'api_key.created'],
  );
  assert.equal(body[1].request_id, 'my-request-1');
  assert.equal(body[1].actor_id, owner.user_id);
  assert.match(body[1].credential_id, /^key_/);
  assert.equal(body[1].address, '127.0.0.1');
  assert.deepEqual([body[1].target_kind, body[1].target_id], ['wiki', owner.wiki_id]);
  assert.equal(body[1].changes.after.title, 'Handbook');
  assert.ok(!/secret|ibid_live_[0-9A-Za-z]{8}/.test(JSON.stringify(body)), 'no secret is in the log');
  assert.equal((await member.get(`/v1/workspaces/${owner.workspace_id}/audit-events`)).status, 403);
});
