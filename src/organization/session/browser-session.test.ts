import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { ENDPOINTS } from '../../app.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await sharedWorld();
const { db, anonymous } = world;

/** Creates a user with a cookie session, and the headers that our own pages send. */
async function inBrowser() {
  const owner = await world.owner();
  const client = await signedInClient(world, owner.user_id);
  const { status, body } = await client.post('/v1/auth/browser');
  assert.equal(status, 200);
  const cookie = `ibid=${body.browser_secret}`;
  return { owner, client, secret: body.browser_secret, cookie, own: { cookie, 'sec-fetch-site': 'same-origin' } };
}

test('the cookie authenticates its user in requests of our own pages', async () => {
  const { owner, own } = await inBrowser();
  assert.equal((await anonymous.get('/v1/me', own)).body.user_id, owner.user_id);
  const made = await anonymous.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'A', markdown: 'b' }, own);
  assert.equal(made.status, 201);
});

test('the cookie is ignored in requests from other sites', async () => {
  const { cookie } = await inBrowser();
  const elsewhere: Record<string, string>[] = [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:0', 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of elsewhere) {
    const sent = { cookie, ...headers };
    assert.equal((await anonymous.get('/v1/me', sent)).status, 401, JSON.stringify(headers));
    assert.equal((await anonymous.post('/v1/onboarding', undefined, sent)).status, 401, JSON.stringify(headers));
  }
});

test('without Sec-Fetch-Site, the cookie counts for a write with our Origin, and never for a read', async () => {
  const { cookie } = await inBrowser();
  const headers = { cookie, origin: 'http://127.0.0.1:0' };
  assert.equal((await anonymous.post('/v1/onboarding', undefined, headers)).status, 200);
  assert.equal((await anonymous.get('/v1/me', headers)).status, 401);
});

test('no endpoint accepts the cookie in a cross-site request', async () => {
  const { owner, cookie } = await inBrowser();
  const paths = { workspace_id: owner.workspace_id, organization_id: owner.workspace_id, wiki_id: owner.wiki_id };
  for (const { method, path, access } of ENDPOINTS) {
    if (access.on === 'anyone') continue;
    const url = path.replace(/[:*]([a-z_]+)/g, (_, name: string) => paths[name as keyof typeof paths] ?? 'x');
    const headers = { cookie, 'sec-fetch-site': 'cross-site' };
    assert.equal((await anonymous.send(method, url, { headers })).status, 401, `${method} ${path}`);
  }
});

test("the cookie's secret is no valid token, and a token is no valid cookie", async () => {
  const { owner, secret, own } = await inBrowser();
  assert.equal((await world.as(secret).get('/v1/me')).status, 401);
  assert.equal((await world.as(secret).get('/v1/me', own)).status, 401, 'a request with both means the token');
  const fresh = await signedInClient(world, owner.user_id);
  for (const token of [owner.token, fresh.token, fresh.tokens.refresh_token, 'ibid_bs_', '']) {
    const headers = { ...own, cookie: `ibid=${token}` };
    assert.equal((await anonymous.get('/v1/me', headers)).status, 401, String(token));
  }
  const twice = { ...own, cookie: `ibid=${secret}; ibid=${secret}` };
  assert.equal((await anonymous.get('/v1/me', twice)).status, 401, 'two cookies of the name are not ours');
});

test('creating a cookie session ends the tokens of the session, and works once', async () => {
  const { client, own } = await inBrowser();
  assert.equal((await client.get('/v1/me')).status, 401);
  const refreshed = await anonymous.post('/v1/auth/refresh', { refresh_token: client.tokens.refresh_token });
  assert.equal(refreshed.status, 401);
  assert.equal((await anonymous.post('/v1/auth/browser', undefined, own)).status, 409);
  assert.equal((await anonymous.get('/v1/me', own)).status, 200, 'the robbed go on');
});

test('signing out, here or everywhere, and revoking end the cookie session with the next request', async () => {
  for (const end of ['sign-out', 'sign-out-everywhere', 'revoke']) {
    const { client, own, owner } = await inBrowser();
    const [session] = (await anonymous.get('/v1/me/sessions', own)).body;
    assert.deepEqual([session.session_id, session.current], [client.tokens.session_id, true]);
    const other = await signedInClient(world, owner.user_id);
    const ended =
      end === 'revoke'
        ? await other.send('DELETE', `/v1/me/sessions/${session.session_id}`)
        : await anonymous.post(`/v1/auth/${end}`, undefined, own);
    assert.equal(ended.status, 204);
    assert.equal((await anonymous.get('/v1/me', own)).status, 401, end);
  }
});

test('a cookie session ends 30 days after its last use and 90 days after its start', async () => {
  const { client, own } = await inBrowser();
  const session = sql`session_id = ${client.tokens.session_id}`;
  const days = async (column: 'access_expires_at' | 'expires_at') => {
    const [row] = await db.query<{ access_expires_at: number; expires_at: number }>(sql`
      select round(extract(epoch from access_expires_at - now()) / 86400)::int as access_expires_at,
        round(extract(epoch from expires_at - now()) / 86400)::int as expires_at from sessions where ${session}`);
    return row?.[column];
  };
  assert.deepEqual([await days('access_expires_at'), await days('expires_at')], [30, 90]);
  await db.query(sql`
    update sessions set access_expires_at = now() + interval '2 days', last_used_at = now() - interval '28 days'
    where ${session}`);
  assert.equal((await anonymous.get('/v1/me', own)).status, 200);
  assert.equal(await days('access_expires_at'), 30, 'each use lets it go on');
  await db.query(sql`update sessions set access_expires_at = now() where ${session}`);
  assert.equal((await anonymous.get('/v1/me', own)).status, 401);
  await db.query(
    sql`update sessions set access_expires_at = now() + interval '2 days', expires_at = now() where ${session}`,
  );
  assert.equal((await anonymous.get('/v1/me', own)).status, 401);
});
