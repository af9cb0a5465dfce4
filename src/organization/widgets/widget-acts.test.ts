import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { existingParams, nameOf, propertiesOf, validBody, validQuery } from '../../../test/requests.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { type Client, type Owner, openWorld } from '../../../test/world.ts';
import { ENDPOINTS } from '../../app.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Endpoint } from '../../platform/http/endpoint.ts';
import { WIDGET_ENDPOINTS } from '../widget-endpoints.ts';

const world = await openWorld({ PUBLIC_URL: 'https://wiki.example.com' });
const SITE = 'https://intranet.example.com';
const OTHER_SITE = 'https://shop.example.com';
const SITES = [SITE, OTHER_SITE];

async function workspace(): Promise<Owner> {
  const owner = await world.owner();
  await owner.patch(`/v1/workspaces/${owner.workspace_id}/widget-origins`, { widget_origins: SITES });
  return owner;
}

async function tokenOf(by: Client, { workspace_id }: Owner, widget: string, origin: string = SITE): Promise<string> {
  const issued = await by.post(`/v1/workspaces/${workspace_id}/widget-token`, { widget, origin });
  assert.equal(issued.status, 200, JSON.stringify(issued.body));
  return issued.body.token;
}

/** Sends a request from a page of the origin; null sends it from outside a browser. */
function send(token: string, method: string, path: string, origin: string | null = SITE, body?: unknown) {
  const headers = {
    ...(origin !== null && { origin }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  return world.as(token).send(method, path, { headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

/** Sends a request with ids of nonexistent objects, so that it changes nothing. */
function sendTo(endpoint: Endpoint, token: string, origin: string | null) {
  const ids = Object.fromEntries(existingParams(endpoint).map((name) => [name, 'unknown']));
  const path =
    endpoint.path.replace(/:([a-z_]+)/g, (_, name: string) => ids[name] ?? '') + validQuery(endpoint, ids as never);
  const body = endpoint.body ? validBody(endpoint, { email: 'x@example.com' } as never) : undefined;
  const isBlind = Object.keys(propertiesOf(endpoint.body)).length > 0 && existingParams(endpoint).length === 0;
  return send(token, endpoint.method, path, origin, isBlind ? {} : body);
}

test('a token opens only the endpoints of its own widget, and only from pages of its origin', async () => {
  const owner = await workspace();
  const { client } = await asSession(owner);
  for (const widget of ['profile', 'enterprise', 'developers']) {
    const token = await tokenOf(client, owner, widget);
    const showing = (await owner.post(`/v1/workspaces/${owner.workspace_id}/widget-token`, { widget })).body.token;
    for (const endpoint of ENDPOINTS.filter(({ access }) => access.on !== 'anyone')) {
      const { access } = endpoint;
      const name = `${nameOf(endpoint)} with a token for ${widget}`;
      if (access.on !== 'widget') {
        assert.equal((await sendTo(endpoint, token, SITE)).status, 401, name);
        continue;
      }
      if (access.widget !== widget) {
        assert.equal((await sendTo(endpoint, token, SITE)).status, 403, name);
        continue;
      }
      for (const elsewhere of [OTHER_SITE, 'https://evil.example.com', 'null', 'https://wiki.example.com', null]) {
        const refused = await sendTo(endpoint, token, elsewhere);
        assert.equal(refused.status, 403, `${name} from ${elsewhere}`);
        assert.equal(refused.body.error, 'forbidden');
      }
      const here = await sendTo(endpoint, token, SITE);
      assert.notEqual(here.status, 401, name);
      if (!access.instead || endpoint.method === 'GET') assert.equal(here.status, 200, name);
      const shown = await sendTo(endpoint, showing, SITE);
      assert.equal(shown.status, access.instead ? 403 : 200, `${name} that names no origin`);
    }
  }
});

test('a stolen token opens no endpoint after it expires', async () => {
  const owner = await workspace();
  const [key] = await world.db.query<{ kid: string; secret: Buffer }>(sql`select kid, secret from signing_keys`);
  const sign = (widget: string, end: string) =>
    new SignJWT({ org: owner.workspace_id, widget, origin: SITE })
      .setProtectedHeader({ alg: 'HS256', typ: 'widget+jwt', kid: key?.kid })
      .setSubject(owner.user_id)
      .setAudience('widget')
      .setIssuedAt()
      .setExpirationTime(end)
      .sign(key?.secret ?? Buffer.alloc(0));
  for (const endpoint of WIDGET_ENDPOINTS) {
    const widget = endpoint.access.on === 'widget' ? endpoint.access.widget : '';
    assert.equal((await sendTo(endpoint, await sign(widget, '-1s'), SITE)).status, 401, nameOf(endpoint));
  }
  const issued = JSON.parse(
    Buffer.from((await tokenOf(owner, owner, 'profile')).split('.')[1] ?? '', 'base64url').toString(),
  );
  assert.equal(issued.exp - issued.iat, 600);
  assert.equal(issued.origin, SITE);
});

test('a token is only issued for an allowed origin, and ends when the origin is no longer allowed', async () => {
  const owner = await workspace();
  const path = `/v1/workspaces/${owner.workspace_id}/widget-token`;
  for (const origin of ['https://evil.example.com', 'null', '*', `${SITE}/page`, '']) {
    const refused = await owner.post(path, { widget: 'profile', origin });
    assert.equal(refused.status, 400, origin);
    assert.equal(refused.body.error, 'invalid_request');
  }
  const token = await tokenOf(owner, owner, 'enterprise');
  const own = await tokenOf(owner, owner, 'enterprise', 'https://wiki.example.com');
  await owner.patch(`/v1/workspaces/${owner.workspace_id}/widget-origins`, { widget_origins: [OTHER_SITE] });
  assert.equal((await send(token, 'GET', '/v1/widgets/enterprise/members')).status, 403);
  const ownPage = { headers: { 'sec-fetch-site': 'same-origin' } };
  assert.equal((await world.as(own).send('GET', '/v1/widgets/enterprise/members', ownPage)).status, 200);
});

test('a widget never does more than the credential that created its token', async () => {
  const owner = await workspace();
  const key = async (permissions: string[]) =>
    world.as((await owner.post('/v1/me/api-keys', { name: 'x', permissions })).body.secret);
  const narrow = await tokenOf(await key(['enterprise:manage']), owner, 'enterprise');
  assert.equal((await send(narrow, 'GET', '/v1/widgets/enterprise/audit-events')).status, 200);
  for (const path of ['members', 'plans', 'invitations', 'widget-origins']) {
    assert.equal((await send(narrow, 'GET', `/v1/widgets/enterprise/${path}`)).status, 403, path);
  }
  assert.deepEqual((await send(narrow, 'GET', '/v1/widgets/enterprise')).body.permissions, ['enterprise:manage']);

  const developer = await tokenOf(await key(['developers:manage']), owner, 'developers');
  const made = await send(developer, 'POST', '/v1/widgets/developers/api-keys', SITE, { name: 'made by a widget' });
  assert.equal(made.status, 201);
  assert.deepEqual(made.body.permissions, ['developers:manage'], 'no key that is worth more than the one behind it');

  const byKey = await tokenOf(owner, owner, 'profile');
  const profile = (await send(byKey, 'GET', '/v1/widgets/profile')).body;
  assert.deepEqual([profile.can_change, profile.can_manage_sessions], [true, false]);
  assert.equal((await send(byKey, 'GET', '/v1/widgets/profile/sessions')).status, 403, 'a key shows no sessions');
  const limited = await tokenOf(await key(['pages:read']), owner, 'profile');
  assert.equal((await send(limited, 'PATCH', '/v1/widgets/profile', SITE, { display_name: 'X' })).status, 403);
});

test('actions through a widget take effect and are audited with the widget', async () => {
  const owner = await workspace();
  const member = await world.member(owner.workspace_id, 'member');
  const token = await tokenOf(owner, owner, 'enterprise');
  const changed = await send(token, 'PATCH', `/v1/widgets/enterprise/members/${member.membership_id}`, SITE, {
    role: 'viewer',
  });
  assert.equal(changed.status, 200);
  assert.equal(changed.headers.get('access-control-allow-origin'), SITE);
  const { body: events } = await send(token, 'GET', '/v1/widgets/enterprise/audit-events?order=newest&limit=1');
  const [event] = events;
  assert.deepEqual(
    [event.type, event.actor_id, event.credential_kind, event.widget, event.widget_origin, event.target_id],
    ['organization_membership.updated', owner.user_id, 'widget', 'enterprise', SITE, member.membership_id],
  );
  assert.match(event.credential_id, /^key_/, 'the key that its token was made with');
  assert.equal((await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events?limit=1`)).body[0].widget, '');
});

test('through the profile widget users can leave, and cannot remove other members', async () => {
  const owner = await workspace();
  const admin = await world.member(owner.workspace_id, 'admin');
  const member = await world.member(owner.workspace_id, 'member');
  const token = await tokenOf(admin, owner, 'profile');
  const remove = (membership_id: string) => send(token, 'DELETE', `/v1/widgets/profile/members/${membership_id}`);
  assert.equal((await remove(member.membership_id)).status, 403);
  assert.equal((await remove(owner.membership_id)).status, 403);
  const { body: profile } = await send(token, 'GET', '/v1/widgets/profile');
  assert.equal((await remove(profile.membership_id)).status, 204);
  assert.equal((await send(token, 'GET', '/v1/widgets/profile')).status, 403, 'who left has no widget there');
  const last = await tokenOf(owner, owner, 'profile');
  const kept = await send(last, 'DELETE', `/v1/widgets/profile/members/${owner.membership_id}`);
  assert.equal(kept.body.error, 'last_owner');
});

test('users change name, language and time zone and end sessions, and no workspace sees it', async () => {
  const owner = await workspace();
  const { client, session_id } = await asSession(owner);
  const other = await asSession(owner);
  const token = await tokenOf(client, owner, 'profile');
  assert.equal(
    (await send(token, 'PATCH', '/v1/widgets/profile', SITE, { display_name: 'Ada' })).body.display_name,
    'Ada',
  );
  const path = '/v1/widgets/profile/preferences';
  assert.deepEqual((await send(token, 'GET', path)).body, { language: '', time_zone: '' });
  const chosen = { language: 'ar', time_zone: 'Africa/Cairo' };
  assert.deepEqual((await send(token, 'PATCH', path, SITE, chosen)).body, chosen);
  assert.deepEqual((await send(token, 'PATCH', path, SITE, { time_zone: '' })).body, { language: 'ar', time_zone: '' });
  for (const time_zone of ['Mars/Olympus', '+01:00', 'x'.repeat(100)]) {
    assert.equal((await send(token, 'PATCH', path, SITE, { time_zone })).body.error, 'invalid_request', time_zone);
  }
  assert.equal((await send(token, 'PATCH', path, SITE, { language: 'tlh' })).status, 422);
  const { body: methods } = await send(token, 'GET', '/v1/widgets/profile/sign-in-methods');
  assert.deepEqual(
    methods.map(({ method }: { method: string }) => method),
    ['email'],
  );
  const { body: sessions } = await send(token, 'GET', '/v1/widgets/profile/sessions');
  const current = sessions.filter((session: { current: boolean }) => session.current);
  assert.deepEqual(
    current.map((session: { session_id: string }) => session.session_id),
    [session_id],
  );
  assert.equal((await send(token, 'DELETE', `/v1/widgets/profile/sessions/${other.session_id}`)).status, 204);
  assert.equal((await other.client.get('/v1/me')).status, 401);
  const { body: log } = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events?limit=500`);
  assert.deepEqual(
    log.filter(({ type }: { type: string }) => /^(user|session)\./.test(type)),
    [],
  );
  await client.post('/v1/auth/sign-out');
  assert.equal((await send(token, 'GET', '/v1/widgets/profile')).status, 401, 'the token ends with its session');
});

async function asSession({ user_id }: Owner) {
  const { tokens } = await signedInClient(world, user_id);
  return { client: world.as(tokens.access_token), session_id: tokens.session_id };
}
