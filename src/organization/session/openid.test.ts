import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { cleanUp } from '../../../test/clean-up.ts';
import { type Account, type SignInProvider, startSignInProvider } from '../../../test/openid-sign-in.ts';
import { openWorld, type World } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

const PUBLIC_URL = 'https://wiki.example.com';
const CALLBACK = `${PUBLIC_URL}/sign-in/callback`;

const provider = await startSignInProvider(CALLBACK);
cleanUp(() => provider.stop());
const of = (issuer: string, OIDC_CLIENT_ID = 'confidential') => ({
  PUBLIC_URL,
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID,
  ...(OIDC_CLIENT_ID === 'confidential' && { OIDC_CLIENT_SECRET: 'secret-of-ibid' }),
});
const world = await openWorld(of(provider.issuer));
const { query } = world.db;

const ANN = { sub: 'ann', email: 'Ann.Lee@Example.org', email_verified: true, name: 'Ann Lee' };

async function begin(at: World = world): Promise<{ authorization_url: string; attempt: string }> {
  const { status, body } = await at.anonymous.post('/v1/auth/openid');
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const complete = (attempt: string, callback_url: string, at: World = world) =>
  at.anonymous.post('/v1/auth/openid/complete', { attempt, callback_url });

/** Begins a sign-in and has Ann sign in at the provider. */
async function goAndComeBack(at: World = world, issuer: SignInProvider = provider) {
  const { authorization_url, attempt } = await begin(at);
  return { attempt, callback: await issuer.browse(authorization_url, ANN) };
}

async function assertRefused(attempt: string, callback: string, what = callback): Promise<void> {
  const { status, body } = await complete(attempt, callback);
  assert.deepEqual([status, body.error], [401, 'unauthorized'], what);
}

test('a user signs in at the issuer and is identified by (issuer, subject), with the profile from the claims', async () => {
  const { authorization_url, attempt } = await begin();
  const asked = new URL(authorization_url).searchParams;
  assert.deepEqual(
    [asked.get('redirect_uri'), asked.get('scope'), asked.get('code_challenge_method'), asked.get('response_type')],
    [CALLBACK, 'openid email profile', 'S256', 'code'],
  );
  const signedIn = await complete(attempt, await provider.browse(authorization_url, ANN));
  assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body));
  const me = (await world.as(signedIn.body.access_token).get('/v1/me')).body;
  assert.deepEqual([me.email, me.email_verified, me.display_name], ['ann.lee@example.org', true, 'Ann Lee']);
  const identities = await query(sql`select issuer, subject from identities where user_id = ${me.user_id}`);
  assert.deepEqual(identities, [{ issuer: provider.issuer, subject: 'ann' }]);

  const again = await goAndComeBack();
  const { body } = await complete(again.attempt, again.callback);
  assert.equal((await world.as(body.access_token).get('/v1/me')).body.user_id, me.user_id);
});

test('the profile may be in the ID token, and a public client works without a secret', async () => {
  const other = await startSignInProvider(CALLBACK, true);
  try {
    const open = await openWorld(of(other.issuer, 'public'));
    const { attempt, callback } = await goAndComeBack(open, other);
    const { status, body } = await complete(attempt, callback, open);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal((await open.as(body.access_token).get('/v1/me')).body.email, 'ann.lee@example.org');
  } finally {
    await other.stop();
  }
});

test('a callback is completed only once, and only with its own attempt', async () => {
  const [mine, theirs] = [await goAndComeBack(), await goAndComeBack()];
  const before = provider.exchanges();
  await assertRefused(mine.attempt, theirs.callback);
  await assertRefused(mine.attempt, mine.callback);
  await assertRefused('x'.repeat(43), theirs.callback);
  await assertRefused('', theirs.callback);
  assert.equal(provider.exchanges(), before, 'the issuer is asked nothing for a foreign callback');
  assert.equal((await complete(theirs.attempt, theirs.callback)).status, 200, 'the other one is still good');
  await assertRefused(theirs.attempt, theirs.callback);
});

test('a changed state, a used code or a refusal by the issuer signs no user in', async () => {
  const changed = await goAndComeBack();
  const url = new URL(changed.callback);
  url.searchParams.set('state', 'x');
  await assertRefused(changed.attempt, url.href);

  const first = await goAndComeBack();
  assert.equal((await complete(first.attempt, first.callback)).status, 200);
  const second = await goAndComeBack();
  const replayed = new URL(second.callback);
  replayed.searchParams.set('code', new URL(first.callback).searchParams.get('code') ?? '');
  await assertRefused(second.attempt, replayed.href);

  const denied = await begin();
  const state = new URL(denied.authorization_url).searchParams.get('state');
  const iss = encodeURIComponent(provider.issuer);
  await assertRefused(denied.attempt, `${CALLBACK}?error=access_denied&state=${state}&iss=${iss}`);

  const foreign = await goAndComeBack();
  const issued = new URL(foreign.callback);
  issued.searchParams.set('iss', 'https://evil.example');
  await assertRefused(foreign.attempt, issued.href);
});

test('an ID token for another client, with another nonce, from another issuer or expired signs no user in', async () => {
  const users = await query(sql`select user_id from users`);
  const hourAgo = Math.floor(Date.now() / 1000) - 3_600;
  try {
    for (const claims of [
      { aud: 'other' },
      { aud: ['confidential', 'other'], azp: 'other' },
      { nonce: 'x' },
      { nonce: undefined },
      { iss: 'https://evil.example' },
      { exp: hourAgo },
    ]) {
      const { authorization_url, attempt } = await begin();
      const nonce = new URL(authorization_url).searchParams.get('nonce') ?? '';
      const callback = await provider.browse(authorization_url, ANN);
      provider.forge({ nonce, ...claims });
      await assertRefused(attempt, callback, JSON.stringify(claims));
    }
    const { authorization_url, attempt } = await begin();
    const nonce = new URL(authorization_url).searchParams.get('nonce') ?? '';
    const callback = await provider.browse(authorization_url, ANN);
    provider.forge({ nonce, email: 'x@example.com' });
    assert.equal((await complete(attempt, callback)).status, 200, 'the same forgery with nothing wrong is taken');
  } finally {
    provider.forge(undefined);
  }
  assert.equal((await query(sql`select user_id from users`)).length, users.length + 1);
});

/** Completes a sign-in of Ann with this ID token from the issuer. */
async function completeForged(claims: JWTPayload, how?: Parameters<SignInProvider['forge']>[1]) {
  const { authorization_url, attempt } = await begin();
  const nonce = new URL(authorization_url).searchParams.get('nonce') ?? '';
  const callback = await provider.browse(authorization_url, ANN);
  provider.forge({ nonce, ...claims }, how);
  try {
    return await complete(attempt, callback);
  } finally {
    provider.forge(undefined);
  }
}

test('an ID token signed with another algorithm or key, or unsigned, is refused with 401', async () => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const [{ privateKey }, pss] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('PS256')]);
  const signers: Record<string, (claims: JWTPayload) => Promise<string>> = {
    'HS256 with the secret of the client': (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from('secret-of-ibid'.padEnd(32, '.'))),
    'PS256, which the key is not for': (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'PS256', kid: 'sign-in' }).sign(pss.privateKey),
    'another key': (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'sign-in' }).sign(privateKey),
    'an unknown kid': (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'x' }).sign(privateKey),
    none: async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`,
    'a critical extension': async (claims) => `${encode({ alg: 'RS256', crit: ['x'], x: 1 })}.${encode(claims)}.AAAA`,
    encrypted: async () => `${encode({ alg: 'dir', enc: 'A256GCM' })}..AAAA.AAAA.AAAA`,
  };
  for (const [name, sign] of Object.entries(signers)) {
    const { status, body } = await completeForged({}, { sign });
    assert.deepEqual([status, body.error], [401, 'unauthorized'], name);
  }
});

test('an address is verified only if the document that contains it says so', async () => {
  const profileOf = async (claims: JWTPayload, userinfo: Account) => {
    const { status, body } = await completeForged(claims, { userinfo });
    assert.equal(status, 200, JSON.stringify(body));
    const { email, email_verified } = (await world.as(body.access_token).get('/v1/me')).body;
    return [email, email_verified];
  };
  const sub = 'mixed';
  const email = 'ceo@corp.example';
  assert.deepEqual(
    await profileOf({ sub, email_verified: true }, { sub, email, email_verified: false }),
    [email, false],
    'the ID token says nothing about the address of the userinfo endpoint',
  );
  assert.deepEqual(await profileOf({ sub, email_verified: true }, { sub, email }), [email, false]);
  assert.deepEqual(await profileOf({ sub, email_verified: false }, { sub, email, email_verified: true }), [
    email,
    true,
  ]);
  assert.deepEqual(
    await profileOf({ sub, email }, { sub, email, email_verified: true }),
    [email, false],
    'nor the userinfo endpoint about that of the ID token',
  );
});

test('the keys of the issuer are refetched a minute later, so a withdrawn key is refused', async (t) => {
  const other = await startSignInProvider(CALLBACK);
  t.after(() => other.stop());
  const at = await openWorld(of(other.issuer));
  const signsIn = async () => {
    const { attempt, callback } = await goAndComeBack(at, other);
    return (await complete(attempt, callback, at)).status;
  };
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  assert.deepEqual([await signsIn(), await signsIn(), other.keyFetches()], [200, 200, 1]);
  t.mock.timers.tick(60_000);
  assert.deepEqual([await signsIn(), other.keyFetches()], [200, 2]);
});

test('a callback to another URL is 400 and leaves the attempt usable', async () => {
  const { attempt, callback } = await goAndComeBack();
  for (const address of [
    callback.replace('wiki.example.com', 'evil.example'),
    callback.replace('/sign-in/callback', '/elsewhere'),
    callback.replace('https://', 'https://a:b@'),
    callback.replace('https:', 'http:'),
    'javascript:alert(1)',
    '',
  ]) {
    const { status, body } = await complete(attempt, address);
    assert.deepEqual([status, body.error], [400, 'invalid_request'], address);
  }
  assert.equal((await complete(attempt, callback)).status, 200);
});

test('an attempt expires after ten minutes, and its stored row reveals nothing', async () => {
  const { attempt, callback } = await goAndComeBack();
  const parameters = new URL(callback).searchParams;
  const [row] = await query<{ dump: string }>(sql`
    select string_agg(encode(sealed, 'escape') || encode(attempt_hash, 'escape'), ' ') as dump from openid_attempts`);
  assert.ok(row && !row.dump.includes(parameters.get('state') ?? '?') && !row.dump.includes(attempt));
  await query(sql`update openid_attempts set expires_at = now()`);
  await assertRefused(attempt, callback);
  assert.deepEqual(await query(sql`select 1 from openid_attempts where expires_at <= now()`), []);
});

test('only one of twenty concurrent completions of an attempt signs in', async () => {
  const { attempt, callback } = await goAndComeBack();
  const answers = await Promise.all(Array.from({ length: 20 }, () => complete(attempt, callback)));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 401)]);
});

test('with the issuer down both steps are 503, and sign-in works again when it is back', async () => {
  const gone = await startSignInProvider(CALLBACK);
  const away = await openWorld(of(gone.issuer));
  const { attempt, callback } = await goAndComeBack(away, gone);
  await gone.stop();
  const second = await complete(attempt, callback, away);
  assert.deepEqual([second.status, second.body.error], [503, 'identity_unavailable']);
  const never = await openWorld(of('http://127.0.0.1:1'));
  const first = await never.anonymous.post('/v1/auth/openid');
  assert.deepEqual([first.status, first.body.error], [503, 'identity_unavailable']);
  assert.ok(first.headers.get('retry-after'));
});

test('without an issuer, beginning a sign-in is 403', async () => {
  const plain = await openWorld();
  for (const answer of [
    await plain.anonymous.post('/v1/auth/openid'),
    await complete('x', `${CALLBACK}?code=x`, plain),
  ]) {
    assert.deepEqual([answer.status, answer.body.error], [403, 'forbidden']);
  }
  assert.deepEqual((await world.anonymous.get('/v1/auth/methods')).body, {
    methods: ['email', 'openid'],
    has_users: true,
  });
});
