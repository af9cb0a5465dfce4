import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import {
  headerNames,
  plainText,
  type ReceivedMessage,
  startMailServer,
  startSilentServer,
} from '../../../test/mail-server.ts';
import { until } from '../../../test/until.ts';
import { type Owner, openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

const mail = await startMailServer();
cleanUp(() => mail.stop());
const world = await openWorld({
  SMTP_URL: mail.url,
  MAIL_FROM: 'Ibid <wiki@example.com>',
  PUBLIC_URL: 'https://wiki.example.com',
});

const of = (owner: Owner) => `/v1/workspaces/${owner.workspace_id}`;

/** Invites an address and returns the invitation with the secret of the emailed link. */
async function invite(owner: Owner, email: string, role = 'member') {
  const answer = await owner.post(`${of(owner)}/members/invite`, { email, role });
  assert.equal(answer.status, 200);
  const status = () => mailStatus(owner, answer.body.invitation_id);
  await until('the invitation is sent', status, (seen) => seen === 'sent');
  const sent = mail.messages.filter(({ recipients }) => recipients[0] === answer.body.email);
  assert.equal(sent.length, 1, 'an invitation is exactly one message');
  return { ...answer.body, token: tokenIn(sent[0]) } as { invitation_id: string; token: string };
}

/** Returns the status of an invitation's email from the list of invitations. */
async function mailStatus(owner: Owner, invitation_id: string): Promise<string | undefined> {
  const { body } = await owner.get(`${of(owner)}/invitations`);
  return body.find((one: { invitation_id: string }) => one.invitation_id === invitation_id)?.mail_status;
}

function tokenIn(message: ReceivedMessage | undefined): string {
  assert.ok(message);
  return /^https:\/\/wiki\.example\.com\/invitations\/accept\?token=([\w-]{43})$/m.exec(plainText(message))?.[1] ?? '';
}

test('an invited person gets one message with a link to PUBLIC_URL, and joins with it once', async () => {
  const owner = await world.owner();
  const { token } = await invite(owner, 'grace@example.com', 'developer');
  assert.deepEqual((await mail.sentTo('grace@example.com')).recipients, ['grace@example.com']);
  const grace = await world.person('grace@example.com');
  const look = await grace.get(`/v1/invitations/lookup?token=${token}`);
  assert.deepEqual([look.body.email, look.body.role, look.body.state], ['grace@example.com', 'developer', 'pending']);
  const accepted = await grace.post('/v1/invitations/accept', { token });
  assert.equal(accepted.status, 200);
  assert.deepEqual([accepted.body.workspace_id, accepted.body.role], [owner.workspace_id, 'developer']);
  const again = await grace.post('/v1/invitations/accept', { token });
  assert.deepEqual([again.status, again.body.error], [409, 'conflict']);
  assert.equal((await grace.get('/v1/workspaces')).body.length, 1);
  const list = await owner.get(`${of(owner)}/invitations?state=accepted`);
  assert.equal(list.body.length, 1);
});

test('only an account whose verified address was invited can accept', async () => {
  const owner = await world.owner();
  const { token } = await invite(owner, 'mike@example.org');
  const other = await world.person('mike2@example.org');
  assert.equal((await other.post('/v1/invitations/accept', { token })).status, 403);
  const lookalike = await world.person();
  await world.db.query(sql`update users set email = 'mıke@example.org' where user_id = ${lookalike.user_id}`);
  assert.equal((await lookalike.post('/v1/invitations/accept', { token })).status, 403);
  const unverified = await world.person();
  await world.db.query(sql`
    update users set email = 'mike@example.org', email_verified = false where user_id = ${unverified.user_id}`);
  assert.equal((await unverified.post('/v1/invitations/accept', { token })).status, 403);
  assert.equal(
    (await world.person('mike@example.org').then((mike) => mike.post('/v1/invitations/accept', { token }))).status,
    200,
  );
});

test('a signed-in user sees the invitations to their verified address, and can accept one once without its link', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  const { invitation_id } = await invite(owner, 'lena@example.org', 'developer');
  await invite(other, 'leni@example.org');
  const lena = await world.person('lena@example.org');
  const path = (id: string) => `/v1/me/invitations/${id}/accept`;
  const { body: shown } = await lena.get('/v1/me/invitations');
  assert.deepEqual([shown.length, shown[0].invitation_id, shown[0].role], [1, invitation_id, 'developer']);
  assert.equal(shown[0].token, undefined);
  // It is hidden from another address, a look-alike, an unverified address and a limited key.
  const leni = await world.person('leni@example.org');
  const lookalike = await world.person();
  await world.db.query(sql`update users set email = 'lеna@example.org' where user_id = ${lookalike.user_id}`);
  const unverified = await world.person();
  await world.db.query(sql`
    update users set email = 'lena@example.org', email_verified = false where user_id = ${unverified.user_id}`);
  for (const stranger of [leni, lookalike, unverified, owner]) {
    const { body } = await stranger.get('/v1/me/invitations');
    assert.ok(body.every((one: { invitation_id: string }) => one.invitation_id !== invitation_id));
    assert.equal((await stranger.post(path(invitation_id))).status, 404);
  }
  const { body: key } = await lena.post('/v1/me/api-keys', { name: 'reads', permissions: ['pages:read'] });
  assert.equal((await world.as(key.secret).get('/v1/me/invitations')).status, 403);
  assert.equal((await world.as(key.secret).post(path(invitation_id))).status, 403);
  const accepted = await lena.post(path(invitation_id));
  assert.deepEqual(
    [accepted.status, accepted.body.workspace_id, accepted.body.role],
    [200, owner.workspace_id, 'developer'],
  );
  assert.equal((await lena.post(path(invitation_id))).status, 404);
  assert.deepEqual((await lena.get('/v1/me/invitations')).body, []);
  assert.equal((await lena.get('/v1/workspaces')).body.length, 1);
  const { body: events } = await owner.get(`${of(owner)}/audit-events?type=organization_membership.created`);
  assert.equal(events.at(-1).actor_id, lena.user_id);
});

test('a revoked or expired invitation is neither shown nor accepted, with or without its link', async () => {
  const owner = await world.owner();
  const guest = await world.person('lost@example.org');
  const { invitation_id } = await invite(owner, 'lost@example.org');
  const accept = () => guest.post(`/v1/me/invitations/${invitation_id}/accept`);
  await world.db.query(sql`update invitations set expires_at = now() where invitation_id = ${invitation_id}`);
  assert.deepEqual([(await guest.get('/v1/me/invitations')).body.length, (await accept()).status], [0, 404]);
  await world.db.query(sql`
    update invitations set expires_at = now() + interval '1 day' where invitation_id = ${invitation_id}`);
  assert.equal((await guest.get('/v1/me/invitations')).body.length, 1);
  await owner.post(`${of(owner)}/invitations/${invitation_id}/revoke`);
  assert.deepEqual([(await guest.get('/v1/me/invitations')).body.length, (await accept()).status], [0, 404]);
});

test('a changed, revoked, replaced or expired secret opens no invitation', async () => {
  const owner = await world.owner();
  const guest = await world.person('guest@example.org');
  const accept = (token: string) => guest.post('/v1/invitations/accept', { token });
  const first = await invite(owner, 'guest@example.org');
  assert.equal((await accept(`${first.token.slice(0, -1)}_`)).status, 404);
  assert.equal((await accept('')).status, 404);
  const resent = await owner.post(`${of(owner)}/invitations/${first.invitation_id}/resend`);
  assert.deepEqual([resent.status, resent.body.invitation_id], [200, first.invitation_id]);
  const second = tokenIn(await mail.sentTo('guest@example.org', 2));
  assert.notEqual(second, first.token);
  assert.equal((await accept(first.token)).status, 404);
  await world.db.query(sql`update invitations set expires_at = now() where invitation_id = ${first.invitation_id}`);
  assert.equal((await accept(second)).status, 404);
  assert.equal((await owner.get(`${of(owner)}/invitations`)).body[0].state, 'expired');
  const { body: third } = await owner.post(`${of(owner)}/members/invite`, {
    email: 'guest@example.org',
    role: 'member',
  });
  const thirdToken = tokenIn(await mail.sentTo('guest@example.org', 3));
  const revoked = await owner.post(`${of(owner)}/invitations/${third.invitation_id}/revoke`);
  assert.equal(revoked.body.state, 'revoked');
  assert.equal((await accept(thirdToken)).status, 404);
  assert.equal((await owner.post(`${of(owner)}/invitations/${third.invitation_id}/revoke`)).status, 409);
});

test('an invitation grants no more than its sender may: after the sender is demoted, it grants no access', async () => {
  const owner = await world.owner();
  const admin = await world.member(owner.workspace_id, 'admin');
  await admin.post(`${of(owner)}/members/invite`, { email: 'friend@example.org', role: 'admin' });
  const token = tokenIn(await mail.sentTo('friend@example.org'));
  await owner.patch(`${of(owner)}/members/${admin.membership_id}`, { role: 'member' });
  const friend = await world.person('friend@example.org');
  assert.equal((await friend.post('/v1/invitations/accept', { token })).status, 409);
});

test('with the mail server down, inviting is 503 email_unavailable and stores nothing', async () => {
  const owner = await world.owner();
  await mail.goDown();
  const refused = await owner.post(`${of(owner)}/members/invite`, { email: 'down@example.org', role: 'member' });
  await mail.comeBack();
  assert.deepEqual([refused.status, refused.body.error], [503, 'email_unavailable']);
  assert.ok(refused.headers.get('retry-after'));
  assert.deepEqual((await owner.get(`${of(owner)}/invitations`)).body, []);
  const again = await owner.post(`${of(owner)}/members/invite`, { email: 'down@example.org', role: 'member' });
  assert.equal(again.status, 200);
});

test('a deferred invitation is sent again, and a refused one is marked as bounced', async () => {
  const owner = await world.owner();
  const invited = async (email: string) => {
    const { status, body } = await owner.post(`${of(owner)}/members/invite`, { email, role: 'member' });
    assert.equal(status, 200);
    return body.invitation_id;
  };
  mail.refuse(550);
  const never = await invited('never@example.org');
  await until(
    'it has bounced',
    () => mailStatus(owner, never),
    (status) => status === 'bounced',
  );
  mail.refuse(451);
  const later = await invited('later@example.org');
  await until(
    'an attempt has failed',
    () =>
      world.db.query<{ status: string; failures: number }>(sql`
      select status, failures from background_jobs where name = 'send-invitation-mail'`),
    (jobs) => jobs.some(({ status, failures }) => status === 'queued' && failures > 0),
  );
  assert.equal(await mailStatus(owner, later), 'queued');
  mail.accept();
  await until(
    'it is sent with the next attempt',
    () => mailStatus(owner, later),
    (status) => status === 'sent',
  );
  assert.ok(mail.messages.some(({ recipients }) => recipients[0] === 'later@example.org'));
  assert.ok(!mail.messages.some(({ recipients }) => recipients[0] === 'never@example.org'));
});

test('a mail server that does not respond delays no other tenant', async () => {
  const silent = await startSilentServer();
  cleanUp(() => silent.stop());
  const slow = await openWorld({ SMTP_URL: silent.url, DATABASE_CONNECTIONS: '4' });
  const [owner, other] = [await slow.owner(), await slow.owner()];
  const inviting = Array.from({ length: 10 }, (_, i) =>
    owner.post(`${of(owner)}/members/invite`, { email: `${i}@example.org`, role: 'member' }),
  );
  await until('the mail server is asked', () => silent.connections() > 0);
  assert.equal((await other.get(`/v1/wikis/${other.wiki_id}/pages`)).status, 200);
  const made = await other.post(`/v1/wikis/${other.wiki_id}/pages`, { title: 'Meanwhile', markdown: 'x' });
  assert.equal(made.status, 201);
  const waiting = Symbol('still waiting for the mail server');
  const first = await Promise.race([Promise.any(inviting), Promise.resolve(waiting)]);
  assert.equal(first, waiting, 'the invitations were still waiting for the mail server when the others were answered');
  await silent.stop();
  for (const { status, body } of await Promise.all(inviting)) {
    assert.deepEqual([status, body.error], [503, 'email_unavailable']);
  }
});

test('a name cannot inject headers or recipients into a message', async () => {
  const owner = await world.owner();
  const plain = await invite(owner, 'plain@example.org');
  assert.ok(plain.token);
  const headers = headerNames(await mail.sentTo('plain@example.org'));
  for (const name of [
    'A\r\nBcc: evil@example.org',
    'B\nX-Evil: 1',
    '=?utf-8?q?=0D=0ABcc:_evil?=',
    '"<evil@example.org>,',
    '\u202eA',
  ]) {
    await world.db.query(sql`update workspaces set name = ${name} where workspace_id = ${owner.workspace_id}`);
    await world.db.query(sql`update users set display_name = ${name} where user_id = ${owner.user_id}`);
    const address = `to-${Buffer.from(name).toString('hex')}@example.org`;
    await invite(owner, address);
    const message = await mail.sentTo(address);
    assert.deepEqual(message.recipients, [address]);
    assert.deepEqual(headerNames(message), headers);
  }
});

/** Returns the subject of a message, with encoded words (RFC 2047) decoded. */
function subjectOf({ raw }: ReceivedMessage): string {
  const header = /^Subject: (.*(?:\r\n .*)*)/m.exec(raw)?.[1]?.replace(/\?=\s+=\?UTF-8\?Q\?/g, '') ?? '';
  const word = /^=\?UTF-8\?Q\?(.*)\?=$/.exec(header)?.[1];
  if (word === undefined) return header;
  return decodeURIComponent(
    word
      .replaceAll('%', '%25')
      .replaceAll('_', ' ')
      .replace(/=([0-9A-F]{2})/g, '%$1'),
  );
}

test('names in a message are stripped of links, line breaks and quotes, and shortened', async () => {
  const owner = await world.owner();
  const names: Record<string, string> = {
    'Account locked - go to https://evil.example/login 1': 'Account locked - go to … 1',
    'see www.evil.example': 'see …',
    'evil.example/login': 'a workspace',
    'evil.example': 'evil example',
    'ｅｖｉｌ．ｅｘａｍｐｌｅ': 'evil example',
    'ask boss@evil.example': 'ask …',
    'call tel:+4912345 now': 'call … now',
    'http:evil': 'a workspace',
    '192.0.2.1 calls': '… calls',
    'Acme" as owner. Sign in at "X': "Acme' as owner. Sign in at 'X",
    'a\r\n\r\nb\u2028c\u202ed\u200be': 'a b c d e',
    ' ': 'a workspace',
    [`${'long '.repeat(19)}name`]: `${'long '.repeat(12).trim()}…`,
    "Ada's Team No. 5 (v1)": "Ada's Team No. 5 (v1)",
  };
  for (const [i, [name, shown]] of Object.entries(names).entries()) {
    await world.db.query(sql`update workspaces set name = ${name} where workspace_id = ${owner.workspace_id}`);
    await world.db.query(sql`update users set display_name = ${name} where user_id = ${owner.user_id}`);
    const address = `shown-${i}@example.org`;
    await invite(owner, address);
    const message = await mail.sentTo(address);
    const [intro] = Buffer.from(plainText(message), 'latin1').toString('utf8').split('\n');
    const inviter = shown === 'a workspace' ? 'A member' : shown;
    assert.equal(intro?.trim(), `"${inviter}" invited you to join the workspace "${shown}". Your role: member.`);
    assert.equal(subjectOf(message), `Invitation to "${shown}"`);
  }
});

test('the link has the host of PUBLIC_URL, whatever Host header a request sends', async () => {
  const owner = await world.owner();
  const answer = await owner.post(
    `${of(owner)}/members/invite`,
    { email: 'host@example.org', role: 'member' },
    { 'x-forwarded-host': 'evil.example' },
  );
  assert.equal(answer.status, 200);
  const message = await mail.sentTo('host@example.org');
  assert.ok(!message.raw.includes('evil.example'));
  assert.notEqual(tokenIn(message), '');
});

test('only one of twenty concurrent requests can accept an invitation', async () => {
  const owner = await world.owner();
  const { token } = await invite(owner, 'many@example.org');
  const person = await world.person('many@example.org');
  const answers = await Promise.all(Array.from({ length: 20 }, () => person.post('/v1/invitations/accept', { token })));
  const statuses = answers.map((answer) => answer.status).sort();
  assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 409)]);
  const { body } = await owner.get(`${of(owner)}/members`);
  assert.equal(body.members.length, 2);
  assert.equal(body.seats.used, 2);
});

test('an invitation of another workspace is 404', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  const { invitation_id } = await invite(other, 'foreign@example.org');
  for (const verb of ['resend', 'revoke']) {
    assert.equal((await owner.post(`${of(owner)}/invitations/${invitation_id}/${verb}`)).status, 404);
  }
  assert.equal((await other.get(`${of(other)}/invitations`)).body[0].state, 'pending');
});

test('a row that references a workspace, such as a job being enqueued, does not block changes of its members', async () => {
  const owner = await world.owner();
  const friend = await world.person('guest@example.org');
  await world.db.query(sql`update users set email_verified = true where user_id = ${friend.user_id}`);
  await world.db.transaction(async (query) => {
    // Inserting a row that references the workspace takes this lock.
    await query(sql`select 1 from workspaces where workspace_id = ${owner.workspace_id} for key share`);
    const invited = await owner.post(`${of(owner)}/members/invite`, { email: 'guest@example.org', role: 'member' });
    assert.equal(invited.status, 200, JSON.stringify(invited.body));
    const joined = await friend.post(`/v1/me/invitations/${invited.body.invitation_id}/accept`);
    assert.equal(joined.status, 200, JSON.stringify(joined.body));
  });
});
