import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { startSignInProvider } from '../../../test/openid-sign-in.ts';
import { signInLink } from '../../../test/signed-in.ts';
import { type Answer, openWorld } from '../../../test/world.ts';

const PUBLIC_URL = 'https://wiki.example.com';
const provider = await startSignInProvider(`${PUBLIC_URL}/sign-in/callback`);
cleanUp(() => provider.stop());
const AUTH = 30;
const world = await openWorld({
  PUBLIC_URL,
  PASSWORD_SIGN_IN: 'on',
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: 'confidential',
  OIDC_CLIENT_SECRET: 'secret-of-ibid',
  RATE_LIMITS: 'on',
  // As the default, in a window that does not end meanwhile.
  RATE_LIMIT_AUTH: `${AUTH}/24h`,
  TRUSTED_PROXIES: '127.0.0.1,::1',
});

/** A network of its own, so that tests do not share its count. */
function network(address: string) {
  const headers = { 'x-forwarded-for': address };
  return {
    get: (path: string): Promise<Answer> => world.anonymous.get(path, headers),
    post: (path: string, body?: unknown): Promise<Answer> => world.anonymous.post(path, body, headers),
    /** How many guesses are left at this address. */
    async guesses(): Promise<number> {
      for (let count = 0; ; count += 1) {
        const { status } = await world.anonymous.post('/v1/auth/email/complete', { token: 'x' }, headers);
        if (status === 429) return count;
        assert.equal(status, 401);
      }
    },
  };
}

test('sixty people behind one address sign in at the issuer within a minute, and guesses count as before', async () => {
  const office = network('203.0.113.1');
  for (let person = 0; person < 60; person += 1) {
    assert.equal((await office.get('/v1/auth/methods')).status, 200);
    const begun = await office.post('/v1/auth/openid');
    assert.equal(begun.status, 200, `person ${person}: ${JSON.stringify(begun.body)}`);
    const { authorization_url, attempt } = begun.body;
    const callback_url = await provider.browse(authorization_url, { sub: `p${person}` });
    const done = await office.post('/v1/auth/openid/complete', { attempt, callback_url });
    assert.equal(done.status, 200, `person ${person}: ${JSON.stringify(done.body)}`);
  }
  assert.equal(await office.guesses(), AUTH);
});

test('the callback is not refused for what others at the address did after the sign-in began', async () => {
  const office = network('203.0.113.2');
  const { authorization_url, attempt } = (await office.post('/v1/auth/openid')).body;
  const callback_url = await provider.browse(authorization_url, { sub: 'late' });
  assert.equal(await office.guesses(), AUTH - 1);
  assert.equal((await office.post('/v1/auth/openid/complete', { attempt, callback_url })).status, 200);
});

test('a sign-in by mail gives back its request and itself, and a second use of the link gives back nothing', async () => {
  const office = network('203.0.113.3');
  for (let person = 0; person < 40; person += 1) {
    const { user_id } = await world.person(`mail-${person}@example.com`);
    const asked = await office.post('/v1/auth/email', { email: `mail-${person}@example.com` });
    assert.equal(asked.status, 200, JSON.stringify(asked.body));
    const token = await signInLink(world, user_id);
    assert.equal((await office.get(`/v1/auth/email/lookup?token=${token}`)).status, 200);
    assert.equal((await office.post('/v1/auth/email/complete', { token })).status, 200);
  }
  const { user_id } = await world.person();
  const token = await signInLink(world, user_id);
  assert.equal((await office.post('/v1/auth/email/complete', { token })).status, 200);
  assert.equal((await office.post('/v1/auth/email/complete', { token })).status, 401);
  assert.equal((await office.get(`/v1/auth/email/lookup?token=${token}`)).status, 401);
  assert.ok((await office.guesses()) <= AUTH - 1);
});

test('attempts that nobody completes count', async () => {
  const office = network('203.0.113.4');
  for (let begun = 0; begun < AUTH; begun += 1) assert.equal((await office.post('/v1/auth/openid')).status, 200);
  assert.equal((await office.post('/v1/auth/openid')).status, 429);
  assert.equal(await office.guesses(), 0);
});
