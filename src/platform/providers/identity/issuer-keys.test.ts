import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { IdentityUnavailable, openIdentityProvider } from './identity.ts';

const ISSUER = 'https://id.example.org/realm';
const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`;
const KEYS = 'https://id.example.org/keys';
const AUDIENCE = 'wiki';

type Answer = () => Response | Promise<Response>;
const json =
  (value: unknown): Answer =>
  () =>
    Response.json(value);
const redirect =
  (location: string): Answer =>
  () =>
    new Response(null, { status: 302, headers: { location } });
const down: Answer = () => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
};

const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
const publicJwk: JWK = { ...(await exportJWK(publicKey)), kid: 'one' };

const token = (kid: string | undefined = 'one', key = privateKey, alg = 'ES256') =>
  new SignJWT({ jti: String(Math.random()) })
    .setProtectedHeader({ alg, ...(kid && { kid }) })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject('ann')
    .setIssuedAt()
    .setExpirationTime('2 hours')
    .sign(key);

/** Simulates an issuer that responds with `answers` and counts its requests, and a clock that tests can set. */
function world(answers: Record<string, Answer> = {}) {
  const state = {
    answers: {
      [DISCOVERY]: json({ issuer: ISSUER, jwks_uri: KEYS }),
      [KEYS]: json({ keys: [publicJwk] }),
      ...answers,
    } as Record<string, Answer>,
    asked: [] as string[],
    logged: [] as string[],
    time: Date.now(),
  };
  const provider = openIdentityProvider({
    issuer: ISSUER,
    audience: AUDIENCE,
    now: () => state.time,
    log: (message, details) => state.logged.push(`${message} ${JSON.stringify(details)}`),
    fetch: async (input, init) => {
      const url = String(input);
      state.asked.push(url);
      assert.equal(init?.redirect, 'manual', 'Redirects must be checked before they are followed.');
      const answer = state.answers[url];
      assert.ok(answer, `${url} must not be requested.`);
      return answer();
    },
  });
  return { state, provider };
}

const unavailable = (provider: { verify(token: string): Promise<unknown> }, text: string) =>
  assert.rejects(provider.verify(text), IdentityUnavailable, 'Without keys the only answer is 503.');

test('invalid options are refused at startup, and the error says what to set', () => {
  const wrong = [
    'http://id.example.org',
    'http://localhost.example.org',
    'http://127.example.org',
    'http://10.0.0.1',
    'ftp://localhost',
    'id.example.org',
    '',
    'https://id.example.org?x=1',
    'https://id.example.org#x',
    'https://user:secret@id.example.org',
  ];
  for (const issuer of wrong) {
    assert.throws(
      () => openIdentityProvider({ issuer, audience: AUDIENCE }),
      /OIDC_ISSUER.*set it to/,
      `Refuse "${issuer}".`,
    );
  }
  assert.throws(() => openIdentityProvider({ issuer: ISSUER, audience: '' }), /OIDC_AUDIENCE.*set it to/);
  for (const issuer of ['http://localhost:3000', 'http://127.0.0.1:3000/x', 'http://[::1]:3000', 'https://10.0.0.1/']) {
    assert.ok(openIdentityProvider({ issuer, audience: AUDIENCE }), `Accept "${issuer}".`);
  }
});

test('nothing is fetched before the first token; then discovery and keys are fetched once', async () => {
  const { state, provider } = world();
  assert.deepEqual(state.asked, []);
  assert.ok(await provider.verify(await token()));
  assert.ok(await provider.verify(await token()));
  assert.deepEqual(state.asked, [DISCOVERY, KEYS]);
});

test('an unavailable issuer whose keys were never fetched is called at most every five seconds', async () => {
  const { state, provider } = world({ [DISCOVERY]: down });
  const text = await token();
  await Promise.all(Array.from({ length: 100 }, () => unavailable(provider, text)));
  await unavailable(provider, text);
  assert.equal(state.asked.length, 1, 'A hundred callers share one attempt, and the next one does not repeat it.');
  assert.equal(await provider.verify('nonsense'), null, 'A malformed token still gets a 401.');
  state.time += 4_900;
  await unavailable(provider, text);
  assert.equal(state.asked.length, 1);
  assert.match(state.logged.join('\n'), /could not be fetched.*ECONNREFUSED/, 'The operator must learn the reason.');
  state.time += 200;
  state.answers[DISCOVERY] = json({ issuer: ISSUER, jwks_uri: KEYS });
  assert.ok(await provider.verify(text), 'After the issuer is back, tokens are accepted.');
});

test('known keys are used for an hour while the issuer is down; then verification fails with 503 until it is back', async () => {
  const { state, provider } = world();
  const known = await token();
  assert.ok(await provider.verify(known));
  const failures: Answer[] = [
    down,
    () => new Response('busy', { status: 503 }),
    () => new Response('<html>'),
    json({ error: 'x' }),
    json(null),
  ];
  for (const failure of failures) {
    state.answers[KEYS] = failure;
    state.time += 11 * 60_000;
    assert.ok(await provider.verify(known), 'Accept a known token.');
    assert.ok(await provider.verify(await token()), 'Accept a token that was not seen before.');
    assert.equal(await provider.verify(await token('unknown')), null, 'Refuse an unknown kid, without a 503.');
  }
  state.time += 5 * 60_000;
  await unavailable(provider, known);
  await unavailable(provider, await token());
  state.answers[KEYS] = json({ keys: [publicJwk] });
  state.time += 5_000;
  assert.ok(await provider.verify(known), 'Accept it again after the issuer is back.');
});

test('an issuer that stays down is called every half minute, in the background', async () => {
  const { state, provider } = world();
  const known = await token();
  await provider.verify(known);
  state.answers[DISCOVERY] = down;
  state.time += 31_000;
  for (let i = 0; i < 100; i += 1) assert.ok(await provider.verify(known));
  assert.equal(state.asked.length, 3, 'Make one attempt, however many requests wait.');
  state.time += 31_000;
  for (let i = 0; i < 100; i += 1) assert.ok(await provider.verify(known));
  assert.equal(state.asked.length, 4, 'Make one more attempt after half a minute.');
});

test('keys are still fetched after the clock was set back', async () => {
  const { state, provider } = world();
  await provider.verify(await token());
  state.time -= 365 * 86_400_000;
  await provider.verify(await token());
  assert.equal(state.asked.length, 4, 'A clock that jumps back a year counts like one that jumps forward.');
});

test('an issuer with untrustworthy responses yields no keys', async () => {
  const big = `{"keys":[],"filler":"${'x'.repeat(1024 * 1024)}"}`;
  const wrong: [string, Record<string, Answer>, RegExp][] = [
    [
      'names another issuer',
      { [DISCOVERY]: json({ issuer: `${ISSUER}/`, jwks_uri: KEYS }) },
      /set OIDC_ISSUER to exactly/,
    ],
    ['names no issuer', { [DISCOVERY]: json({ jwks_uri: KEYS }) }, /set OIDC_ISSUER/],
    ['is a list', { [DISCOVERY]: json([]) }, /names nothing as issuer/],
    ['names no keys', { [DISCOVERY]: json({ issuer: ISSUER }) }, /no jwks_uri/],
    ['plain http', { [DISCOVERY]: json({ issuer: ISSUER, jwks_uri: 'http://id.example.org/keys' }) }, /no jwks_uri/],
    ['this machine', { [DISCOVERY]: json({ issuer: ISSUER, jwks_uri: 'http://127.0.0.1/keys' }) }, /no jwks_uri/],
    ['a file', { [DISCOVERY]: json({ issuer: ISSUER, jwks_uri: 'file:///etc/passwd' }) }, /no jwks_uri/],
    ['redirects discovery', { [DISCOVERY]: redirect('https://evil.example.org/') }, /another host/],
    ['redirects keys', { [KEYS]: redirect('http://id.example.org/keys') }, /another host/],
    ['redirects to itself without end', { [KEYS]: redirect('/keys') }, /more than 3 times/],
    ['404', { [DISCOVERY]: () => new Response(null, { status: 404 }) }, /answered 404/],
    ['too big', { [KEYS]: () => new Response(big) }, /more than 1048576 bytes/],
    ['not a key set', { [KEYS]: json({ keys: 'none' }) }, /did not return a JSON Web Key Set/],
  ];
  for (const [name, answers, reason] of wrong) {
    const { state, provider } = world(answers);
    await unavailable(provider, await token());
    assert.match(state.logged.join('\n'), reason, `Log the reason: ${name}.`);
  }
});

test('a local issuer cannot have its keys on another host without https', async () => {
  const logged: string[] = [];
  const issuer = 'http://localhost:3000';
  const provider = openIdentityProvider({
    issuer,
    audience: AUDIENCE,
    log: (_message, details) => logged.push(JSON.stringify(details)),
    fetch: async () => Response.json({ issuer, jwks_uri: 'http://id.example.org/keys' }),
  });
  await unavailable(
    provider,
    await new SignJWT().setProtectedHeader({ alg: 'ES256' }).setIssuer(issuer).sign(privateKey),
  );
  assert.match(logged.join('\n'), /no jwks_uri/);
});

test('a redirect within the same host is followed', async () => {
  const moved = 'https://id.example.org/moved';
  const { provider } = world({ [KEYS]: redirect('/moved'), [moved]: json({ keys: [publicJwk] }) });
  assert.ok(await provider.verify(await token()));
});

test('discovery and keys share a timeout of five seconds', { timeout: 30_000 }, async (t) => {
  // The types do not list this API yet, but the mock supports it.
  t.mock.timers.enable({ apis: ['AbortSignal.timeout' as 'setTimeout'] });
  let asked = (_value: unknown) => {};
  const askedTwice = new Promise((resolve) => {
    asked = resolve;
  });
  const silent = createServer((request, response) => {
    const { port } = silent.address() as AddressInfo;
    const issuer = `http://127.0.0.1:${port}`;
    if (request.url === '/keys') return asked(undefined);
    response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const issuer = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const provider = openIdentityProvider({ issuer, audience: AUDIENCE });
  const text = await new SignJWT().setProtectedHeader({ alg: 'ES256' }).setIssuer(issuer).sign(privateKey);
  const answer = unavailable(provider, text);
  await askedTwice;
  t.mock.timers.tick(5_000);
  await answer;
});

test('keys that are not public signing keys of a pinned algorithm are ignored', async () => {
  const rsa = await generateKeyPair('RS256', { extractable: true });
  const weak = await crypto.subtle.generateKey(
    { name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
    true,
    ['sign', 'verify'],
  );
  const weakJwk = await crypto.subtle.exportKey('jwk', weak.publicKey);
  const rsaJwk = await exportJWK(rsa.publicKey);
  const useless: Record<string, unknown> = {
    private: { ...(await exportJWK(privateKey)), kid: 'one' },
    'for encryption': { ...publicJwk, use: 'enc' },
    'for another algorithm': { ...publicJwk, alg: 'ES384' },
    'for deriving': { ...publicJwk, key_ops: ['deriveKey'] },
    'key_ops is not a list': { ...publicJwk, key_ops: 'verify' },
    'kid is a number': { ...publicJwk, kid: 1 },
    'not a point of the curve': { ...publicJwk, x: publicJwk.y },
    'another curve': { ...publicJwk, crv: 'P-384' },
    'another type': { ...publicJwk, kty: 'OKP' },
    symmetric: { kty: 'oct', k: 'AAAA', kid: 'one', alg: 'ES256' },
    'no object': 'key',
    nothing: null,
  };
  for (const [name, jwk] of Object.entries(useless)) {
    const { provider } = world({ [KEYS]: json({ keys: [jwk] }) });
    assert.equal(await provider.verify(await token()), null, `Do not use this key: ${name}.`);
    assert.equal(await provider.verify(await token('')), null, `Do not use this key without kid either: ${name}.`);
    const beside = world({ [KEYS]: json({ keys: [jwk, publicJwk] }) });
    assert.ok(await beside.provider.verify(await token()), `A good key must count despite this key: ${name}.`);
  }
  const short = world({ [KEYS]: json({ keys: [{ ...weakJwk, kid: 'one', alg: 'RS256', key_ops: ['verify'] }] }) });
  const head = Buffer.from('{"alg":"RS256","kid":"one"}').toString('base64url');
  const input = `${head}.${(await token()).split('.')[1]}`;
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', weak.privateKey, Buffer.from(input));
  const signed = `${input}.${Buffer.from(signature).toString('base64url')}`;
  assert.equal(await short.provider.verify(signed), null, 'Do not use an RSA key of 1024 bits.');
  assert.match(short.state.logged.join('\n'), /publishes no key/, 'A weak key does not count as a key.');

  const sha512 = world({ [KEYS]: json({ keys: [{ ...rsaJwk, kid: 'one', alg: 'RS512' }] }) });
  assert.equal(await sha512.provider.verify(await token('one', rsa.privateKey, 'RS256')), null, "Respect a key's alg.");
  const plain = world({ [KEYS]: json({ keys: [{ ...rsaJwk, kid: 'one' }] }) });
  assert.ok(await plain.provider.verify(await token('one', rsa.privateKey, 'RS256')), 'A key need not name its alg.');
  const none = world({ [KEYS]: json({ keys: [] }) });
  assert.equal(await none.provider.verify(await token()), null);
  assert.match(none.state.logged.join('\n'), /publishes no key/, 'Tell the operator that all tokens are refused.');
});

test('all concurrent requests with a new kid wait for the same fetch', async () => {
  const { state, provider } = world();
  await provider.verify(await token());
  const next = await generateKeyPair('ES256', { extractable: true });
  state.answers[KEYS] = json({ keys: [{ ...(await exportJWK(next.publicKey)), kid: 'two' }] });
  const tokens = await Promise.all(Array.from({ length: 20 }, () => token('two', next.privateKey)));
  const identities = await Promise.all(tokens.map((text) => provider.verify(text)));
  assert.ok(identities.every(Boolean), 'No request may be refused because another one fetched first.');
  assert.equal(state.asked.length, 4, 'Fetch discovery and keys twice.');
});

test('a token without kid is verified with any of the keys, even after the keys have changed', async () => {
  const other = await generateKeyPair('ES256', { extractable: true });
  const otherJwk = await exportJWK(other.publicKey);
  const { state, provider } = world({ [KEYS]: json({ keys: [otherJwk, publicJwk] }) });
  assert.ok(await provider.verify(await token('')));
  const next = await generateKeyPair('ES256', { extractable: true });
  state.answers[KEYS] = json({ keys: [otherJwk, await exportJWK(next.publicKey)] });
  assert.ok(await provider.verify(await token('', next.privateKey)));
  assert.equal(await provider.verify(await token('')), null, 'The removed key is no longer used.');
});

test('verified tokens stay cached if the issuer only reorders its keys', async () => {
  const other = { ...(await exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey)), kid: 'two' };
  const { state, provider } = world({ [KEYS]: json({ keys: [publicJwk, other] }) });
  const text = await token();
  const identity = await provider.verify(text);
  state.answers[KEYS] = json({ keys: [other, publicJwk] });
  state.time += 30 * 60_000;
  assert.equal(await provider.verify(text), identity, 'No key was withdrawn, so no token needs to be verified again.');
  assert.equal(state.asked.length, 4, 'The keys were fetched again.');
});
