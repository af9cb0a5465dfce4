import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { makeFolder, spawnService } from '../../../test/process.ts';
import { until } from '../../../test/until.ts';
import { type Answer, makeDatabase, openWorld, worldOf } from '../../../test/world.ts';
import { openDb } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';

const PUBLIC_URL = 'https://wiki.example.com';

/** Starts two processes on a new database; returns the secrets of the links that they log. */
async function startTwo() {
  const DATABASE_URL = await makeDatabase();
  const DATA_DIR = await makeFolder();
  const services = [0, 1].map(() => spawnService({ PORT: '0', DATA_DIR, DATABASE_URL, PUBLIC_URL }));
  const db = openDb({ connection: { connectionString: DATABASE_URL }, connections: 2 });
  const tokens: string[] = [];
  const clients = [];
  for (const service of services) {
    await service.ready;
    const address = /serves (\S+)/.exec(service.stdout())?.[1] ?? '';
    clients.push(worldOf(db, address).anonymous);
    const link = /"msg":"[^"]*https:\/\/wiki\.example\.com\/welcome\?token=([\w-]{43})"/;
    const log = await until('the link in the log', service.stdout, (text) => link.test(text));
    tokens.push(link.exec(log)?.[1] ?? '');
  }
  return { clients, tokens, db, services, env: { PORT: '0', DATA_DIR, DATABASE_URL, PUBLIC_URL } };
}

test('only one of twenty concurrent requests to two processes creates the first user, and then the link is invalid', async () => {
  const { clients, tokens, db, services, env } = await startTwo();
  assert.equal(tokens[0], tokens[1], 'all processes print the same link');
  const claim = (i: number, email = `first-${i}@example.com`): Promise<Answer> | undefined =>
    clients[i % 2]?.post('/v1/auth/first-owner', { token: tokens[i % 2], email, display_name: `Nr. ${i}` });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => claim(i)));
  assert.deepEqual(answers.map((answer) => answer?.status).sort(), [200, ...Array.from({ length: 19 }, () => 401)]);
  const users = await db.query<{ email: string; display_name: string; email_verified: boolean }>(sql`
    select email, display_name, email_verified from users`);
  const winner = answers.findIndex((answer) => answer?.status === 200);
  assert.deepEqual(users, [
    { email: `first-${winner}@example.com`, display_name: `Nr. ${winner}`, email_verified: true },
  ]);
  for (let i = 0; i < 4; i += 1) assert.equal((await claim(i))?.status, 401);
  assert.equal((await claim(0, 'x'))?.status, 401, 'a void link learns nothing about the rest');

  const first = answers[winner]?.body.access_token;
  const me = await clients[0]?.get('/v1/me', { authorization: `Bearer ${first}` });
  assert.equal(me?.body.email, `first-${winner}@example.com`);
  const onboarded = await clients[1]?.send('POST', '/v1/onboarding', { headers: { authorization: `Bearer ${first}` } });
  assert.equal(onboarded?.body.workspace_created, true, 'onboarding makes the workspace, as for everybody');

  services[0]?.kill('SIGTERM');
  await services[0]?.ended;
  const again = spawnService(env);
  await again.ready;
  assert.ok(!again.stdout().includes('/welcome?token='), 'where there is a user no link is printed');
  await db.close();
});

longTest('without a mail server the link to sign in is in the log, for the operator to pass on', async () => {
  const { clients, tokens, db, services } = await startTwo();
  const email = 'first@example.com';
  await clients[0]?.post('/v1/auth/first-owner', { token: tokens[0], email });
  assert.equal((await clients[0]?.post('/v1/auth/email', { email }))?.status, 200);
  const link = /https:\/\/wiki\.example\.com\/sign-in\?token=([\w-]{43})/;
  // Either process may send the message.
  const log = await until(
    'the link in a log',
    () => services.map(({ stdout }) => stdout()).join(''),
    (text) => link.test(text),
  );
  const [, token] = link.exec(log) ?? [];
  assert.equal((await clients[1]?.post('/v1/auth/email/complete', { token }))?.status, 200);
  await db.close();
});

longTest('the first user may bring a password, if there are passwords, and a link is good for 30 days', async () => {
  const token = 'x'.repeat(43);
  const claim = { token, email: 'ada@example.com', password: 'correct horse battery' };
  for (const passwords of ['off', 'on']) {
    const world = await openWorld({ PASSWORD_SIGN_IN: passwords });
    const { query } = world.db;
    const links = await query(sql`update welcome_links set token_hash = sha256(${token}::bytea) returning 1`);
    assert.equal(links.length, 1);
    const path = '/v1/auth/first-owner';
    await query(sql`update welcome_links set created_at = now() - interval '31 days'`);
    assert.equal((await world.anonymous.post(path, claim)).status, 401);
    await query(sql`update welcome_links set created_at = now()`);
    assert.equal((await world.anonymous.post(path, { ...claim, email: 'a@b, c@d' })).body.error, 'invalid_email');
    assert.equal((await world.anonymous.post(path, { ...claim, display_name: ' ' })).body.error, 'invalid_name');
    const made = await world.anonymous.post(path, claim);
    assert.equal(made.status, passwords === 'on' ? 200 : 403, JSON.stringify(made.body));
    if (passwords === 'off') {
      assert.deepEqual(await query(sql`select 1 from users`), []);
      continue;
    }
    const { email, password } = claim;
    assert.equal((await world.anonymous.post('/v1/auth/password', { email, password })).status, 200);
  }
});

test('a link is invalid as soon as any user exists', async () => {
  const world = await openWorld();
  const token = 'y'.repeat(43);
  await world.db.query(sql`update welcome_links set token_hash = sha256(${token}::bytea)`);
  await world.person();
  const late = await world.anonymous.post('/v1/auth/first-owner', { token, email: 'late@example.com' });
  assert.deepEqual([late.status, late.body.error], [401, 'unauthorized']);
});
