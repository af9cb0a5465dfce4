import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { plainText, startMailServer } from '../../../test/mail-server.ts';
import { type Owner, openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

const mail = await startMailServer();
cleanUp(() => mail.stop());
const world = await openWorld({ SMTP_URL: mail.url, PUBLIC_URL: 'https://wiki.example.com' });
const tokenIn = (text: string) =>
  /^https:\/\/wiki\.example\.com\/invitations\/accept\?token=([\w-]{43})$/m.exec(text)?.[1] ?? '';

/** Creates an invitation and returns the secrets of both its links. */
async function invite(owner: Owner, email: string) {
  const path = `/v1/workspaces/${owner.workspace_id}`;
  const { status, body } = await owner.post(`${path}/members/invite`, { email, role: 'member' });
  assert.equal(status, 200, JSON.stringify(body));
  const copied = await owner.post(`${path}/invitations/${body.invitation_id}/link`);
  assert.equal(copied.status, 201, JSON.stringify(copied.body));
  return {
    path: `${path}/invitations/${body.invitation_id}`,
    mailed: tokenIn(plainText(await mail.sentTo(email))),
    copied: tokenIn(copied.body.link),
    answer: copied.body,
  };
}

const join = (token: string) => world.anonymous.post('/v1/auth/invitation', { token });
const look = (token: string) => world.anonymous.get(`/v1/invitations/lookup?token=${token}`);

test('the emailed link signs in a new user once, who then has a verified address', async () => {
  const owner = await world.owner();
  const { mailed } = await invite(owner, 'new@example.org');
  assert.equal((await look(mailed)).body.signs_in, true);
  const { status, body } = await join(mailed);
  assert.equal(status, 200, JSON.stringify(body));
  const user = world.as(body.access_token);
  const me = (await user.get('/v1/me')).body;
  assert.deepEqual([me.email, me.email_verified], ['new@example.org', true]);
  assert.equal((await user.post('/v1/invitations/accept', { token: mailed })).body.workspace_id, owner.workspace_id);
  assert.equal((await join(mailed)).status, 401);
  assert.equal((await look(mailed)).body.signs_in, false);
});

test('a copied link shows the invitation without a sign-in, and only the invited address can accept it', async () => {
  const owner = await world.owner();
  const { copied, mailed, answer } = await invite(owner, 'copied@example.org');
  assert.notEqual(copied, mailed);
  assert.deepEqual(Object.keys(answer), ['link', 'expires_at']);
  const shown = await look(copied);
  assert.deepEqual([shown.status, shown.body.email, shown.body.signs_in], [200, 'copied@example.org', false]);
  assert.equal((await join(copied)).status, 401, 'its holder may be the inviter');
  for (const stranger of [owner, await world.person()]) {
    assert.equal((await stranger.post('/v1/invitations/accept', { token: copied })).status, 403);
  }
  const invited = await world.person('copied@example.org');
  assert.equal((await invited.post('/v1/invitations/accept', { token: copied })).status, 200);
});

test('an emailed link does not sign in to an existing account, so forwarding the message is safe', async () => {
  const owner = await world.owner();
  const victim = await world.owner('known@example.org');
  const { mailed } = await invite(owner, 'known@example.org');
  assert.equal((await look(mailed)).body.signs_in, false);
  const { status, body } = await join(mailed);
  assert.deepEqual(
    [status, body.message],
    [401, 'The invited address already has an account here. Sign in to it, then accept the invitation.'],
  );
  // Nor to an account whose email sign-in has this address although the user changed theirs.
  await world.db.query(sql`update users set email = 'renamed@example.org' where user_id = ${victim.user_id}`);
  assert.equal((await join(mailed)).status, 401);
  await world.db.query(sql`update users set email = 'known@example.org' where user_id = ${victim.user_id}`);
  // Nor to an account whose address was verified by an issuer.
  await world.db.query(
    sql`update identities set issuer = 'https://id.example', subject = 'k' where user_id = ${victim.user_id}`,
  );
  assert.equal((await join(mailed)).status, 401);
});

test('a new copied link replaces the previous one and leaves the emailed link valid; revoking or accepting ends both', async () => {
  const owner = await world.owner();
  const { path, copied, mailed } = await invite(owner, 'again@example.org');
  const second = tokenIn((await owner.post(`${path}/link`)).body.link);
  assert.deepEqual(
    [(await look(copied)).status, (await look(second)).status, (await look(mailed)).status],
    [404, 200, 200],
  );
  await owner.post(`${path}/revoke`);
  assert.equal((await join(mailed)).status, 401);
  const guest = await world.person('again@example.org');
  for (const token of [second, mailed]) {
    assert.equal((await guest.post('/v1/invitations/accept', { token })).status, 404);
  }
  assert.equal((await owner.post(`${path}/link`)).status, 409, 'revoked is final');
});

test('an expired emailed link does not sign in', async () => {
  const owner = await world.owner();
  const { mailed } = await invite(owner, 'late@example.org');
  await world.db.query(sql`update invitations set expires_at = now() where email = 'late@example.org'`);
  assert.equal((await join(mailed)).status, 401);
});

test('only a member who may invite to the role can copy a link, and only in their own workspace', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  const { path } = await invite(owner, 'mine@example.org');
  const [id] = path.split('/').slice(-1);
  assert.equal((await other.post(`/v1/workspaces/${other.workspace_id}/invitations/${id}/link`)).status, 404);
  assert.equal((await other.post(`${path}/link`)).status, 403);
  const member = await world.member(owner.workspace_id, 'member');
  assert.equal((await member.post(`${path}/link`)).status, 403);
  const admin = await world.member(owner.workspace_id, 'admin');
  await world.db.query(sql`update invitations set role = 'owner' where email = 'mine@example.org'`);
  const { status, body } = await admin.post(`${path}/link`);
  assert.deepEqual([status, body.error], [403, 'role_not_grantable']);
});

test('twenty concurrent uses of an emailed link sign in the same user', async () => {
  const owner = await world.owner();
  const { mailed } = await invite(owner, 'race@example.org');
  const answers = await Promise.all(Array.from({ length: 20 }, () => join(mailed)));
  const statuses = new Set(answers.map(({ status }) => status));
  assert.ok(statuses.has(200) && [...statuses].every((status) => status === 200 || status === 401), `${[...statuses]}`);
  const users = await world.db.query(sql`select 1 from users where email = 'race@example.org'`);
  assert.equal(users.length, 1);
});

test('the response to an invitation has the fields of the specification, and the list has more', async () => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}`;
  const fields = ['invitation_id', 'email', 'role', 'created_at', 'expires_at', 'state'];
  const { body } = await owner.post(`${path}/members/invite`, { email: 'fields@example.org', role: 'member' });
  assert.deepEqual(Object.keys(body), fields);
  assert.deepEqual(Object.keys((await owner.get(`${path}/members`)).body.invitations[0]), fields);
  assert.deepEqual(Object.keys((await owner.get(`${path}/invitations`)).body[0]), [...fields, 'mail_status']);
});
