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
  // The default limit, with a window that does not end during the test.
  RATE_LIMIT_AUTH: `${AUTH}/24h`,
  TRUSTED_PROXIES: '127.0.0.1,::1',
});

/** Sends requests from a separate network, so that tests do not share its count. */
function network(address: string) {
  const headers = { 'x-forwarded-for': address };
  return {
    get: (path: string): Promise<Answer> => world.anonymous.get(path, headers),
    post: (path: string, body?: unknown): Promise<Answer> => world.anonymous.post(path, body, headers),
    /** Returns the number of guesses left in this network. */
    async guesses(): Promise<number> {
      for (let count = 0; ; count += 1) {
        const { status } = await world.anonymous.post('/v1/auth/email/complete', { token: 'x' }, headers);
        if (status === 429) return count;
        assert.equal(status, 401);
      }
    },
  };
}

test('sixty people with one address sign in at the issuer within a minute without using up their limit of guesses', async () => {
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

test('a callback is not refused because of requests by others after the sign-in began', async () => {
  const office = network('203.0.113.2');
  const { authorization_url, attempt } = (await office.post('/v1/auth/openid')).body;
  const callback_url = await provider.browse(authorization_url, { sub: 'late' });
  assert.equal(await office.guesses(), AUTH - 1);
  assert.equal((await office.post('/v1/auth/openid/complete', { attempt, callback_url })).status, 200);
});

test('a completed sign-in by mail restores the limit it used, and a second use of the link does not', async () => {
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

test('sign-ins that are never completed count', async () => {
  const office = network('203.0.113.4');
  for (let begun = 0; begun < AUTH; begun += 1) assert.equal((await office.post('/v1/auth/openid')).status, 200);
  assert.equal((await office.post('/v1/auth/openid')).status, 429);
  assert.equal(await office.guesses(), 0);
});
