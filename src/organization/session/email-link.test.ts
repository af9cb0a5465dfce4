import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { headerNames, plainText, startMailServer } from '../../../test/mail-server.ts';
import { until } from '../../../test/until.ts';
import { openWorld, type World } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

const mail = await startMailServer();
cleanUp(() => mail.stop());
const settings = {
  SMTP_URL: mail.url,
  PUBLIC_URL: 'https://wiki.example.com',
  TRUSTED_PROXIES: '127.0.0.1,::1',
};
const world = await openWorld(settings);
const open = await openWorld({ ...settings, SIGN_UP: 'open' });
const { query } = world.db;

const newAddress = () => `${randomUUID()}@example.com`;
const from = (address?: string): Record<string, string> =>
  address === undefined ? {} : { 'x-forwarded-for': address };
const ask = (email: string, at: World = world, address?: string) =>
  at.anonymous.post('/v1/auth/email', { email }, from(address));
const complete = (token: string, at: World = world, address?: string) =>
  at.anonymous.post('/v1/auth/email/complete', { token }, from(address));

/** Counter for networks that no other request uses. */
let networks = 0;
const newNetwork = () => `198.51.${Math.floor(++networks / 250)}.${(networks % 250) + 1}`;

async function linkTo(email: string, nth = 1): Promise<string> {
  const text = plainText(await mail.sentTo(email, nth));
  const [, token] = /^https:\/\/wiki\.example\.com\/sign-in\?token=([\w-]{43})$/m.exec(text) ?? [];
  assert.ok(token, text);
  return token;
}

/** Returns the number of messages sent to the address, once no job for it is left. */
async function sentInAll(email: string): Promise<number> {
  await until(`no job for ${email} is left`, async () => {
    const jobs = await query(sql`
      select 1 from background_jobs j join email_links l on l.link_id = j.key
      where j.name = 'send-sign-in-mail' and l.email = ${email}`);
    return jobs.length === 0;
  });
  return mail.messages.filter(({ recipients }) => recipients.includes(email)).length;
}

async function assertSent(times: number, email: string): Promise<void> {
  assert.equal(await sentInAll(email), times, `${email} may get ${times} messages`);
}

test('a user gets one message with a link to PUBLIC_URL, which signs in once', async () => {
  const email = newAddress();
  const person = await world.person(email);
  const asked = await ask(` ${email.toUpperCase()} `);
  assert.deepEqual([asked.status, asked.body], [200, {}]);
  const token = await linkTo(email);
  const raw = (await mail.sentTo(email)).raw;
  assert.ok(raw.includes('text/html'), 'there is a part for readers who want it formatted');
  const signedIn = await complete(token);
  assert.equal(signedIn.status, 200);
  const me = await world.as(signedIn.body.access_token).get('/v1/me');
  assert.deepEqual([me.body.user_id, me.body.email, me.body.email_verified], [person.user_id, email, true]);
  const again = await complete(token);
  assert.deepEqual([again.status, again.body.error], [401, 'unauthorized']);
  assert.equal(mail.messages.filter(({ recipients }) => recipients.includes(email)).length, 1);
});

test('signing in does not change the name of a user', async () => {
  const email = newAddress();
  const person = await world.person(email);
  await query(sql`update users set display_name = 'Grace Hopper' where user_id = ${person.user_id}`);
  await ask(email);
  const { body } = await complete(await linkTo(email));
  assert.equal((await world.as(body.access_token).get('/v1/me')).body.display_name, 'Grace Hopper');
});

test('an unknown address gets the same response as a known one, and no message', async () => {
  const [known, unknown] = [newAddress(), newAddress()];
  await world.person(known);
  const answers = [await ask(known), await ask(unknown)];
  const [first, second] = answers.map(({ status, body, headers }) => {
    const kept = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
    return { status, body, kept };
  });
  assert.deepEqual(first, second);
  await assertSent(0, unknown);
  const [row] = await query(sql`select token_hash from email_links where email = ${unknown}`);
  assert.deepEqual(row, { token_hash: null }, 'the same is written for both');
});

test('an invited address can sign in and accept; after the invitation is revoked it cannot', async () => {
  const owner = await world.owner();
  const email = newAddress();
  const path = `/v1/workspaces/${owner.workspace_id}`;
  const { body: invitation } = await owner.post(`${path}/members/invite`, { email, role: 'member' });
  const [, invited = ''] = /accept\?token=([\w-]+)/.exec(plainText(await mail.sentTo(email))) ?? [];
  await ask(email);
  const { body } = await complete(await linkTo(email, 2));
  const client = world.as(body.access_token);
  const accepted = await client.post('/v1/invitations/accept', { token: invited });
  assert.deepEqual([accepted.status, accepted.body.workspace_id], [200, owner.workspace_id]);
  assert.ok(invitation.invitation_id);

  const late = newAddress();
  const { body: gone } = await owner.post(`${path}/members/invite`, { email: late, role: 'member' });
  await mail.sentTo(late);
  await owner.post(`${path}/invitations/${gone.invitation_id}/revoke`);
  await ask(late);
  // The only message is the invitation.
  await assertSent(1, late);
});

test('with SIGN_UP open every address gets a link, which creates its user', async () => {
  const email = newAddress();
  await ask(email, open);
  const { status, body } = await complete(await linkTo(email), open);
  assert.equal(status, 200);
  const me = await open.as(body.access_token).get('/v1/me');
  assert.deepEqual([me.body.email, me.body.display_name], [email, email.split('@')[0]]);
  const again = await ask(email, open);
  assert.equal(again.status, 200);
  const second = await complete(await linkTo(email, 2), open);
  assert.equal((await open.as(second.body.access_token).get('/v1/me')).body.user_id, me.body.user_id);
});

test('a link works for 15 minutes, unmodified, and until another link of its address is used', async () => {
  const email = newAddress();
  await world.person(email);
  await ask(email);
  const first = await linkTo(email);
  const [end] = await query(sql`
    select expires_at between created_at + interval '15 minutes' and now() + interval '15 minutes' as right
    from email_links where email = ${email}`);
  assert.deepEqual(end, { right: true });
  await ask(email);
  const second = await linkTo(email, 2);
  assert.equal((await complete(`${second.slice(0, -1)}~`)).status, 401);
  assert.equal((await complete('')).status, 401);
  const [dump] = await query<{ dump: string }>(sql`select string_agg(l::text, ' ') as dump from email_links l`);
  assert.ok(dump && !dump.dump.includes(second));
  assert.equal((await complete(first)).status, 200, 'another request does not replace a link that was sent');
  assert.equal((await complete(second)).status, 401, 'a link that is used ends the others');
  await ask(email);
  const third = await linkTo(email, 3);
  await query(sql`update email_links set expires_at = now() where email = ${email}`);
  assert.equal((await complete(third)).status, 401);
});

test('only one of several concurrently used links of an address signs in', async () => {
  const email = newAddress();
  await world.person(email);
  const links: string[] = [];
  for (let i = 1; i <= 4; i += 1) {
    await ask(email);
    links.push(await linkTo(email, i));
  }
  const answers = await Promise.all([...links, ...links].map((link) => complete(link)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 7 }, () => 401)]);
});

test('a network gets five links of an address per hour, also with concurrent requests, and the response does not reveal it', async () => {
  const email = newAddress();
  await world.person(email);
  const network = newNetwork();
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(email, world, network)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  await assertSent(5, email);
  await ask(email, world, network);
  await assertSent(5, email);
  await query(sql`update limit_counts set ends_at = now()`);
  await ask(email, world, network);
  await assertSent(6, email);
});

test("strangers cannot block a user's links, neither from a new network nor from one the user has signed in from", async () => {
  const email = newAddress();
  await world.person(email);
  const home = newNetwork();
  await ask(email, world, home);
  assert.equal((await complete(await linkTo(email), world, home)).status, 200);

  const stranger = newNetwork();
  for (let i = 0; i < 6; i += 1) await ask(email, world, stranger);
  await assertSent(6, email);
  await ask(email, world, newNetwork());
  const elsewhere = await linkTo(email, 7);
  assert.equal((await complete(elsewhere, world, stranger)).status, 200, 'one network silences no other');

  const crowd = Array.from({ length: 30 }, newNetwork);
  await Promise.all(crowd.map((network) => ask(email, world, network)));
  await assertSent(20, email);
  await ask(email, world, newNetwork());
  await assertSent(20, email);
  await ask(email, world, home);
  assert.equal(
    (await complete(await linkTo(email, 21), world, home)).status,
    200,
    'the network of a session has its own',
  );
});

test('a message states how many links were requested within an hour, and from how many networks', async () => {
  const email = newAddress();
  await world.person(email);
  const noteOf = async (nth: number) =>
    /\d+ links were requested.*/.exec(plainText(await mail.sentTo(email, nth)).replace(/\s+/g, ' '))?.[0];
  const network = newNetwork();
  await ask(email, world, network);
  assert.equal(await noteOf(1), undefined);
  await ask(email, world, network);
  assert.match(String(await noteOf(2)), /^2 links .* within an hour, from one network\. Each works until you use one/);
  await ask(email, world, newNetwork());
  assert.match(String(await noteOf(3)), /^3 links .* within an hour, from 2 different networks\./);
});

test('with the mail server down every address gets a 503, and a refused message changes no response', async () => {
  const down = await openWorld({ SMTP_URL: 'smtp://127.0.0.1:1' });
  const known = newAddress();
  await down.person(known);
  for (const email of [known, newAddress()]) {
    const { status, body, headers } = await ask(email, down);
    assert.deepEqual([status, body.error], [503, 'email_unavailable']);
    assert.ok(headers.get('retry-after'));
  }
  assert.deepEqual(await down.db.query(sql`select 1 from email_links`), []);

  const user = newAddress();
  await world.person(user);
  mail.refuse();
  const answers = [await ask(user), await ask(newAddress())];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  mail.accept();
});

test('an invalid address is 400, and no address injects headers or a second recipient into a message', async () => {
  for (const email of [
    '',
    'x',
    'a@b, c@d',
    'a@example.com\r\nBcc: b@example.com',
    'ı@example.com',
    '<a@example.com>',
  ]) {
    const { status, body } = await ask(email, open);
    assert.deepEqual([status, body.error], [400, 'invalid_email'], email);
  }
  const [plain, odd] = [newAddress(), `"'&<x>${randomUUID()}@example.com`.replace(/["<>]/g, '')];
  await ask(plain, open);
  await ask(odd, open);
  assert.deepEqual(headerNames(await mail.sentTo(odd)), headerNames(await mail.sentTo(plain)));
});

test('only one of twenty concurrent uses of a link signs in', async () => {
  const email = newAddress();
  await world.person(email);
  await ask(email);
  const token = await linkTo(email);
  const answers = await Promise.all(Array.from({ length: 20 }, () => complete(token)));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 401)]);
});

test('requests for links delete expired links of other addresses', async () => {
  const email = newAddress();
  await ask(email);
  await query(sql`update email_links set expires_at = now() - interval '2 hours' where email = ${email}`);
  await ask(newAddress());
  assert.deepEqual(await query(sql`select 1 from email_links where email = ${email}`), []);
});
