import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import { cleanUp } from '../../../../test/clean-up.ts';
import { longTest } from '../../../../test/extent.ts';
import { startMailServer } from '../../../../test/mail-server.ts';
import { signedInClient } from '../../../../test/signed-in.ts';
import { until } from '../../../../test/until.ts';
import { openWorld } from '../../../../test/world.ts';
import { sql } from '../../../platform/db/sql.ts';

const mail = await startMailServer();
cleanUp(() => mail.stop());
const world = await openWorld({ PASSWORD_SIGN_IN: 'on', SMTP_URL: mail.url, TRUSTED_PROXIES: '127.0.0.1,::1' });
const { query } = world.db;
const PASSWORD = 'correct horse battery staple';

const signIn = (email: string, password: string, address?: string) =>
  world.anonymous.post('/v1/auth/password', { email, password }, address ? { 'x-forwarded-for': address } : {});

/** Counter for networks that no other request uses. */
let networks = 0;
const newNetwork = () => `198.51.${Math.floor(++networks / 250)}.${(networks % 250) + 1}`;

/** Creates a user with a session and an address, and a password if given. */
async function person(password?: string) {
  const { user_id } = await world.person();
  const session = await signedInClient(world, user_id);
  const { email } = (await session.get('/v1/me')).body as { email: string };
  if (password !== undefined) {
    assert.equal((await session.post('/v1/me/password', { new_password: password })).status, 200);
  }
  return { session, email, user_id };
}

test('a user sets a password and signs in with it', async () => {
  const { email, user_id } = await person(PASSWORD);
  const answer = await signIn(` ${email.toUpperCase()}`, PASSWORD);
  assert.equal(answer.status, 200);
  assert.equal((await world.as(answer.body.access_token).get('/v1/me')).body.user_id, user_id);
  const [row] = await query<{ phc: string }>(sql`select phc from passwords where user_id = ${user_id}`);
  assert.match(row?.phc ?? '', /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  const [audit] = await query<{ dump: string }>(sql`select string_agg(e::text, ' ') as dump from audit_events e`);
  assert.ok(audit && !audit.dump.includes('argon2') && !audit.dump.includes(PASSWORD));
});

test('a wrong password, an address without a password and an unknown address get the same response', async () => {
  const [withOne, without] = [await person(PASSWORD), await person()];
  const answers = [
    await signIn(withOne.email, `${PASSWORD}!`),
    await signIn(without.email, PASSWORD),
    await signIn('nobody@example.com', PASSWORD),
    await signIn(withOne.email, ''),
  ];
  for (const { status, body } of answers) {
    assert.equal(status, 401);
    assert.deepEqual({ ...body, request_id: '' }, { ...answers[0]?.body, request_id: '' });
  }
});

test('checking takes the same work with and without a stored password', async (t) => {
  const [withOne, without] = [await person(PASSWORD), await person()];
  const hashing = t.mock.method(crypto, 'argon2');
  const workFor = async (address: string) => {
    hashing.mock.resetCalls();
    assert.equal((await signIn(address, 'a wrong password')).status, 401);
    return hashing.mock.calls.map(({ arguments: [algorithm, { message, nonce, ...parameters }] }) => {
      return { algorithm, message: String(message), salt_bytes: (nonce as Buffer).length, ...parameters };
    });
  };
  const work = await workFor(withOne.email);
  assert.equal(work.length, 1, 'a password that is there is compared by one hash');
  assert.deepEqual(await workFor(without.email), work);
  assert.deepEqual(await workFor('gone@example.com'), work);
});

test('changing a password needs the current one, and ends all other sessions', async () => {
  const { session, email, user_id } = await person(PASSWORD);
  const other = await signedInClient(world, user_id);
  const change = (current_password?: string) =>
    session.post('/v1/me/password', { new_password: 'another horse battery', current_password });
  for (const wrong of [undefined, '', 'wrong']) {
    const { status, body } = await change(wrong);
    assert.deepEqual([status, body.error], [403, 'forbidden']);
  }
  assert.equal((await other.get('/v1/me')).status, 200);
  assert.equal((await change(PASSWORD)).status, 200);
  assert.equal((await session.get('/v1/me')).status, 200);
  assert.equal((await other.get('/v1/me')).status, 401);
  assert.equal((await signIn(email, PASSWORD)).status, 401);
  assert.equal((await signIn(email, 'another horse battery')).status, 200);
});

test('a removed password no longer works; the session stays, and a new one can be set without the old one', async () => {
  const { session, email } = await person(PASSWORD);
  assert.equal((await session.send('DELETE', '/v1/me/password')).status, 204);
  assert.equal((await session.send('DELETE', '/v1/me/password')).status, 404);
  assert.equal((await signIn(email, PASSWORD)).status, 401);
  assert.equal((await session.post('/v1/me/password', { new_password: 'another horse battery' })).status, 200);
});

test('a password has 12 to 128 arbitrary characters, is compared after normalization, and is never echoed', async () => {
  const { session, email } = await person();
  const set = (new_password: string, current_password?: string) =>
    session.post('/v1/me/password', { new_password, current_password });
  for (const wrong of ['eleven-char', 'x'.repeat(129)]) {
    const { status, body } = await set(wrong);
    assert.equal(status, 422);
    assert.ok(!JSON.stringify(body).includes(wrong.slice(0, 11)), 'a password must not come back');
  }
  // Six letters, each with a combining accent.
  assert.equal((await set('e\u0301'.repeat(6))).body.error, 'invalid_request');
  const composed = 'caf\u00e9 \u{1f600} \ufb01ne day';
  assert.equal((await set(composed)).status, 200);
  assert.equal((await signIn(email, 'cafe\u0301 \u{1f600} fine day')).status, 200);
  assert.equal((await set('\u{1f600}'.repeat(128), composed)).status, 200);
  assert.equal((await signIn(email, '\u{1f600}'.repeat(128))).status, 200);
});

test('guesses at an address are delayed increasingly, even if they come concurrently', async () => {
  const { email } = await person(PASSWORD);
  for (const address of [email, 'guessed@example.com']) {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => signIn(address, `guess ${i}`)));
    const counts = (status: number) => answers.filter((answer) => answer.status === status).length;
    assert.deepEqual([counts(401), counts(429)], [5, 15], `${address}: no more than five are judged`);
    const refused = answers.find(({ status }) => status === 429);
    assert.equal(refused?.body.error, 'rate_limited');
    assertAbout(15, Number((await signIn(address, PASSWORD)).headers.get('retry-after')));
  }
  assert.equal((await signIn(email, PASSWORD)).status, 429, 'also the right one waits');
  assert.equal((await signIn('somebody-else@example.com', PASSWORD)).status, 401, 'others do not wait');
  const later = () => query(sql`update password_guesses set locked_until = now()`);
  for (const wait of [30, 60, 120, 240, 480, 900, 900]) {
    await later();
    assert.equal((await signIn(email, 'wrong')).status, 401);
    assertAbout(wait, Number((await signIn(email, 'wrong')).headers.get('retry-after')));
  }
  await later();
  assert.equal((await signIn(email, PASSWORD)).status, 200);
  assert.equal((await signIn(email, 'wrong')).status, 401, 'a right password puts the count back');
});

longTest(
  'many networks together have twenty guesses, and no user whose network they are not is locked out',
  async () => {
    const { email } = await person(PASSWORD);
    const home = newNetwork();
    assert.equal((await signIn(email, PASSWORD, home)).status, 200);
    // Remove the count of the first sign-in, which came from an unknown network.
    await query(sql`delete from password_guesses where email = ${email}`);
    for (const address of [email, 'guessed-by-many@example.com']) {
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, i) => signIn(address, `guess ${i}`, newNetwork())),
      );
      const counts = (status: number) => answers.filter((answer) => answer.status === status).length;
      assert.deepEqual([counts(401), counts(429)], [20, 40], `${address}: no more than twenty are judged`);
      assertAbout(15, Number((await signIn(address, PASSWORD, newNetwork())).headers.get('retry-after')));
      await query(sql`update password_guesses set locked_until = now() where email = ${address}`);
      assert.equal((await signIn(address, 'wrong', newNetwork())).status, 401);
      const refused = await signIn(address, PASSWORD, newNetwork());
      assert.equal(refused.status, 429, 'also the right one waits in an unknown network');
      assertAbout(30, Number(refused.headers.get('retry-after')));
    }
    assert.equal((await signIn(email, 'wrong', home)).status, 401);
    assert.equal(
      (await signIn(email, PASSWORD, home)).status,
      200,
      'a network that the user signed in from is not delayed',
    );
  },
);

test('a browser with an earlier session of the user has its own count of guesses, and no other token does', async () => {
  const { email, user_id } = await person(PASSWORD);
  const deviceOf = async (user: string) =>
    (await (await signedInClient(world, user)).post('/v1/auth/browser')).body.device_token as string;
  const [own, others] = [await deviceOf(user_id), await deviceOf((await person()).user_id)];
  const office = newNetwork();
  const guess = async (device_token?: string, password = 'wrong') => {
    const body = { email, password, ...(device_token !== undefined && { device_token }) };
    return (await world.anonymous.post('/v1/auth/password', body, { 'x-forwarded-for': office })).status;
  };
  const used = [];
  for (let i = 0; i < 6; i += 1) used.push(await guess());
  assert.deepEqual(used, [401, 401, 401, 401, 401, 429], 'somebody in the same network uses it up');
  await Promise.all(Array.from({ length: 25 }, () => signIn(email, 'wrong', newNetwork())));
  for (const token of [
    others,
    `${own.slice(0, -1)}${own.endsWith('x') ? 'y' : 'x'}`,
    own.replace('dv', 'bs'),
    'x',
    '',
  ]) {
    assert.equal(await guess(token, PASSWORD), 429, `${token} is not of a device of this user`);
  }
  assert.equal(await guess(own, PASSWORD), 200, 'the own browser signs in at once');
  assert.equal(await guess(undefined, PASSWORD), 429, 'and resets no count but its own');
  assert.equal((await world.as(own).get('/v1/me')).status, 401, 'it opens nothing');
  const concurrent = await Promise.all(Array.from({ length: 12 }, () => guess(own)));
  assert.equal(concurrent.filter((status) => status === 401).length, 5, 'its guesses are slowed down, too');
});

longTest(
  'a user is told of many wrong guesses by mail once a day, and an address without a password is not',
  async () => {
    const [withOne, without] = [await person(PASSWORD), await person()];
    const guessMany = async (email: string) => {
      await query(sql`delete from password_guesses where email = ${email}`);
      await Promise.all(Array.from({ length: 25 }, () => signIn(email, 'wrong', newNetwork())));
    };
    const jobs = () => query(sql`select key from background_jobs where name = 'send-guess-warning'`);
    for (const { email } of [withOne, without]) await guessMany(email);
    const { raw } = await mail.sentTo(withOne.email);
    assert.match(raw, /Subject: Wrong passwords/);
    await guessMany(withOne.email);
    await until('no warning is on its way', jobs, (queued) => queued.length === 0);
    const addresses = mail.messages.flatMap(({ recipients }) => recipients);
    assert.deepEqual(
      addresses.filter((address) => address === withOne.email || address === without.email),
      [withOne.email],
    );
    await query(sql`update limit_counts set ends_at = now()`);
    await guessMany(withOne.email);
    await mail.sentTo(withOne.email, 2);
  },
);

test('guesses at the current password in a password change are counted and send no warning', async () => {
  const { session, email } = await person(PASSWORD);
  await query(sql`
    insert into password_guesses (email, address, guesses, locked_until)
    select ${email}, address, 30, now() from unnest(array['*', '127.0.0.1']) address`);
  const change = { new_password: 'another horse battery', current_password: 'wrong' };
  assert.equal((await session.post('/v1/me/password', change)).status, 403);
  assert.equal((await session.post('/v1/me/password', change)).status, 429);
});

/** Asserts that a wait of this many seconds began a moment ago. */
function assertAbout(wait: number, left: number): void {
  assert.ok(left <= wait && left > wait / 2, `of ${wait} seconds ${left} are left`);
}

longTest('an Idempotency-Key gives no free guess, at the guard or inside', async () => {
  const { session, email } = await person(PASSWORD);
  const statuses = [];
  for (let i = 0; i < 7; i += 1) {
    const headers = { 'idempotency-key': `guess-${i}` };
    const body = { email, password: 'wrong' };
    statuses.push((await world.anonymous.post('/v1/auth/password', body, headers)).status);
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);
  const change = { new_password: 'another horse battery', current_password: 'wrong' };
  assert.equal((await session.post('/v1/me/password', change, { 'idempotency-key': 'inside' })).status, 429);
  await query(sql`delete from password_guesses`);
  const inside = [];
  for (let i = 0; i < 7; i += 1) {
    inside.push((await session.post('/v1/me/password', change, { 'idempotency-key': `inside-${i}` })).status);
  }
  assert.deepEqual(inside, [403, 403, 403, 403, 403, 429, 429]);
});

test('only one of several concurrent password changes with the same old password succeeds', async () => {
  const { session } = await person(PASSWORD);
  const answers = await Promise.all(
    Array.from({ length: 5 }, (_, i) =>
      session.post('/v1/me/password', { new_password: `new horse battery ${i}`, current_password: PASSWORD }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1, JSON.stringify(answers.map((a) => a.body)));
});

test('a user with an issuer cannot set a password here', async () => {
  const { session, user_id } = await person();
  await query(sql`update identities set issuer = 'https://id.example.com' where user_id = ${user_id}`);
  const refused = await session.post('/v1/me/password', { new_password: PASSWORD });
  assert.deepEqual([refused.status, refused.body.error], [403, 'forbidden']);
});

test('with passwords disabled, all their endpoints are 403 and existing passwords do not work', async () => {
  const off = await openWorld();
  const { user_id } = await off.person('off@example.com');
  const session = await signedInClient(off, user_id);
  const refused = [
    await off.anonymous.post('/v1/auth/password', { email: 'off@example.com', password: PASSWORD }),
    await session.post('/v1/me/password', { new_password: PASSWORD }),
    await session.send('DELETE', '/v1/me/password'),
  ];
  for (const { status, body } of refused) {
    assert.deepEqual([status, body.error], [403, 'forbidden']);
    assert.match(body.message, /PASSWORD_SIGN_IN/);
  }
  assert.deepEqual((await off.anonymous.get('/v1/auth/methods')).body, { methods: ['email'], has_users: true });
});
