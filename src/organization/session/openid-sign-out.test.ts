import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { cleanUp } from '../../../test/clean-up.ts';
import { type SignInProvider, startSignInProvider } from '../../../test/openid-sign-in.ts';
import { openWorld, type World } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

const PUBLIC_URL = 'https://wiki.example.com';
const CALLBACK = `${PUBLIC_URL}/sign-in/callback`;
const SIGNED_OUT = `${PUBLIC_URL}/sign-out`;

const provider = await startSignInProvider(CALLBACK);
cleanUp(() => provider.stop());
const of = (issuer: string, more: Record<string, string> = {}) => ({
  PUBLIC_URL,
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: 'confidential',
  OIDC_CLIENT_SECRET: 'secret-of-ibid',
  ...more,
});
const world = await openWorld(of(provider.issuer));
const ANN = { sub: 'ann', email: 'ann@example.org', email_verified: true, name: 'Ann Lee' };

async function tokensOfAnn(at: World, issuer: SignInProvider) {
  const { authorization_url, attempt } = (await at.anonymous.post('/v1/auth/openid')).body;
  const callback_url = await issuer.browse(authorization_url, ANN);
  const { status, body } = await at.anonymous.post('/v1/auth/openid/complete', { attempt, callback_url });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Signs Ann in at the issuer and returns the headers of her browser. */
async function browserOfAnn(at: World = world, issuer: SignInProvider = provider) {
  const { access_token } = await tokensOfAnn(at, issuer);
  const { browser_secret } = (await at.as(access_token).post('/v1/auth/browser')).body;
  return { accept: 'text/html', 'sec-fetch-site': 'same-origin', cookie: `__Host-ibid=${browser_secret}` };
}

const signOut = (headers: Record<string, string>, at: World = world) =>
  at.anonymous.send('POST', '/sign-out', { redirect: 'manual', headers, body: new URLSearchParams() });

/** Signs out of a session that began at the issuer; returns the URL to which the browser is redirected. */
async function addressAfter(headers: Record<string, string>, at: World = world): Promise<string> {
  const { status, body, headers: answered } = await signOut(headers, at);
  if (status === 303) return answered.get('location') ?? '';
  assert.equal(status, 200, body);
  const [, refresh = ''] = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(body) ?? [];
  return refresh.replaceAll('&amp;', '&');
}

async function assertSignedOut(headers: Record<string, string>, at: World = world): Promise<void> {
  const { accept: _, ...asProgram } = headers;
  assert.equal((await at.anonymous.get('/v1/me', asProgram)).status, 401);
}

test('signing out in the browser ends the session at the issuer, which redirects to a confirmation page', async () => {
  const browser = await browserOfAnn();
  const address = await addressAfter(browser);
  const { origin, searchParams } = new URL(address);
  assert.equal(origin, provider.issuer);
  assert.deepEqual(
    [searchParams.get('client_id'), searchParams.get('post_logout_redirect_uri')],
    ['confidential', SIGNED_OUT],
  );
  assert.equal(decodeJwt(searchParams.get('id_token_hint') ?? '').sub, 'ann');
  await assertSignedOut(browser);
  assert.equal(await provider.endSession(address), SIGNED_OUT);
  const { cookie: _, ...without } = browser;
  const back = await world.anonymous.get('/sign-out', without);
  assert.equal(back.status, 200);
  assert.match(back.body, /<h1>You are signed out<\/h1>/);
});

test('the confirmation page shows a sign-out button to a signed-in user', async () => {
  const { body } = await world.anonymous.get('/sign-out', await browserOfAnn());
  assert.match(body, /<form method="post" action="\/sign-out">/);
  assert.doesNotMatch(body, /You are signed out/);
});

test('the ID token of a session is deleted with every kind of sign-out', async () => {
  const kept = async (session_id: string) => {
    const [row] = await world.db.query<{ id_token: string | null }>(
      sql`select id_token from sessions where session_id = ${session_id}`,
    );
    return row?.id_token ?? null;
  };
  for (const end of ['/v1/auth/sign-out', '/v1/auth/sign-out-everywhere']) {
    const { access_token, session_id } = await tokensOfAnn(world, provider);
    assert.ok(await kept(session_id));
    assert.equal((await world.as(access_token).post(end)).status, 204);
    assert.equal(await kept(session_id), null, end);
  }
});

test('a session without an issuer, or with a provider without sign-out, only ends here', async () => {
  const byMail = await world.owner();
  assert.equal((await byMail.get('/v1/auth/sign-out')).status, 403, 'a key has no session');

  const plain = await startSignInProvider(CALLBACK);
  cleanUp(() => plain.stop());
  plain.hideSignOut();
  const at = await openWorld(of(plain.issuer));
  const browser = await browserOfAnn(at, plain);
  assert.equal(await addressAfter(browser, at), '/sign-in');
  await assertSignedOut(browser, at);
});

test('a session ends here even if its issuer is down or was replaced', async (t) => {
  const gone = await startSignInProvider(CALLBACK);
  const at = await openWorld(of(gone.issuer));
  const browser = await browserOfAnn(at, gone);
  await gone.stop();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
  assert.equal(await addressAfter(browser, at), '/sign-in');
  await assertSignedOut(browser, at);
  t.mock.timers.reset();

  const moved = await browserOfAnn();
  await world.db.query(sql`
    update sessions set id_token = 'e30.' || translate(encode(convert_to(
      '{"iss":"https://former.example","aud":"confidential"}', 'UTF8'), 'base64'), E'=\n+/', '') || '.AAAA'
    where id_token is not null`);
  assert.equal(await addressAfter(moved), '/sign-in');
});

test('with OIDC_SIGN_OUT=off the session at the issuer stays open', async () => {
  const at = await openWorld(of(provider.issuer, { OIDC_SIGN_OUT: 'off' }));
  const browser = await browserOfAnn(at);
  assert.equal(await addressAfter(browser, at), '/sign-in');
  await assertSignedOut(browser, at);
});

test('an ID token that would be accepted as an access token is not stored', async () => {
  const at = await openWorld(of(provider.issuer, { OIDC_AUDIENCE: 'confidential' }));
  const browser = await browserOfAnn(at);
  assert.deepEqual(await at.db.query(sql`select from sessions where id_token is not null`), []);
  assert.equal(await addressAfter(browser, at), '/sign-in');
  await assertSignedOut(browser, at);
});
