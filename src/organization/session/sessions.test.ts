import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signedInClient } from '../../../test/signed-in.ts';
import { type Client, openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await openWorld({ PASSWORD_SIGN_IN: 'on' });
const { query } = world.db;

const refresh = (refresh_token: string) => world.anonymous.post('/v1/auth/refresh', { refresh_token });

/** Creates a person with a workspace and a session. */
async function owner() {
  const person = await world.owner();
  return { person, session: await signedInClient(world, person.user_id) };
}

const isIn = async (client: Client) => (await client.get('/v1/me')).status;

test('a session has the permissions of its user and returns their profile', async () => {
  const { person, session } = await owner();
  const me = await session.get('/v1/me');
  assert.equal(me.status, 200);
  assert.deepEqual([me.body.user_id, me.body.email_verified], [person.user_id, true]);
  assert.deepEqual(Object.keys(me.body), ['user_id', 'email', 'email_verified', 'display_name', 'avatar_url']);
  assert.equal((await session.get(`/v1/workspaces/${person.workspace_id}/members`)).status, 200);
  const key = await session.post('/v1/me/api-keys', { name: 'Mine' });
  assert.equal(key.status, 201, 'a session is not restricted');
});

test('a refresh returns new tokens, and the previous ones stop working at once', async () => {
  const { session } = await owner();
  const before = session.tokens;
  const answer = await refresh(before.refresh_token);
  assert.equal(answer.status, 200);
  const { access_token, refresh_token, ...rest } = answer.body;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 900, session_id: before.session_id });
  assert.match(access_token, /^ibid_at_[0-9A-Za-z]{35}$/);
  assert.match(refresh_token, /^ibid_rt_[0-9A-Za-z]{35}$/);
  assert.equal(await isIn(session), 401);
  assert.equal(await isIn(world.as(access_token)), 200);
});

test('a refresh token used twice ends the session for every holder, and is audited', async () => {
  const { session } = await owner();
  const renewed = await refresh(session.tokens.refresh_token);
  const again = await refresh(session.tokens.refresh_token);
  assert.deepEqual([again.status, again.body.error], [401, 'unauthorized']);
  assert.equal(await isIn(world.as(renewed.body.access_token)), 401);
  assert.equal((await refresh(renewed.body.refresh_token)).status, 401);
  const records = await query(sql`
    select actor_id, target_id, after ->> 'state' as state from audit_events where type = 'session.reuse_detected' and actor_id = ${session.user_id}`);
  assert.deepEqual(records, [{ actor_id: session.user_id, target_id: session.tokens.session_id, state: 'revoked' }]);
});

test('an Idempotency-Key does not keep a stolen session alive', async () => {
  const { session } = await owner();
  const renewed = await refresh(session.tokens.refresh_token);
  const again = await world.anonymous.post(
    '/v1/auth/refresh',
    { refresh_token: session.tokens.refresh_token },
    { 'idempotency-key': 'robbed' },
  );
  assert.equal(again.status, 401);
  assert.equal(await isIn(world.as(renewed.body.access_token)), 401);
});

test('an access token ends after 15 minutes, a session after 30 days without a refresh and after 90 days in all', async () => {
  const { session } = await owner();
  const { session_id } = session.tokens;
  const [ends] = await query(sql`
    select access_expires_at - created_at = interval '15 minutes' as access,
      expires_at - created_at = interval '90 days' as at_last,
      (select r.expires_at - r.created_at = interval '30 days' from refresh_tokens r where r.session_id = s.session_id) as idle
    from sessions s where session_id = ${session_id}`);
  assert.deepEqual(ends, { access: true, at_last: true, idle: true });
  await query(sql`update sessions set access_expires_at = now() where session_id = ${session_id}`);
  assert.equal(await isIn(session), 401);
  const renewed = (await refresh(session.tokens.refresh_token)).body;
  assert.equal(await isIn(world.as(renewed.access_token)), 200);
  await query(sql`update refresh_tokens set expires_at = now() where session_id = ${session_id} and used_at is null`);
  assert.equal((await refresh(renewed.refresh_token)).status, 401);

  const other = await signedInClient(world, session.user_id);
  await query(sql`update sessions set expires_at = now() where session_id = ${other.tokens.session_id}`);
  assert.equal(await isIn(other), 401);
  assert.equal((await refresh(other.tokens.refresh_token)).status, 401);
  const [row] = await query(sql`select revoked_at from sessions where session_id = ${other.tokens.session_id}`);
  assert.deepEqual(row, { revoked_at: null }, 'the end of a session is no reuse');
});

test('a token of another kind or a malformed one is refused', async () => {
  const { person, session } = await owner();
  const { access_token, refresh_token } = session.tokens;
  for (const text of [access_token, String(person.token), `${refresh_token.slice(0, -1)}!`, 'x', '', 'ibid_rt_']) {
    assert.equal((await refresh(text)).status, 401, text);
  }
  assert.equal(await isIn(world.as(refresh_token)), 401);
  assert.equal(await isIn(session), 200, 'none of this ended the session');
});

test('no token is stored in plain text', async () => {
  const { session } = await owner();
  const tables = await query<{ name: string }>(sql`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`);
  assert.ok(tables.some(({ name }) => name === 'refresh_tokens'));
  const [dump] = await query<{ dump: string }>(sql`
    select (select string_agg(s::text, ' ') from sessions s) || (select string_agg(r::text, ' ') from refresh_tokens r)
      || (select string_agg(a::text, ' ') from audit_events a) as dump`);
  for (const secret of [session.tokens.access_token, session.tokens.refresh_token]) {
    assert.ok(dump && !dump.dump.includes(secret));
    assert.ok(!dump.dump.includes(Buffer.from(secret).toString('hex')));
  }
});

test('users see where they are signed in, and can end other sessions', async () => {
  const { session } = await owner();
  const phone = await signedInClient(world, session.user_id, { 'user-agent': 'Phone/1.0' });
  const list = await session.get('/v1/me/sessions');
  assert.equal(list.status, 200);
  assert.deepEqual(
    list.body.map((one: { session_id: string; current: boolean }) => [one.session_id, one.current]),
    [
      [session.tokens.session_id, true],
      [phone.tokens.session_id, false],
    ],
  );
  assert.equal(list.body[1].user_agent, 'Phone/1.0');
  assert.equal((await session.get('/v1/me/sessions?limit=1&offset=1')).body.length, 1);
  assert.equal((await session.send('DELETE', `/v1/me/sessions/${phone.tokens.session_id}`)).status, 204);
  assert.equal(await isIn(phone), 401);
  assert.equal((await refresh(phone.tokens.refresh_token)).status, 401);
  assert.equal((await session.send('DELETE', `/v1/me/sessions/${phone.tokens.session_id}`)).status, 404);
  assert.equal((await session.get('/v1/me/sessions')).body.length, 1);
});

test("no user sees or ends another user's session", async () => {
  const [mine, theirs] = [(await owner()).session, (await owner()).session];
  assert.equal((await mine.send('DELETE', `/v1/me/sessions/${theirs.tokens.session_id}`)).status, 404);
  assert.equal(await isIn(theirs), 200);
  const { body } = await mine.get('/v1/me/sessions');
  assert.ok(body.every((one: { session_id: string }) => one.session_id !== theirs.tokens.session_id));
});

test('signing out ends only the current session; signing out everywhere ends all', async () => {
  const { person, session } = await owner();
  const [second, third] = [await signedInClient(world, session.user_id), await signedInClient(world, session.user_id)];
  assert.equal((await session.post('/v1/auth/sign-out')).status, 204);
  assert.deepEqual([await isIn(session), await isIn(second), await isIn(third)], [401, 200, 200]);
  assert.equal((await refresh(session.tokens.refresh_token)).status, 401);
  assert.equal((await second.post('/v1/auth/sign-out-everywhere')).status, 204);
  assert.deepEqual([await isIn(second), await isIn(third)], [401, 401]);
  assert.equal(await isIn(person), 200, 'an API key is no session');
  const records = await query(sql`
    select type, target_id, before -> 'session_ids' as session_ids from audit_events
    where actor_id = ${session.user_id} and type in ('session.revoked', 'user.signed_out_everywhere') order by event_id`);
  assert.deepEqual(records, [
    { type: 'session.revoked', target_id: session.tokens.session_id, session_ids: null },
    {
      type: 'user.signed_out_everywhere',
      target_id: session.user_id,
      session_ids: [second.tokens.session_id, third.tokens.session_id],
    },
  ]);
});

test('no key can list or end sessions, or set a password', async () => {
  const { person } = await owner();
  const bound = await world.owner();
  const [{ email } = { email: '' }] = await query<{ email: string }>(
    sql`select email from users where user_id = ${bound.user_id}`,
  );
  for (const key of [person, await world.workspaceKey(email, bound.workspace_id)]) {
    const refused = [
      await key.get('/v1/me/sessions'),
      await key.send('DELETE', '/v1/me/sessions/ses_x'),
      await key.post('/v1/auth/sign-out'),
      await key.post('/v1/auth/sign-out-everywhere'),
      await key.post('/v1/me/password', { new_password: 'correct horse battery' }),
      await key.send('DELETE', '/v1/me/password'),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status),
      refused.map(() => 403),
    );
  }
});

test('a widget token created by a session ends with the session, not with its access token', async () => {
  const { person, session } = await owner();
  const issued = await session.post(`/v1/workspaces/${person.workspace_id}/widget-token`, { widget: 'profile' });
  const widget = world.as(issued.body.token);
  const renewed = await refresh(session.tokens.refresh_token);
  assert.equal((await widget.get('/v1/widgets/profile')).status, 200);
  await world.as(renewed.body.access_token).post('/v1/auth/sign-out');
  assert.equal((await widget.get('/v1/widgets/profile')).status, 401);
});

test('an idempotent request repeated after a refresh is replayed', async () => {
  const { session } = await owner();
  const headers = { 'idempotency-key': 'over-a-refresh' };
  const first = await session.post('/v1/workspaces', { name: 'Once' }, headers);
  const renewed = await refresh(session.tokens.refresh_token);
  const again = await world.as(renewed.body.access_token).post('/v1/workspaces', { name: 'Once' }, headers);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(again.body.workspace_id, first.body.workspace_id);
});

test('new sessions delete expired ones with their tokens', async () => {
  const { session } = await owner();
  const { session_id } = session.tokens;
  await query(sql`update sessions set expires_at = now() - interval '1 second' where session_id = ${session_id}`);
  await signedInClient(world, session.user_id);
  const left = await query(sql`
    select 1 from sessions where session_id = ${session_id}
    union all select 1 from refresh_tokens where session_id = ${session_id}`);
  assert.deepEqual(left, []);
});

test('an endpoint without authentication ignores invalid credentials', async () => {
  for (const authorization of ['Bearer x', 'Basic x', 'Bearer ibid_at_x', '']) {
    const answer = await world.anonymous.get('/v1/auth/methods', { authorization });
    assert.deepEqual([answer.status, answer.body], [200, { methods: ['email', 'password'], has_users: true }]);
  }
});
