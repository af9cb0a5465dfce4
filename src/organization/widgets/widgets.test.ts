import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt, SignJWT } from 'jose';
import { sharedWorld } from '../../../test/shared-world.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await sharedWorld();

async function token(client: Awaited<ReturnType<typeof world.owner>>, widget: string) {
  const answer = await client.post(`/v1/workspaces/${client.workspace_id}/widget-token`, { widget });
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.body), ['token']);
  return answer.body.token as string;
}

test('each widget accepts its own kind of token, and no other endpoint does', async () => {
  const owner = await world.owner();
  for (const widget of ['profile', 'enterprise', 'developers']) {
    const holder = world.as(await token(owner, widget));
    for (const other of ['profile', 'enterprise', 'developers']) {
      assert.equal((await holder.get(`/v1/widgets/${other}`)).status, other === widget ? 200 : 403);
    }
    assert.equal((await holder.get('/v1/workspaces')).status, 401);
    assert.equal((await holder.get(`/v1/workspaces/${owner.workspace_id}/members`)).status, 401);
    assert.equal((await owner.get(`/v1/widgets/${widget}`)).status, 401, 'an API key is no widget token');
  }
});

test('each widget shows its data', async () => {
  const owner = await world.owner('widgets@example.com');
  await world.member(owner.workspace_id, 'viewer');
  await world.workspaceKey('widgets@example.com', owner.workspace_id);
  const profile = await world.as(await token(owner, 'profile')).get('/v1/widgets/profile');
  assert.equal(profile.body.user.email, 'widgets@example.com');
  assert.equal(profile.body.workspaces[0].workspace_id, owner.workspace_id);
  const enterprise = await world.as(await token(owner, 'enterprise')).get('/v1/widgets/enterprise');
  assert.equal(enterprise.body.seats.active, 2);
  const held = enterprise.body.roles.map((role: { slug: string; members: number }) => [role.slug, role.members]);
  assert.deepEqual(Object.fromEntries(held), { owner: 1, admin: 0, developer: 0, billing: 0, member: 0, viewer: 1 });
  const developers = await world.as(await token(owner, 'developers')).get('/v1/widgets/developers');
  assert.equal(developers.body.api_keys.length, 1);
  assert.match(developers.body.api_keys[0].obfuscated_value, /^ibid_live_….{4}$/);
  assert.ok(!('expires_at' in developers.body.api_keys[0]), 'a time that was not set is left out');
});

test('a widget needs its permission when the token is issued and on each use', async () => {
  const owner = await world.owner();
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const path = `/v1/workspaces/${owner.workspace_id}/widget-token`;
  assert.equal((await viewer.post(path, { widget: 'profile' })).status, 200);
  assert.equal((await viewer.post(path, { widget: 'enterprise' })).status, 403);
  assert.equal((await viewer.post(path, { widget: 'developers' })).status, 403);
  const developer = await world.member(owner.workspace_id, 'developer');
  const { body } = await developer.post(path, { widget: 'developers' });
  const holder = world.as(body.token);
  assert.equal((await holder.get('/v1/widgets/developers')).status, 200);
  await owner.patch(`/v1/workspaces/${owner.workspace_id}/members/${developer.membership_id}`, { role: 'member' });
  assert.equal((await holder.get('/v1/widgets/developers')).status, 403);
  await world.db.query(sql`delete from memberships where membership_id = ${developer.membership_id}`);
  assert.equal((await holder.get('/v1/widgets/developers')).status, 403);
});

test('a token contains only ids, differs from every other token, and expires after an hour', async () => {
  const owner = await world.owner();
  const [first, second] = [await token(owner, 'profile'), await token(owner, 'profile')];
  assert.notEqual(first, second);
  const claims = decodeJwt(first);
  assert.equal((claims.exp ?? 0) - (claims.iat ?? 0), 3_600);
  assert.deepEqual(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'jti', 'key', 'org', 'sub', 'widget']);
});

test('a forged, changed or expired token is 401', async () => {
  const owner = await world.owner();
  const good = await token(owner, 'profile');
  const { org, sub } = decodeJwt(good);
  const sign = (key: Uint8Array, expiry: string) =>
    new SignJWT({ org, widget: 'profile' })
      .setProtectedHeader({ alg: 'HS256', typ: 'widget+jwt', kid: 'widget-1' })
      .setSubject(sub ?? '')
      .setAudience('widget')
      .setIssuedAt()
      .setExpirationTime(expiry)
      .sign(key);
  const [row] = await world.db.query<{ secret: Buffer }>(sql`select secret from signing_keys`);
  assert.ok(row);
  const parts = good.split('.');
  const forgeries = [
    await sign(Buffer.alloc(32), '1h'),
    await sign(row.secret, '-1s'),
    `${parts[0]}.${parts[1]}.`,
    `${parts[0]}.${parts[1]}.${parts[2]}x`,
    `${Buffer.from('{"alg":"none","typ":"widget+jwt","kid":"widget-1"}').toString('base64url')}.${parts[1]}.`,
  ];
  for (const forged of forgeries) assert.equal((await world.as(forged).get('/v1/widgets/profile')).status, 401);
  assert.equal(
    (await world.as(await sign(row.secret, '1h')).get('/v1/widgets/profile')).status,
    200,
    'the forge itself must work',
  );
});

test('a token ends with the key that created it', async () => {
  const owner = await world.owner();
  const holder = world.as(await token(owner, 'profile'));
  assert.equal((await holder.get('/v1/widgets/profile')).status, 200);
  await world.db.query(sql`update api_keys set revoked_at = now() where user_id = ${owner.user_id}`);
  assert.equal((await holder.get('/v1/widgets/profile')).status, 401);
});

test('a workspace key has no profile: 400 user_required', async () => {
  const owner = await world.owner('no-profile@example.com');
  const key = await world.workspaceKey('no-profile@example.com', owner.workspace_id);
  const path = `/v1/workspaces/${owner.workspace_id}/widget-token`;
  const refused = await key.post(path, { widget: 'profile' });
  assert.equal(refused.status, 400);
  assert.equal(refused.body.error, 'user_required');
  assert.equal((await key.post(path, { widget: 'developers' })).status, 200);
});

test('the sample body of the specification, {}, is 422, and an unknown widget is refused with the three valid names', async () => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/widget-token`;
  const empty = await owner.post(path, {});
  assert.equal(empty.status, 422);
  assert.deepEqual(empty.body.detail, [{ type: 'missing', loc: ['body', 'widget'], msg: 'Field required', input: {} }]);
  const unknown = await owner.post(path, { widget: 'Profile' });
  assert.deepEqual(unknown.body.detail, [
    {
      type: 'enum',
      loc: ['body', 'widget'],
      msg: "Input should be 'profile', 'enterprise' or 'developers'",
      input: 'Profile',
      ctx: { expected: "'profile', 'enterprise' or 'developers'" },
    },
  ]);
});
