import assert from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { before, test } from 'node:test';
import { cleanUp } from '../../../../test/clean-up.ts';
import {
  ALGORITHMS,
  type Algorithm,
  AUDIENCE,
  type OpenIdProvider,
  privateKeys,
  startOpenIdProvider,
} from '../../../../test/openid-provider.ts';
import { until } from '../../../../test/until.ts';
import { openIdentityProvider } from './identity.ts';

let openId: OpenIdProvider;
let issuer = '';

before(async () => {
  openId = await startOpenIdProvider();
  issuer = openId.issuer;
});

cleanUp(() => openId.stop());

/** Counts fetches by the last segment of the path. */
function countingFetch() {
  const counts = { discovery: 0, keys: 0 };
  const counting: typeof fetch = (input, init) => {
    counts[String(input).endsWith('/jwks') ? 'keys' : 'discovery'] += 1;
    return fetch(input, init);
  };
  return { counts, fetch: counting };
}

const encode = (value: string | Buffer) => Buffer.from(value).toString('base64url');
const seconds = () => Math.floor(Date.now() / 1000);

type Json = Record<string, unknown>;
const soundClaims = (): Json => ({ iss: issuer, aud: AUDIENCE, sub: 'ann', iat: seconds(), exp: seconds() + 600 });

/** Makes a token with exactly this header and payload, by default signed with the provider's own key. */
function forge(
  header: Json | string,
  payload: Json | string,
  signature?: (input: string) => string,
  alg: Algorithm = 'ES256',
) {
  const text = (part: Json | string) => (typeof part === 'string' ? part : JSON.stringify(part));
  const input = `${encode(text(header))}.${encode(text(payload))}`;
  return `${input}.${signature ? signature(input) : signed(alg, input)}`;
}

function signed(alg: Algorithm, input: string, key = privateKeys[alg]): string {
  const digest = alg === 'EdDSA' ? null : 'sha256';
  return encode(sign(digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }));
}

const soundHeader = (more: Json = {}): Json => ({ alg: 'ES256', kid: 'first-ES256', typ: 'at+jwt', ...more });
const withClaims = (more: Json) => forge(soundHeader(), { ...soundClaims(), ...more });
const without = (name: string) => {
  const { [name]: _left, ...claims } = soundClaims();
  return forge(soundHeader(), claims);
};
const open = (more: Partial<Parameters<typeof openIdentityProvider>[0]> = {}) =>
  openIdentityProvider({ issuer, audience: AUDIENCE, ...more });

for (const alg of ALGORITHMS) {
  test(`an access token that an OpenID provider issued with ${alg} is accepted with its claims`, async () => {
    const identity = await open().verify(await openId.token(alg));
    assert.ok(identity, `Accept a token signed with ${alg}.`);
    assert.ok(identity.expires_at > seconds(), 'Take expires_at from exp, in seconds.');
    assert.deepEqual(
      { ...identity, expires_at: 0 },
      {
        issuer,
        subject: alg,
        email: 'ann.lee@example.org',
        email_verified: true,
        display_name: 'Ann Lee',
        avatar_url: 'https://img.example.org/ann.png',
        expires_at: 0,
      },
    );
  });
}

test('every token form that the standards allow is accepted', async () => {
  const provider = open();
  const sound: Record<string, string> = {
    'typ JWT': forge(soundHeader({ typ: 'JWT' }), soundClaims()),
    'typ application/at+jwt': forge(soundHeader({ typ: 'application/at+jwt' }), soundClaims()),
    'no typ': forge(soundHeader({ typ: undefined }), soundClaims()),
    'no kid': forge(soundHeader({ kid: undefined }), soundClaims()),
    'aud is an array that contains our audience': withClaims({ aud: ['https://other.example.org', AUDIENCE] }),
    'no iat': without('iat'),
    'a claim within a claim of the same name': withClaims({ act: { sub: 'bot' }, list: [{ sub: 1 }, { sub: 2 }] }),
    'a claim after another that contains one of the same name': forge(
      soundHeader(),
      JSON.stringify(soundClaims()).replace('{', '{"act":{"sub":"bot"},'),
    ),
    'a name as a value': withClaims({ note: 'sub', quoted: '"sub":1,{' }),
  };
  for (const [name, token] of Object.entries(sound)) {
    assert.equal((await provider.verify(token))?.subject, 'ann', `Accept this token: ${name}.`);
  }
});

test('every forgery is refused, and none of them throws', async () => {
  const provider = open();
  const publicKey = createPublicKey(privateKeys.RS256);
  const hmac = (secret: string | Buffer) => (input: string) =>
    encode(createHmac('sha256', secret).update(input).digest());
  const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string;
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ownJwk = own.publicKey.export({ format: 'jwk' });
  const bySender = (input: string) => signed('ES256', input, own.privateKey);
  const good = forge(soundHeader(), soundClaims());
  const [head = '', body = '', signature = ''] = good.split('.');
  const payload = JSON.stringify(soundClaims());
  const h256 = (more: Json = {}) => soundHeader({ alg: 'HS256', ...more });
  const nothing = () => '';
  const zeros = () => encode(Buffer.alloc(64));
  // The last base64url character of 64 bytes has four unused bits.
  const respelled =
    signature.slice(0, -1) +
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.charAt(
      'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.indexOf(signature.at(-1) ?? '') + 1,
    );
  assert.deepEqual(
    Buffer.from(respelled, 'base64url'),
    Buffer.from(signature, 'base64url'),
    'The other encoding must decode to the same bytes.',
  );

  const forgeries: Record<string, string> = {
    empty: '',
    'two dots alone': '..',
    'one part': head,
    'two parts': `${head}.${body}`,
    'no signature': `${head}.${body}.`,
    'six parts': `${good}.${good}`,
    'a JWE of five parts with zip DEF': `${encode('{"alg":"dir","enc":"A256GCM","zip":"DEF"}')}..AAAA.AAAA.AAAA`,
    'no JSON': forge('nonsense', 'nonsense'),
    'header is an array': forge('[]', payload),
    'header is null': forge('null', payload),
    'payload is a string': forge(soundHeader(), '"ann"'),
    'payload is an array': forge(soundHeader(), `[${payload}]`),
    'payload is not UTF-8': `${head}.${encode(Buffer.from([0x7b, 0xff, 0x7d]))}.${signed('ES256', `${head}.${encode(Buffer.from([0x7b, 0xff, 0x7d]))}`)}`,
    'payload begins with a byte order mark': forge(soundHeader(), `\ufeff${payload}`),
    'deep payload': forge(soundHeader(), '['.repeat(2500) + ']'.repeat(2500)),
    'alg none': forge(soundHeader({ alg: 'none' }), payload, nothing),
    'alg none with a signature': forge(soundHeader({ alg: 'none' }), payload),
    'alg None': forge(soundHeader({ alg: 'None' }), payload),
    'alg NONE': forge(soundHeader({ alg: 'NONE' }), payload),
    'alg nOnE': forge(soundHeader({ alg: 'nOnE' }), payload),
    'alg empty': forge(soundHeader({ alg: '' }), payload),
    'alg missing': forge(soundHeader({ alg: undefined }), payload),
    'alg is an array': forge(soundHeader({ alg: ['ES256'] }), payload),
    'alg in lower case': forge(soundHeader({ alg: 'es256' }), payload),
    'alg of another key': forge(soundHeader({ alg: 'RS256' }), payload),
    'alg RS512, which is not pinned': forge(soundHeader({ alg: 'RS512', kid: 'first-RS256' }), payload),
    'alg PS256, which is not pinned': forge(soundHeader({ alg: 'PS256', kid: 'first-RS256' }), payload),
    'HS256 by the public key as PEM': forge(h256({ kid: 'first-RS256' }), payload, hmac(pem)),
    'HS256 by the trimmed PEM': forge(h256(), payload, hmac(pem.trim())),
    'HS256 by the PEM after a space': forge(h256(), payload, hmac(` ${pem}`)),
    'HS256 by the public key as DER': forge(h256(), payload, hmac(publicKey.export({ format: 'der', type: 'spki' }))),
    'HS256 by the public key as JWK': forge(h256(), payload, hmac(JSON.stringify(publicKey.export({ format: 'jwk' })))),
    'HS256 by an empty secret': forge(h256({ kid: undefined }), payload, hmac('')),
    'kid is a path': forge(soundHeader({ kid: '../../dev/null' }), payload),
    'kid is SQL': forge(soundHeader({ kid: "' or 1=1--" }), payload),
    'kid is an address': forge(soundHeader({ kid: 'https://evil.example.org/key' }), payload),
    'kid unknown': forge(soundHeader({ kid: 'unknown' }), payload),
    'kid is a number': forge(soundHeader({ kid: 1 }), payload),
    'kid is an inherited name': forge(soundHeader({ kid: '__proto__' }), payload),
    'kid of 10 KB': forge(soundHeader({ kid: 'k'.repeat(10_240) }), payload),
    'longer than 8 KiB': withClaims({ filler: 'x'.repeat(8192) }),
    'jwk of the sender': forge(soundHeader({ jwk: ownJwk }), payload, bySender),
    'jwk with a valid signature': forge(soundHeader({ jwk: ownJwk }), payload),
    jku: forge(soundHeader({ jku: 'https://evil.example.org/jwks' }), payload),
    x5u: forge(soundHeader({ x5u: 'https://evil.example.org/x5u' }), payload),
    x5c: forge(soundHeader({ x5c: ['AAAA'] }), payload),
    'unknown crit': forge(soundHeader({ crit: ['later'], later: true }), payload),
    'empty crit': forge(soundHeader({ crit: [] }), payload),
    'b64 false': forge(soundHeader({ b64: false, crit: ['b64'] }), payload),
    'b64 false without crit': forge(soundHeader({ b64: false }), payload),
    'typ of a widget token': forge(soundHeader({ typ: 'widget+jwt' }), payload),
    'typ of a logout token': forge(soundHeader({ typ: 'logout+jwt' }), payload),
    'typ is an array': forge(soundHeader({ typ: ['JWT'] }), payload),
    'alg twice': forge('{"alg":"none","alg":"ES256","kid":"first-ES256"}', payload),
    'sub twice': forge(soundHeader(), payload.replace('{', '{"sub":"root",')),
    'sub twice, once escaped': forge(soundHeader(), payload.replace('{', '{"s\\u0075b":"root",')),
    'sub twice around an object': forge(soundHeader(), payload.replace('{', '{"sub":"root","act":{"x":{}},')),
    'a nested name twice': forge(soundHeader(), payload.replace('{', '{"act":{"sub":"a","sub":"b"},')),
    'signed by a stranger': forge(soundHeader(), payload, bySender),
    'ES256 with r = s = 0': forge(soundHeader(), payload, zeros),
    'signature in DER': forge(soundHeader(), payload, (input) =>
      encode(sign('sha256', Buffer.from(input), privateKeys.ES256)),
    ),
    'signature truncated': good.slice(0, -4),
    'signature followed by more bytes': `${good}AAAA`,
    'signature of one byte': `${head}.${body}.AA`,
    'signature respelled': `${head}.${body}.${respelled}`,
    padding: `${good}==`,
    'standard base64': `${head}.${body}.${Buffer.from(signature, 'base64url').toString('base64')}`,
    'a line break within': `${head}.${body}\n.${signature}`,
    'a line break after the token': `${good}\n`,
    'a space before': ` ${good}`,
    'another payload': `${head}.${encode(payload.replace('ann', 'bob'))}.${signature}`,
    'another header': `${encode(JSON.stringify(soundHeader({ typ: 'JWT' })))}.${body}.${signature}`,
    'exp beyond the leeway': withClaims({ exp: seconds() - 31 }),
    'exp missing': without('exp'),
    'exp is a string': withClaims({ exp: String(seconds() + 600) }),
    'exp is null': withClaims({ exp: null }),
    'exp 1e308': forge(soundHeader(), payload.replace(/"exp":\d+/, '"exp":1e308')),
    'exp infinite': forge(soundHeader(), payload.replace(/"exp":\d+/, '"exp":1e999')),
    'exp below zero': withClaims({ exp: -1 }),
    'nbf beyond the leeway': withClaims({ nbf: seconds() + 35 }),
    'nbf is a string': withClaims({ nbf: '0' }),
    'iat in the future': withClaims({ iat: seconds() + 35 }),
    'iat is a string': withClaims({ iat: '0' }),
    'iss of another': withClaims({ iss: 'https://evil.example.org' }),
    'iss with a slash': withClaims({ iss: `${issuer}/` }),
    'iss is an array': withClaims({ iss: [issuer] }),
    'iss missing': without('iss'),
    'aud of another': withClaims({ aud: 'https://other.example.org' }),
    'aud is a prefix of ours': withClaims({ aud: AUDIENCE.slice(0, -1) }),
    'aud begins with ours': withClaims({ aud: `${AUDIENCE}/admin` }),
    'aud in another case': withClaims({ aud: AUDIENCE.toUpperCase() }),
    'aud is an array without our audience': withClaims({
      aud: ['https://other.example.org', `${AUDIENCE}.evil.example.org`],
    }),
    'our audience nested in aud': withClaims({ aud: [[AUDIENCE]] }),
    'aud is an object': withClaims({ aud: { 0: AUDIENCE, length: 1 } }),
    'aud missing': without('aud'),
    'sub missing': without('sub'),
    'sub empty': withClaims({ sub: '' }),
    'sub is a number': withClaims({ sub: 1 }),
    'sub with NUL': withClaims({ sub: 'ann\u0000' }),
    'sub with a line break': withClaims({ sub: 'ann\n' }),
    'sub with half a surrogate pair': forge(soundHeader(), payload.replace('"ann"', '"ann\\ud800"')),
    'sub of 256 characters': withClaims({ sub: 'a'.repeat(256) }),
  };
  for (const [name, token] of Object.entries(forgeries)) {
    assert.equal(await provider.verify(token), null, `Refuse this forgery: ${name}.`);
  }
  assert.ok(await provider.verify(good), 'The token from which the forgeries are made must be valid.');
});

test('the clocks may differ by at most 30 seconds', async () => {
  let skew = 0;
  const provider = open({ now: () => Date.now() + skew * 1000 });
  const fresh = () => withClaims({ jti: String(Math.random()), nbf: seconds(), exp: seconds() + 300 });
  skew = -28;
  assert.ok(await provider.verify(fresh()), 'Accept a token when our clock is up to 30 s behind.');
  skew = -120;
  assert.equal(await provider.verify(fresh()), null, 'Refuse a token from the future.');
  skew = 328;
  const expiring = fresh();
  assert.ok(await provider.verify(expiring), 'Accept a token up to 30 s after its end.');
  skew = 335;
  assert.equal(
    await provider.verify(expiring),
    null,
    'A token that was verified before must not outlive exp and leeway.',
  );
  assert.equal(await provider.verify(fresh()), null, 'Refuse a token 30 s after its end.');
});

test('a token with an invalid profile is accepted, and the invalid parts are omitted or cleaned', async () => {
  const provider = open();
  const read = async (claims: Json) => {
    const identity = await provider.verify(withClaims(claims));
    assert.ok(identity, `Accept the token with ${JSON.stringify(claims)}.`);
    return identity;
  };
  const bare = await read({});
  assert.deepEqual([bare.email, bare.email_verified, bare.display_name, bare.avatar_url], ['', false, '', '']);
  const emails: [unknown, string][] = [
    ['ANN@Example.org', 'ann@example.org'],
    // Not lower-cased: the Kelvin sign, the dotless i and the capital sharp s.
    ['\u212aelvin@example.org', '\u212aelvin@example.org'],
    ['MıKE@example.org', 'mıke@example.org'],
    ['a\u1e9e@example.org', 'a\u1e9e@example.org'],
    [42, ''],
    [['a@example.org'], ''],
    ['a@example.org\r\nBcc: b@example.org', ''],
    ['a@example.org\u0000', ''],
    ['a\u200b@example.org', ''],
    ['a\ud800@example.org', ''],
    ['a@b@example.org', ''],
    ['a@b.org, c@d.org', ''],
    ['nobody', ''],
    [`${'a'.repeat(243)}@example.org`, ''],
    [`${'a'.repeat(242)}@example.org`, `${'a'.repeat(242)}@example.org`],
  ];
  for (const [email, expected] of emails) {
    const identity = await read({ email, email_verified: true });
    assert.equal(identity.email, expected, `Read the e-mail ${JSON.stringify(email)} as ${JSON.stringify(expected)}.`);
    assert.equal(identity.email_verified, expected !== '', 'Without an e-mail there is no verified e-mail.');
  }
  for (const email_verified of [true, 'true', 1, 'false', 'TRUE', '1', null, {}, ['true']]) {
    const { email_verified: verified } = await read({ email: 'a@example.org', email_verified });
    const expected = email_verified === true || email_verified === 'true';
    assert.equal(verified, expected, `Only true and "true" are true: ${JSON.stringify(email_verified)}.`);
  }
  const names: [unknown, string][] = [
    ['  Ann Lee ', 'Ann Lee'],
    ['Ann\u0000\r\nLee', 'Ann Lee'],
    ['Ann\ud800', 'Ann'],
    ['Ann\u202eeeL', 'Ann eeL'],
    ['👩‍🔬', '👩‍🔬'],
    ['\u0000', ''],
    [{ first: 'Ann' }, ''],
    ['x'.repeat(300), 'x'.repeat(255)],
    [`${'x'.repeat(254)}👩`, 'x'.repeat(254)],
  ];
  for (const [name, expected] of names) {
    assert.equal((await read({ name })).display_name, expected, `Read the name ${JSON.stringify(name)}.`);
  }
  const pictures: [unknown, string][] = [
    ['https://img.example.org/a.png', 'https://img.example.org/a.png'],
    ['http://img.example.org/a.png', ''],
    ['javascript:alert(1)', ''],
    ['data:image/png;base64,AAAA', ''],
    ['//img.example.org/a.png', ''],
    ['https://user:secret@img.example.org/a.png', ''],
    ['https://user@img.example.org/a.png', ''],
    ['https://img.example.org/\u0000', ''],
    [`https://img.example.org/${'a'.repeat(2048)}`, ''],
    [7, ''],
  ];
  for (const [picture, expected] of pictures) {
    assert.equal((await read({ picture })).avatar_url, expected, `Read the picture ${JSON.stringify(picture)}.`);
  }
});

test('a thousand concurrent first verifications fetch the keys only once', async () => {
  const { counts, fetch } = countingFetch();
  const provider = open({ fetch });
  const tokens = Array.from({ length: 1000 }, (_, i) => withClaims({ jti: i }));
  const identities = await Promise.all(tokens.map((token) => provider.verify(token)));
  assert.ok(identities.every(Boolean), 'Accept every identity.');
  assert.deepEqual(counts, { discovery: 1, keys: 1 }, 'Concurrent callers must share one fetch.');
});

test('many unknown kids fetch the keys at most every ten seconds', async () => {
  let time = Date.now();
  const { counts, fetch } = countingFetch();
  const provider = open({ fetch, now: () => time });
  assert.ok(await provider.verify(forge(soundHeader(), soundClaims())));
  const storm = async () => {
    const kids = Array.from({ length: 10_000 }, (_, i) => `kid-${time}-${i}`);
    const claims = soundClaims();
    const answers = await Promise.all(
      kids.map((kid) => provider.verify(forge(soundHeader({ kid }), claims, () => 'AAAA'))),
    );
    assert.ok(
      answers.every((identity) => identity === null),
      'Refuse every unknown kid.',
    );
  };
  await storm();
  assert.equal(counts.keys, 2, 'Unknown kids may fetch the keys once.');
  await provider.verify(forge(soundHeader({ kid: 'once more' }), soundClaims()));
  time += 9_000;
  await provider.verify(forge(soundHeader({ kid: 'and again' }), soundClaims()));
  assert.equal(counts.keys, 2, 'Within ten seconds no unknown kid may fetch again.');
  time += 2_000;
  await provider.verify(forge(soundHeader({ kid: 'ten seconds later' }), soundClaims()));
  assert.equal(counts.keys, 3, 'After ten seconds an unknown kid may fetch again.');
  assert.ok(await provider.verify(forge(soundHeader(), soundClaims())), 'Good tokens are accepted throughout.');
});

test('tokens of another issuer and malformed tokens cause no fetch', async () => {
  const { counts, fetch } = countingFetch();
  const provider = open({ fetch });
  await provider.verify(withClaims({ iss: 'https://other.example.org' }));
  await provider.verify('nonsense');
  assert.deepEqual(counts, { discovery: 0, keys: 0 });
});

test('a new key is accepted at once; a withdrawn key is refused after the next refresh, even for cached tokens', async (t) => {
  t.after(() => {
    openId.useKeys('first');
  });
  let time = Date.now();
  const { counts, fetch } = countingFetch();
  const provider = open({ fetch, now: () => time });
  const old = forge(soundHeader(), { ...soundClaims(), exp: seconds() + 7200 });
  const first = await provider.verify(old);
  assert.ok(first);
  assert.equal(await provider.verify(old), first, 'Return the same identity for a known token.');

  openId.useKeys('second', {
    ...privateKeys,
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  });
  time += 29_000;
  assert.ok(await provider.verify(old), 'Until the refresh the old key is accepted.');
  assert.equal(counts.keys, 1, 'No fetch before it is due.');
  time += 2_000;
  assert.ok(await provider.verify(old), 'A refresh runs in the background of the request that triggers it.');
  await until(
    'the keys are fetched again',
    () => counts.keys,
    (fetched) => fetched === 2,
  );
  await until(
    'the old key is refused',
    () => provider.verify(old),
    (caller) => caller === null,
  );
  assert.equal(counts.keys, 3, 'An unknown kid may trigger one fetch after the refresh removed its key.');
  assert.ok(await provider.verify(await openId.token('ES256')), 'Accept the new key.');

  openId.useKeys('third');
  assert.equal(await provider.verify(await openId.token('ES256')), null, 'Within ten seconds a newer kid must wait.');
  time += 11_000;
  const newest = await openId.token('ES256');
  assert.ok(await provider.verify(newest), 'An unknown kid fetches the keys ten seconds after the last one did.');
});

test('a key that is replaced under the same kid is detected', async (t) => {
  t.after(() => {
    openId.useKeys('first');
  });
  const provider = open();
  assert.ok(await provider.verify(await openId.token('ES256')));
  openId.useKeys('first', {
    ...privateKeys,
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  });
  assert.ok(
    await provider.verify(await openId.token('ES256')),
    'Fetch the keys again when none of them verifies the signature.',
  );
});

for (const idleMs of [60_000, 60 * 60_000]) {
  test(`after ${idleMs / 60_000} idle minutes a withdrawn key is refused for the first token`, async (t) => {
    t.after(() => {
      openId.useKeys('first');
    });
    let time = Date.now();
    const provider = open({ now: () => time });
    const old = forge(soundHeader(), { ...soundClaims(), exp: seconds() + 7200 });
    assert.ok(await provider.verify(old));
    openId.useKeys('second');
    time += idleMs;
    assert.equal(await provider.verify(old), null, 'Fetch the keys before a request that comes after an idle time.');
  });
}

test('the least recently used verified token is evicted first', async () => {
  const provider = open({ remembered: 2 });
  const [a, b, c] = [withClaims({ jti: 'a' }), withClaims({ jti: 'b' }), withClaims({ jti: 'c' })];
  const first = await provider.verify(a);
  const second = await provider.verify(b);
  assert.equal(await provider.verify(a), first);
  await provider.verify(c);
  assert.equal(await provider.verify(a), first, 'The most recently used token stays.');
  assert.notEqual(await provider.verify(b), second, 'Unused tokens are dropped, so that memory is bounded.');
});
