import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { cleanUp } from '../../../../test/clean-up.ts';
import { plainText, startMailServer } from '../../../../test/mail-server.ts';
import { signedInClient } from '../../../../test/signed-in.ts';
import { until } from '../../../../test/until.ts';
import { type Client, openWorld, type World } from '../../../../test/world.ts';
import { sha256 } from '../../../platform/core/secrets.ts';
import { sql } from '../../../platform/db/sql.ts';

const mail = await startMailServer();
cleanUp(() => mail.stop());
const OPERATOR = 'operator@example.com';
const settings = {
  SMTP_URL: mail.url,
  MAIL_FROM: 'wiki@example.com',
  PUBLIC_URL: 'https://wiki.example.com',
  SIGN_UP: 'open',
  PASSWORD_SIGN_IN: 'on',
  OPERATORS: OPERATOR,
};
const world = await openWorld(settings);
const { query } = world.db;

const newAddress = () => `${randomUUID()}@example.com`;
const ask = (client: Client, email: unknown) => client.post('/v1/me/email-change', { email });
const pending = async (client: Client) => (await client.get('/v1/me/email-change')).body;
const open = (token: string, at: World = world) => at.anonymous.post('/v1/auth/email-change', { token });
const addressOf = async (client: Client) => (await client.get('/v1/me')).body.email;

async function someone(email = newAddress()) {
  const { user_id } = await world.person(email);
  return { email, user_id, session: await signedInClient(world, user_id) };
}

/** Waits for at least `count` links with this path in messages to an address, and returns their secrets. */
async function linksTo(address: string, path: string, count = 1): Promise<string[]> {
  const link = new RegExp(`^https://wiki\\.example\\.com/${path}\\?token=([\\w-]{43})$`, 'm');
  const found = () =>
    mail.messages
      .filter(({ recipients }) => recipients.includes(address))
      .flatMap((message) => link.exec(plainText(message))?.[1] ?? []);
  return until(`${address} has ${count} links`, found, ({ length }) => length >= count);
}

/** Waits for at least `count` links to change an address, and returns the secret of the newest one. */
async function linkTo(address: string, count = 1): Promise<string> {
  return (await linksTo(address, 'email-change', count)).at(-1) ?? '';
}

/** Creates a user who has requested a new address, with the secrets of both links. */
async function asked() {
  const it = await someone();
  const to = newAddress();
  const { status, body } = await ask(it.session, to);
  assert.equal(status, 200, JSON.stringify(body));
  return { ...it, to, ofOld: await linkTo(it.email), ofNew: await linkTo(to) };
}

async function refused(client: Client, email: unknown) {
  const { status, body } = await ask(client, email);
  return [status, body.error];
}

const GONE = [404, 'not_found'];
async function isVoid(...tokens: string[]): Promise<void> {
  for (const token of tokens) {
    const { status, body } = await open(token);
    assert.deepEqual([status, body.error], GONE);
  }
}

for (const first of ['ofOld', 'ofNew'] as const) {
  test(`an address changes once both links are opened, ${first === 'ofOld' ? 'the old' : 'the new'} one first, and each link works once`, async () => {
    const it = await asked();
    const elsewhere = await signedInClient(world, it.user_id);
    const second = first === 'ofOld' ? 'ofNew' : 'ofOld';
    assert.deepEqual((await pending(it.session))[0].email, it.to);
    assert.deepEqual((await open(it[first])).body, { email: it.to, changed: false });
    assert.equal(await addressOf(it.session), it.email, 'one link alone changes nothing');
    await isVoid(it[first]);
    const [{ old_confirmed, new_confirmed }] = await pending(it.session);
    assert.deepEqual([old_confirmed, new_confirmed], [first === 'ofOld', first === 'ofNew']);
    assert.deepEqual((await open(it[second])).body, { email: it.to, changed: true });
    assert.equal(await addressOf(it.session), it.to);
    assert.equal((await elsewhere.get('/v1/me')).status, 401, 'other sessions end');
    assert.deepEqual(await pending(it.session), []);
    await isVoid(it.ofOld, it.ofNew);
    const [record] = await query<{ before: object; after: object; actor_id: string }>(sql`
      select before, after, actor_id from audit_events where type = 'user.email_changed' and target_id = ${it.user_id}`);
    assert.deepEqual(record, { before: { email: it.email }, after: { email: it.to }, actor_id: it.user_id });
  });
}

test('opening both links concurrently changes the address', async () => {
  const it = await asked();
  const answers = await Promise.all([open(it.ofOld), open(it.ofNew), open(it.ofOld), open(it.ofNew)]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 404, 404]);
  assert.equal(answers.filter(({ body }) => body.changed).length, 1);
  assert.equal(await addressOf(it.session), it.to);
});

test('sign-in by mail and password, invitations and operator rights follow the new address', async () => {
  const it = await someone();
  const password = 'correct horse battery staple';
  assert.equal((await it.session.post('/v1/me/password', { new_password: password })).status, 200);
  const owner = await world.owner();
  for (const email of [it.email, OPERATOR]) {
    await owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, { email, role: 'member' });
  }
  const seesConsole = async () => {
    const { body } = await it.session.post('/v1/auth/browser');
    const headers = { accept: 'text/html', cookie: `__Host-ibid=${body.browser_secret}` };
    return (await world.anonymous.send('GET', '/-/admin', { headers, redirect: 'manual' })).status;
  };
  // An earlier sign-in link becomes invalid.
  await world.anonymous.post('/v1/auth/email', { email: it.email });
  const [stale = ''] = await linksTo(it.email, 'sign-in');
  assert.equal((await ask(it.session, OPERATOR)).status, 200);
  assert.equal((await open(await linkTo(it.email))).status, 200);
  assert.equal((await open(await linkTo(OPERATOR))).body.changed, true);

  assert.equal((await world.anonymous.post('/v1/auth/email/complete', { token: stale })).status, 401);
  const signIn = (email: string) => world.anonymous.post('/v1/auth/password', { email, password });
  assert.equal((await signIn(OPERATOR)).status, 200);
  assert.equal((await signIn(it.email)).status, 401);
  const again = await signedInClient(world, it.user_id);
  assert.equal((await again.get('/v1/me')).body.user_id, it.user_id);
  const { body: invitations } = await again.get('/v1/me/invitations');
  assert.deepEqual(
    invitations.map(({ email }: { email: string }) => email),
    [OPERATOR],
  );
  it.session = again;
  assert.equal(await seesConsole(), 200);
  // The old address is free for another account.
  const other = await someone(it.email);
  assert.notEqual(other.user_id, it.user_id);
});

test('a taken address gets the same response and a notice by mail; the other link alone changes nothing', async () => {
  const [it, other] = [await someone(), await someone()];
  const free = await ask(it.session, newAddress());
  const taken = await ask(it.session, other.email);
  const shape = ({ email, expires_at, ...rest }: Record<string, unknown>) => rest;
  assert.deepEqual([taken.status, shape(taken.body)], [free.status, shape(free.body)]);
  const text = plainText(await mail.sentTo(other.email));
  assert.match(text, /belongs to another account/);
  assert.doesNotMatch(text, /token=/);
  assert.deepEqual((await open(await linkTo(it.email, 2))).body, { email: other.email, changed: false });
  assert.deepEqual([await addressOf(it.session), await addressOf(other.session)], [it.email, other.email]);
});

test('only one of several accounts can change to the same address', async () => {
  const [one, two] = [await asked(), await someone()];
  assert.equal((await ask(two.session, one.to)).status, 200);
  assert.equal((await open(one.ofOld)).status, 200);
  assert.equal((await open(await linkTo(two.email))).status, 200);
  const secrets = await linksTo(one.to, 'email-change', 2);
  const answers = await Promise.all(secrets.map((secret) => open(secret)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
  const [first, second] = [await addressOf(one.session), await addressOf(two.session)];
  assert.notEqual(first, second);
  assert.ok([first, second].includes(one.to));
});

test('a change fails if another account has taken the address in the meantime', async () => {
  const it = await asked();
  const other = await someone(it.to);
  assert.equal((await open(it.ofNew)).body.changed, false);
  const { status, body } = await open(it.ofOld);
  assert.deepEqual([status, body.error], [409, 'conflict']);
  assert.deepEqual([await addressOf(it.session), await addressOf(other.session)], [it.email, it.to]);
});

test('links become invalid after another request, signing out everywhere, account deletion, and a day', async () => {
  const replaced = await asked();
  assert.equal((await open(replaced.ofNew)).status, 200);
  const to = newAddress();
  await ask(replaced.session, to);
  await linkTo(to);
  await isVoid(replaced.ofOld);
  assert.deepEqual((await open(await linkTo(replaced.email, 2))).body, { email: to, changed: false });

  const left = await asked();
  assert.equal((await left.session.post('/v1/auth/sign-out-everywhere')).status, 204);
  await isVoid(left.ofOld, left.ofNew);

  const deleted = await asked();
  assert.equal((await deleted.session.post('/v1/me/deletion', { email: deleted.email })).status, 204);
  await isVoid(deleted.ofOld, deleted.ofNew);

  const old = await asked();
  await query(sql`update email_changes set expires_at = now() - interval '1 second' where user_id = ${old.user_id}`);
  await isVoid(old.ofOld, old.ofNew);
  assert.deepEqual(await pending(old.session), []);
});

test('the database stores only hashes of the secrets', async () => {
  const it = await asked();
  const [row] = await query<{ old_hash: Buffer; new_hash: Buffer; text: string }>(sql`
    select old_hash, new_hash, c::text as text from email_changes c where user_id = ${it.user_id}`);
  assert.deepEqual([row?.old_hash, row?.new_hash], [sha256(it.ofOld), sha256(it.ofNew)]);
  assert.ok(!row?.text.includes(it.ofOld));
  const jobs = await query<{ text: string }>(sql`select j::text as text from background_jobs j`);
  for (const { text } of jobs) assert.ok(!text.includes(it.ofOld) && !text.includes(it.ofNew));
});

test('only a recent session can request a change, to one plain address other than the current one', async () => {
  const it = await someone();
  const key = await world.person(it.email);
  assert.deepEqual(await refused(world.anonymous, newAddress()), [401, 'unauthorized']);
  assert.deepEqual(await refused(key, newAddress()), [403, 'forbidden']);
  assert.equal((await key.get('/v1/me/email-change')).status, 403);
  for (const email of [undefined, 5, null])
    assert.deepEqual(await refused(it.session, email), [422, 'validation_error']);
  for (const email of [
    '',
    'a',
    'a@b, c@d',
    'a@example.com\r\nBcc: b@example.com',
    it.email,
    ` ${it.email.toUpperCase()} `,
  ]) {
    assert.deepEqual(await refused(it.session, email), [400, 'invalid_email'], email);
  }
  await query(sql`update sessions set created_at = now() - interval '16 minutes' where user_id = ${it.user_id}`);
  assert.deepEqual(await refused(it.session, newAddress()), [403, 'recent_sign_in_required']);
  for (const body of [{}, { token: 5 }])
    assert.equal((await world.anonymous.post('/v1/auth/email-change', body)).status, 422);
  await isVoid('', 'x', 'x'.repeat(43));
});

test('users who sign in at an issuer cannot change their address here', async () => {
  const it = await someone();
  await query(sql`
    insert into identities (issuer, subject, user_id) values ('https://issuer.example', ${it.user_id}, ${it.user_id})`);
  assert.deepEqual(await refused(it.session, newAddress()), [403, 'forbidden']);
});

test('a request fails while the mail server is down, and works afterwards', async () => {
  const it = await someone();
  await mail.goDown();
  assert.deepEqual(await refused(it.session, newAddress()), [503, 'email_unavailable']);
  assert.deepEqual(await pending(it.session), []);
  await mail.comeBack();
  const to = newAddress();
  assert.equal((await ask(it.session, to)).status, 200);
  assert.equal((await open(await linkTo(it.email))).status, 200);
  assert.equal((await open(await linkTo(to))).body.changed, true);
});

test('a user can request five changes an hour, and an address gets at most five messages an hour from all users', async () => {
  const limited = await openWorld({ ...settings, RATE_LIMITS: 'on' });
  const person = async () => signedInClient(limited, (await limited.person(newAddress())).user_id);
  const first = await person();
  for (let i = 0; i < 5; i += 1) assert.equal((await ask(first, newAddress())).status, 200);
  const sixth = await ask(first, newAddress());
  assert.deepEqual([sixth.status, sixth.body.error], [429, 'rate_limited']);
  assert.ok(Number(sixth.headers.get('retry-after')) > 0);
  const target = newAddress();
  for (let i = 0; i < 6; i += 1) assert.equal((await ask(await person(), target)).status, 200);
  await until(
    'all jobs are done',
    () => limited.db.query(sql`select from background_jobs where name = 'send-email-change-mail'`),
    ({ length }) => length === 0,
  );
  assert.equal(mail.messages.filter(({ recipients }) => recipients.includes(target)).length, 5);
});
