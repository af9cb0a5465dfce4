import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../test/shared-world.ts';
import { signedInClient, signInLink } from '../test/signed-in.ts';
import type { Answer } from '../test/world.ts';

const world = await sharedWorld();

/** A browser without scripts, with the `cookie` of a session or without one. */
function browser(cookie = '') {
  const headers = { accept: 'text/html', 'sec-fetch-site': 'same-origin', cookie };
  return {
    open: (path: string): Promise<Answer> => world.anonymous.send('GET', path, { redirect: 'manual', headers }),
    submit: (path: string, fields: Record<string, string>): Promise<Answer> =>
      world.anonymous.send('POST', path, { redirect: 'manual', headers, body: new URLSearchParams(fields) }),
  };
}

const newAddress = () => `link-${crypto.randomUUID()}@example.com`;
let linked = newAddress();

async function personWithLink() {
  linked = newAddress();
  const { user_id } = await world.person(linked);
  return { user_id, email: linked, token: await signInLink(world, user_id) };
}

/** Opens a browser in which a user is signed in. */
async function signedIn(email = newAddress()) {
  const { user_id } = await world.person(email);
  const { body } = await (await signedInClient(world, user_id)).post('/v1/auth/browser');
  const cookie = `ibid=${body.browser_secret}`;
  const me = () => world.anonymous.get('/v1/me', { cookie, 'sec-fetch-site': 'same-origin' });
  return { ...browser(cookie), email, user_id, me };
}

/** Returns the address of the user whose session an answer starts; undefined if it starts none. */
async function startedUser({ headers }: Answer): Promise<string | undefined> {
  const cookie = headers
    .getSetCookie()
    .find((it) => it.startsWith('ibid=ibid_bs'))
    ?.split(';')[0];
  if (cookie === undefined) return undefined;
  return (await world.anonymous.get('/v1/me', { cookie, 'sec-fetch-site': 'same-origin' })).body.email;
}

test('the page of a sign-in link names the address that it signs in, and opening it does not use up the link', async () => {
  const { email, token } = await personWithLink();
  for (let look = 0; look < 3; look += 1) {
    const { status, body } = await browser().open(`/sign-in?token=${token}`);
    assert.deepEqual([status, body.includes(`Sign in as ${email}`)], [200, true]);
    assert.ok(!body.includes('Switch accounts?'));
  }
  const answer = await browser().submit('/sign-in/link', { token });
  assert.deepEqual([answer.status, await startedUser(answer)], [303, email]);
});

test('a link that opens nothing says so before a button is pressed', async () => {
  for (const token of ['x', '', 'x'.repeat(300)]) {
    const { status, body } = await browser().open(`/sign-in?token=${token}`);
    assert.equal(status, 401, token);
    assert.ok(!body.includes('Sign in as'));
  }
});

test('the page asks if another user is signed in, and signs in no user without an answer', async () => {
  const { email, token } = await personWithLink();
  const present = await signedIn();
  const { body } = await present.open(`/sign-in?token=${token}`);
  assert.ok(body.includes('Switch accounts?'));
  assert.ok(body.includes(`Stay signed in as ${present.email}`) && body.includes(`Sign in as ${email}`));
  // A form without this question, for example from a page opened before another user signed in.
  for (const leaves of ['', 'user_x']) {
    const asked = await present.submit('/sign-in/link', { token, leaves });
    assert.deepEqual([asked.status, await startedUser(asked)], [200, undefined]);
    assert.ok(asked.body.includes('Switch accounts?'));
  }
  assert.equal((await present.me()).body.email, present.email);
  const chosen = await present.submit('/sign-in/link', { token, leaves: present.user_id });
  assert.equal(await startedUser(chosen), email);
  assert.equal((await present.me()).status, 401, 'the session that was left has ended');
});

test('a user who is already signed in as the user of the link is not asked', async () => {
  const present = await signedIn();
  const token = await signInLink(world, present.user_id);
  const { body } = await present.open(`/sign-in?token=${token}`);
  assert.ok(!body.includes('Switch accounts?'));
  const again = await present.submit('/sign-in/link', { token });
  assert.equal(await startedUser(again), present.email);
  assert.equal((await present.me()).status, 401, 'one session in one browser');
});

test('a failed link leaves the session unchanged', async () => {
  const present = await signedIn();
  assert.equal((await present.submit('/sign-in/link', { token: 'x' })).status, 401);
  assert.equal((await present.me()).body.email, present.email);
});

test('curl, uptime checks and link previews get the same pages as people, and API clients get JSON', async () => {
  const get = (path: string, accept?: string, method = 'GET') =>
    world.anonymous.send(method, path, { redirect: 'manual', headers: accept === undefined ? {} : { accept } });
  for (const accept of ['*/*', '*/*;q=0.8', 'text/html,*/*;q=0.8']) {
    const signIn = await get('/sign-in', accept);
    assert.deepEqual([signIn.status, signIn.headers.get('content-type')], [200, 'text/html; charset=utf-8'], accept);
    assert.match(signIn.body, /<title>Sign in · Ibid<\/title>/);
    assert.equal((await get('/', accept)).headers.get('location'), '/sign-in?next=%2F');
    assert.equal((await get('/acme/main/plan', accept)).status, 303);
    assert.equal((await get('/sign-in', accept, 'HEAD')).status, 200);
  }
  for (const accept of ['application/json', 'application/json, text/plain, */*', 'image/png']) {
    assert.equal((await get('/sign-in', accept)).status, 404, accept);
  }
  for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1/nothing/at/all', '/v1?x=1', '/robots.txt']) {
    const { status, body } = await get(path, '*/*');
    assert.deepEqual([status, body.error], [404, 'not_found'], path);
  }
  assert.equal((await get('/v1/me', '*/*')).body.error, 'unauthorized');
  assert.equal((await get('/sign-in', '*/*', 'POST')).status, 404, 'a write is no page');
  assert.equal((await get('/livez', '*/*')).body.status, 'ok');
});
