import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { type Account, startSignInProvider } from '../../../test/openid-sign-in.ts';
import { type Client, type Owner, openWorld } from '../../../test/world.ts';
import { newId } from '../../platform/core/ids.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';

const PUBLIC_URL = 'https://wiki.example.com';
const provider = await startSignInProvider(`${PUBLIC_URL}/sign-in/callback`);
cleanUp(() => provider.stop());
const world = await openWorld({
  PUBLIC_URL,
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: 'confidential',
  OIDC_CLIENT_SECRET: 'secret-of-ibid',
});
const { query } = world.db;

async function bySso(account: Account): Promise<Client> {
  const { authorization_url, attempt } = (await world.anonymous.post('/v1/auth/openid')).body;
  const callback_url = await provider.browse(authorization_url, account);
  const { status, body } = await world.anonymous.post('/v1/auth/openid/complete', { attempt, callback_url });
  assert.equal(status, 200, JSON.stringify(body));
  const client = world.as(body.access_token);
  return { ...client, user_id: (await client.get('/v1/me')).body.user_id };
}

/** Creates a sign-in link for the address and returns its secret. */
async function linkTo(email: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await query(sql`
    insert into email_links (link_id, email, network, token_hash, expires_at)
    values (${newId('link')}, ${email}, '', ${sha256(secret)}::bytea, now() + interval '15 minutes')`);
  return secret;
}

const newPerson = () => {
  const sub = randomUUID();
  return { sub, email: `${sub}@example.com`, email_verified: true, name: 'Vera' };
};
const hasOther = async (client: Client) => (await client.get('/v1/me/connection')).body.has_other_account;
const connect = (client: Client, token: string) => client.post('/v1/me/connection', { token });
const me = async (client: Client) => (await client.get('/v1/me')).body.user_id;
const write = (owner: Owner | Client, wiki_id: string) =>
  owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Written', markdown: 'text' });

test('a user who owns a workspace by mail can connect a later sign-in at the issuer, and is one user from then on', async () => {
  const vera = newPerson();
  const owner = await world.owner(vera.email);
  await write(owner, owner.wiki_id);
  const sso = await bySso(vera);
  assert.notEqual(sso.user_id, owner.user_id);
  assert.equal(await hasOther(sso), true);
  const token = await linkTo(vera.email);
  const connected = await connect(sso, token);
  assert.deepEqual([connected.status, connected.body.user_id], [200, owner.user_id], JSON.stringify(connected.body));
  assert.equal(await me(sso), owner.user_id, 'the session that connected is of the one user');
  assert.equal((await sso.get('/v1/workspaces')).body[0].workspace_id, owner.workspace_id);
  assert.equal(await me(await bySso(vera)), owner.user_id, 'the issuer leads to it');
  const byMail = await world.anonymous.post('/v1/auth/email/complete', { token: await linkTo(vera.email) });
  assert.equal(await me(world.as(byMail.body.access_token)), owner.user_id, 'and so does mail');
  const methods = (await sso.get('/v1/me/sign-in-methods')).body.map(({ method }: { method: string }) => method);
  assert.deepEqual(methods, ['email', 'openid']);
  assert.equal(await hasOther(sso), false);
  assert.equal((await query(sql`select 1 from users where email = ${vera.email}`)).length, 1);
  const events = await query<{ before: object; after: object }>(
    sql`select before, after from audit_events where type = 'user.merged' and target_id = ${owner.user_id}`,
  );
  assert.deepEqual(events, [
    {
      before: { user_id: sso.user_id, merged_user_id: '' },
      after: { user_id: owner.user_id, merged_user_id: sso.user_id },
    },
  ]);
  assert.equal((await connect(sso, token)).status, 404, 'a link is used once');
  const none = await connect(sso, await linkTo(vera.email));
  assert.deepEqual([none.status, none.body.message], [409, 'No other account signs in by mail to this address.']);
});

test("the issuer's claim alone connects no accounts: without a link to the address they stay separate", async () => {
  const victim = await world.owner(`victim-${randomUUID()}@example.com`);
  const [{ email }] = (await query<{ email: string }>(
    sql`select email from users where user_id = ${victim.user_id}`,
  )) as [{ email: string }];
  const claims = await bySso({ sub: randomUUID(), email, email_verified: true });
  for (const token of ['', 'x', 'x'.repeat(43)]) assert.equal((await connect(claims, token)).status, 404);
  assert.deepEqual((await claims.get('/v1/workspaces')).body, []);
  // A link to their own mailbox does not help.
  const own = await linkTo(`attacker-${randomUUID()}@example.com`);
  assert.equal((await connect(claims, own)).status, 403);
  // Nor does a link to the right address if the issuer has not verified it.
  const unverified = await bySso({ sub: randomUUID(), email, email_verified: false });
  assert.equal(await hasOther(unverified), false, 'and who only says so learns nothing');
  const link = await linkTo(email);
  assert.equal((await connect(unverified, link)).status, 403);
  assert.equal((await connect(victim, link)).status, 403, 'an API key connects nothing');
  assert.equal(await me(victim), victim.user_id);
  assert.equal((await query(sql`select 1 from users where email = ${email}`)).length, 3);
});

test('an address that the issuer changes later does not change a user who also signs in by mail', async () => {
  const vera = newPerson();
  const owner = await world.owner(vera.email);
  await write(owner, owner.wiki_id);
  const sso = await bySso(vera);
  await connect(sso, await linkTo(vera.email));
  const other = `other-${randomUUID()}@example.com`;
  for (const email_verified of [true, false]) await bySso({ ...vera, email: other, email_verified });
  const now = (await owner.get('/v1/me')).body;
  assert.deepEqual([now.email, now.email_verified], [vera.email, true]);
});

test('data of the merged account moves to the remaining one, and its other credentials end', async () => {
  const vera = newPerson();
  const owner = await world.owner(vera.email);
  await write(owner, owner.wiki_id);
  const sso = await bySso(vera);
  const host = await world.owner();
  const page = (await write(host, host.wiki_id)).body;
  await query(sql`
    insert into memberships (membership_id, workspace_id, user_id, role)
    values (${newId('mem')}, ${host.workspace_id}, ${sso.user_id}, 'developer')`);
  const { body: personal } = await sso.post('/v1/me/api-keys', { name: 'k' });
  const { body: ofWorkspace } = await sso.post(`/v1/workspaces/${host.workspace_id}/api-keys`, { name: 'k' });
  const starred = await sso.send('PUT', `/v1/wikis/${host.wiki_id}/starred-pages/${page.page_id}`);
  assert.ok(starred.status < 300, JSON.stringify(starred.body));
  // A second session, in which the link is not opened.
  const elsewhere = await bySso(vera);
  const { status, body } = await connect(sso, await linkTo(vera.email));
  assert.equal(status, 200, JSON.stringify(body));
  for (const credential of [sso, owner]) {
    assert.equal(await me(credential), owner.user_id);
    assert.equal((await credential.get(`/v1/wikis/${host.wiki_id}/pages`)).status, 200);
  }
  assert.equal((await world.as(ofWorkspace.secret).get(`/v1/wikis/${host.wiki_id}/pages`)).status, 200);
  for (const credential of [elsewhere, world.as(personal.secret)]) {
    assert.equal((await credential.get('/v1/me')).status, 401);
  }
  assert.equal((await query(sql`select 1 from starred_pages where user_id = ${owner.user_id}`)).length, 1);
  const left = await query<{ table_name: string }>(sql`
    select 'sessions' as table_name from sessions where user_id = ${sso.user_id}
    union all select 'memberships' from memberships where user_id = ${sso.user_id}
    union all select 'users' from users where user_id = ${sso.user_id}`);
  assert.deepEqual(left, []);
});

test('the account that has written pages stays; if both have, nothing changes', async () => {
  const vera = newPerson();
  const mail = await world.person(vera.email);
  const sso = await bySso(vera);
  const { body } = await sso.post('/v1/onboarding');
  await write(sso, body.overview.wikis[0].wiki_id);
  const connected = await connect(sso, await linkTo(vera.email));
  assert.deepEqual([connected.status, connected.body.user_id], [200, sso.user_id], JSON.stringify(connected.body));
  assert.equal((await mail.get('/v1/me')).status, 401, 'a key of the account that was given up');
  const byMail = await world.anonymous.post('/v1/auth/email/complete', { token: await linkTo(vera.email) });
  assert.equal(await me(world.as(byMail.body.access_token)), sso.user_id);

  const both = newPerson();
  const owner = await world.owner(both.email);
  await write(owner, owner.wiki_id);
  const other = await bySso(both);
  const { body: own } = await other.post('/v1/onboarding');
  await write(other, own.overview.wikis[0].wiki_id);
  const link = await linkTo(both.email);
  const refused = await connect(other, link);
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.message, /^Both accounts have written pages/);
  assert.deepEqual([await me(owner), await me(other)], [owner.user_id, other.user_id]);
  const stillGood = await world.anonymous.post('/v1/auth/email/complete', { token: link });
  assert.equal(stillGood.status, 200, 'the link still signs in');
});

test('two members of the same workspace cannot be merged', async () => {
  const vera = newPerson();
  const mail = await world.person(vera.email);
  const sso = await bySso(vera);
  const host = await world.owner();
  for (const { user_id } of [mail, sso]) {
    await query(sql`
      insert into memberships (membership_id, workspace_id, user_id, role)
      values (${newId('mem')}, ${host.workspace_id}, ${user_id}, 'member')`);
  }
  const refused = await connect(sso, await linkTo(vera.email));
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.message, /members of one workspace/);
});

test('ten concurrent connections with one link result in one user', async () => {
  const vera = newPerson();
  const owner = await world.owner(vera.email);
  await write(owner, owner.wiki_id);
  const sso = await bySso(vera);
  const token = await linkTo(vera.email);
  const answers = await Promise.all(Array.from({ length: 10 }, () => connect(sso, token)));
  assert.ok(answers.some(({ status }) => status === 200));
  assert.ok(
    answers.every(({ status }) => [200, 401, 404].includes(status)),
    JSON.stringify(answers.map((it) => it.body)),
  );
  assert.equal(await me(sso), owner.user_id);
});
