import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { runScheduled } from '../../../test/jobs.ts';
import { sendRaw } from '../../../test/raw-http.ts';
import { type Ids, nameOf, validRequest } from '../../../test/requests.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { until } from '../../../test/until.ts';
import { type Client, type Owner, openWorld } from '../../../test/world.ts';
import { ENDPOINTS } from '../../app.ts';
import { newId } from '../../platform/core/ids.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { removeDeletedWiki } from '../../wiki/wikis/trash/remove-deleted-wiki.job.ts';
import { purgeDeletedWorkspaces } from './purge-deleted-workspaces.job.ts';

const world = await openWorld({ SIGN_UP: 'open' });
const { db } = world;

interface Place {
  owner: Owner;
  session: Client;
  name: string;
  slug: string;
  email: string;
}

/** Creates an owner with a uniquely named workspace. */
async function place(): Promise<Place> {
  const email = `${randomUUID()}@example.com`;
  const owner = await world.owner(email);
  const session = await signedInClient(world, owner.user_id);
  const { body } = await owner.patch(`/v1/workspaces/${owner.workspace_id}`, { name: `Acme ${email}` });
  return { owner, session, name: body.name, slug: body.slug, email };
}

const remove = (client: Client, { owner, name }: Place, typed = name) =>
  client.post(`/v1/workspaces/${owner.workspace_id}/deletion`, { name: typed });
const restore = (client: Client, { owner }: Place) =>
  client.post('/v1/me/deleted-workspaces/restore', { workspace_id: owner.workspace_id });
const idsOf = (rows: { workspace_id: string }[]) => rows.map(({ workspace_id }) => workspace_id);

async function deleted(): Promise<Place> {
  const it = await place();
  assert.equal((await remove(it.session, it)).status, 204);
  return it;
}

test('only an owner with a session deletes a workspace, confirmed by its name', async () => {
  const it = await place();
  assert.equal((await remove(world.anonymous, it)).status, 401);
  for (const role of ['admin', 'developer', 'billing', 'member', 'viewer'] as const) {
    const { user_id } = await world.member(it.owner.workspace_id, role);
    assert.equal((await remove(await signedInClient(world, user_id), it)).status, 403, role);
  }
  assert.equal((await remove((await place()).session, it)).status, 403, 'an owner of another one');
  assert.equal((await remove(it.owner, it)).status, 403, 'a key');
  assert.equal((await remove(await world.workspaceKey(it.email, it.owner.workspace_id), it)).status, 403);
  for (const typed of ['', 'Acme', `${it.name}x`, it.slug]) {
    const { status, body } = await remove(it.session, it, typed);
    assert.deepEqual([status, body.error], [400, 'invalid_name'], typed);
  }
  const path = `/v1/workspaces/${it.owner.workspace_id}/deletion`;
  for (const body of [undefined, {}, { name: 5 }]) assert.equal((await it.session.post(path, body)).status, 422);
  assert.equal((await it.owner.get('/v1/workspaces')).body.length, 1, 'nothing was deleted');
});

test('a workspace cannot be deleted under a legal hold, while its plan renews, or while a payment may arrive', async () => {
  const it = await place();
  const { workspace_id } = it.owner;
  const refused = async () => {
    const { status, body } = await remove(it.session, it);
    return [status, body.error];
  };
  await it.owner.post(`/v1/workspaces/${workspace_id}/legal-hold`, { reason: 'A case' });
  assert.deepEqual(await refused(), [409, 'legal_hold']);
  await it.owner.post(`/v1/workspaces/${workspace_id}/legal-hold/lift`, { reason: 'Settled' });
  await db.query(sql`
    insert into billing_customers (workspace_id, customer_id, checkout_opened_at) values (${workspace_id}, ${`cus_${it.slug}`}, now())`);
  assert.deepEqual(await refused(), [409, 'conflict']);
  await db.query(sql`update billing_customers set checkout_opened_at = null where workspace_id = ${workspace_id}`);
  await db.query(sql`
    insert into subscriptions (workspace_id, plan_id, quantity, period_start, period_end, subscription_id)
    values (${workspace_id}, 'team_monthly', 1, now(), now() + interval '30 days', ${`sub_${it.slug}`})`);
  assert.deepEqual(await refused(), [409, 'conflict']);
  await db.query(sql`update subscriptions set cancel_at_period_end = true where workspace_id = ${workspace_id}`);
  assert.equal((await remove(it.session, it)).status, 204);
});

test('after a deletion every endpoint of the workspace and its wikis answers as if it had never existed', async () => {
  const it = await place();
  const { workspace_id, wiki_id } = it.owner;
  const member = await world.member(workspace_id, 'admin');
  const widget = async (name: string) =>
    (await it.owner.post(`/v1/workspaces/${workspace_id}/widget-token`, { widget: name })).body.token as string;
  const tokens = {
    profile: await widget('profile'),
    enterprise: await widget('enterprise'),
    developers: await widget('developers'),
  };
  const key = await world.workspaceKey(it.email, workspace_id);
  assert.equal((await key.get('/v1/workspaces')).body.length, 1);
  assert.equal((await remove(it.session, it)).status, 204);

  const unknown = (name: string) => newId(name.replace(/_id$/, '') as 'wiki');
  const ids = new Proxy({ workspace_id, organization_id: workspace_id, wiki_id, page_path: 'home' } as Ids, {
    get: (known, name: string) =>
      known[name] ?? (/revision$/.test(name) ? '1' : name === 'token' ? 'x'.repeat(43) : unknown(name)),
  });
  let walked = 0;
  for (const endpoint of ENDPOINTS) {
    const { on } = endpoint.access;
    if (on === 'caller' || on === 'anyone') continue;
    const callers =
      on === 'widget' ? [tokens[endpoint.access.widget]] : [it.session.token, it.owner.token, member.token];
    for (const token of callers) {
      const { status, text } = await sendRaw(world.address, validRequest(endpoint, ids, token));
      assert.ok(status === 404 || (on === 'widget' && status === 403), `${nameOf(endpoint)}: ${status} ${text}`);
      walked += 1;
    }
  }
  assert.ok(walked > 100);
  for (const client of [it.session, it.owner, world.as(member.token), key]) {
    assert.deepEqual((await client.get('/v1/workspaces')).body, []);
    const { wikis, access, session } = (await client.get('/v1/overview')).body;
    assert.deepEqual([wikis, access, session.organizations, session.organization_id], [[], [], [], '']);
    assert.equal((await client.get(`/v1/workspaces/lookup?slug=${it.slug}`)).status, 404);
  }
  const stranger = await world.person();
  assert.equal((await stranger.get(`/v1/workspaces/${workspace_id}/members`)).status, 404);
  const again = await stranger.post('/v1/workspaces', { name: 'Mine', slug: it.slug });
  assert.equal(again.status, 409, 'its slug stays taken while it can be restored');
});

test('invitations and jobs of a deleted workspace are suspended, and a member without another workspace gets a new one', async () => {
  const it = await place();
  const { workspace_id, wiki_id } = it.owner;
  const email = `${randomUUID()}@example.com`;
  const { body: invitation } = await it.owner.post(`/v1/workspaces/${workspace_id}/members/invite`, {
    email,
    role: 'member',
  });
  const secret = randomUUID();
  // Sending the mail replaces the secret.
  const mails = () =>
    db.query(sql`select from invitations where invitation_id = ${invitation.invitation_id} and mail_status = 'queued'`);
  await until('the mail is sent', mails, ({ length }) => length === 0);
  await db.query(sql`
    update invitations set secret_hash = ${sha256(secret)} where invitation_id = ${invitation.invitation_id}`);
  const member = await world.member(workspace_id, 'member');
  const job_id = newId('job');
  await db.query(sql`
    insert into jobs (job_id, wiki_id, kind, status, run_after)
    values (${job_id}, ${wiki_id}, 'export', 'queued', now() + interval '1 hour')`);
  assert.equal((await world.anonymous.get(`/v1/invitations/lookup?token=${secret}`)).status, 200);
  assert.equal((await remove(it.session, it)).status, 204);

  const invited = await world.person(email);
  await db.query(sql`update users set email_verified = true where email = ${email}`);
  assert.deepEqual((await invited.get('/v1/me/invitations')).body, []);
  assert.equal((await world.anonymous.get(`/v1/invitations/lookup?token=${secret}`)).status, 404);
  assert.equal((await invited.post('/v1/invitations/accept', { token: secret })).status, 404);
  const jobs = () =>
    db.query<{ status: string; attempt: number; waits: boolean }>(sql`
      select status, attempt, run_after > now() + interval '1 year' as waits from jobs where job_id = ${job_id}`);
  assert.deepEqual(await jobs(), [{ status: 'queued', attempt: 0, waits: true }]);
  const onboarded = await member.post('/v1/onboarding');
  assert.equal(onboarded.body.workspace_created, true);
  assert.notEqual(onboarded.body.workspace.workspace_id, workspace_id);

  assert.equal((await restore(it.session, it)).status, 200);
  await until('the job goes on', jobs, ([job]) => (job?.attempt ?? 0) > 0);
  assert.equal((await invited.get('/v1/me/invitations')).body.length, 1);
  assert.equal((await invited.post('/v1/invitations/accept', { token: secret })).status, 200);
  assert.equal((await member.get(`/v1/wikis/${wiki_id}/pages`)).status, 200);
});

test('an invitation accepted during the deletion makes no member', async () => {
  const it = await place();
  const { workspace_id } = it.owner;
  const invite = async () => {
    const person = await world.person();
    const { email } = (await person.get('/v1/me')).body;
    const path = `/v1/workspaces/${workspace_id}/members/invite`;
    const { invitation_id } = (await it.owner.post(path, { email, role: 'member' })).body;
    return () => person.post(`/v1/me/invitations/${invitation_id}/accept`);
  };
  const accepts = await Promise.all(Array.from({ length: 5 }, invite));
  await Promise.all([...accepts.map((accept) => accept()), remove(it.session, it)]);
  const active = await db.query(
    sql`select from memberships where workspace_id = ${workspace_id} and status = 'active'`,
  );
  assert.equal(active.length, 0);
  assert.equal((await restore(it.session, it)).status, 200);
});

test('only an owner restores a workspace, once, with its members, roles, keys and wikis', async () => {
  const it = await place();
  const { workspace_id, wiki_id } = it.owner;
  const admin = await world.member(workspace_id, 'admin');
  const left = await world.member(workspace_id, 'viewer', 'inactive');
  const gone = await world.member(workspace_id, 'member');
  const second = await world.member(workspace_id, 'owner');
  const page = await it.owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Kept', markdown: 'Text.' });
  assert.equal(page.status, 201);
  const members = async () => (await it.owner.get(`/v1/workspaces/${workspace_id}/members`)).body;
  const before = await members();
  const key = await world.workspaceKey(it.email, workspace_id);
  assert.equal((await remove(it.session, it)).status, 204);
  await db.query(sql`delete from users where user_id = ${gone.user_id}`);

  const others = [await signedInClient(world, admin.user_id), (await place()).session];
  for (const client of others) {
    assert.deepEqual((await client.get('/v1/me/deleted-workspaces')).body, []);
    assert.equal((await restore(client, it)).status, 404);
  }
  assert.equal((await world.anonymous.get('/v1/me/deleted-workspaces')).status, 401);
  assert.equal((await it.owner.get('/v1/me/deleted-workspaces')).status, 403, 'a key');
  assert.equal((await restore(it.owner, it)).status, 403, 'a key');
  assert.equal((await it.session.post('/v1/me/deleted-workspaces/restore', {})).status, 422);

  const [listed] = (await it.session.get('/v1/me/deleted-workspaces')).body;
  assert.deepEqual([listed.workspace_id, listed.name, listed.slug], [workspace_id, it.name, it.slug]);
  assert.equal(Date.parse(listed.purged_after) - Date.parse(listed.deleted_at), 30 * 86_400_000);
  const owners = [it.session, await signedInClient(world, second.user_id)];
  const answers = await Promise.all(owners.map((client) => restore(client, it)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 404]);
  assert.deepEqual((await it.session.get('/v1/me/deleted-workspaces')).body, []);

  const after = await members();
  const expected = before.members.filter(({ user_id }: { user_id: string }) => user_id !== gone.user_id);
  assert.deepEqual(after.members, expected);
  assert.deepEqual(after.seats.active, before.seats.active - 1);
  assert.equal((await left.get(`/v1/wikis/${wiki_id}/pages`)).status, 403);
  assert.equal((await key.get(`/v1/wikis/${wiki_id}/pages`)).status, 200);
  assert.equal((await admin.get(`/v1/wikis/${wiki_id}/pages/${page.body.page_id}`)).status, 200);
  const events = (await it.owner.get(`/v1/workspaces/${workspace_id}/audit-events?limit=500`)).body;
  const ofIt = events.filter(({ type }: { type: string }) => /^workspace\.(deleted|restored)$/.test(type));
  assert.deepEqual(ofIt.map(({ type }: { type: string }) => type).toSorted(), [
    'workspace.deleted',
    'workspace.restored',
  ]);
});

test('members return even if the plan now has fewer seats, and no one else can join', async () => {
  const it = await place();
  const { workspace_id } = it.owner;
  for (const role of ['viewer', 'member', 'owner'] as const) await world.member(workspace_id, role);
  assert.equal((await remove(it.session, it)).status, 204);
  await db.query(sql`
    update workspaces set seats_unlimited = false, seats_granted = 2 where workspace_id = ${workspace_id}`);
  assert.equal((await restore(it.session, it)).status, 200);
  const { members, seats } = (await it.owner.get(`/v1/workspaces/${workspace_id}/members`)).body;
  assert.deepEqual([seats.active, members.length], [4, 4]);
  const path = `/v1/workspaces/${workspace_id}/members/invite`;
  const { body } = await it.owner.post(path, { email: 'fifth@example.com', role: 'viewer' });
  assert.equal(body.error, 'seat_limit_reached');
});

test('only one of several concurrent deletions succeeds, and the others are refused', async () => {
  const it = await place();
  const second = await signedInClient(world, (await world.member(it.owner.workspace_id, 'owner')).user_id);
  const answers = await Promise.all([remove(it.session, it), remove(second, it), remove(it.session, it)]);
  const statuses = answers.map(({ status }) => status).toSorted();
  assert.equal(statuses[0], 204);
  assert.ok(
    statuses.slice(1).every((status) => status === 404 || status === 403),
    String(statuses),
  );
});

test('after 30 days a workspace cannot be restored, and only its audit records of who did what remain', async () => {
  const it = await deleted();
  const { workspace_id, wiki_id } = it.owner;
  const young = await deleted();
  await db.query(sql`
    update workspaces set deleted_at = deleted_at - interval '30 days 1 minute' where workspace_id = ${workspace_id}`);
  assert.deepEqual((await it.session.get('/v1/me/deleted-workspaces')).body, []);
  assert.equal((await restore(it.session, it)).status, 404);
  await runScheduled(world, purgeDeletedWorkspaces);
  await runScheduled(world, removeDeletedWiki);
  const left = async (table: string, of: ReturnType<typeof sql>) =>
    (await db.query(sql`select from ${raw(table)} where ${of}`)).length;
  for (const table of ['workspaces', 'memberships', 'api_keys', 'workspace_usage', 'workspace_slugs']) {
    assert.equal(await left(table, sql`workspace_id = ${workspace_id}`), 0, table);
  }
  assert.equal(await left('wikis', sql`wiki_id = ${wiki_id}`), 0);
  assert.equal(await left('workspaces', sql`workspace_id = ${young.owner.workspace_id}`), 1);
  const events = await db.query<{ before: object; after: object; address: string; actor_id: string }>(sql`
    select before, after, address, actor_id from audit_events where workspace_id = ${workspace_id}`);
  assert.ok(events.length > 0);
  for (const { actor_id, ...details } of events) {
    assert.deepEqual(details, { before: {}, after: {}, address: '' });
    assert.equal(actor_id, it.owner.user_id);
  }
  assert.equal((await it.session.post('/v1/workspaces', { name: 'Again', slug: it.slug })).status, 200);
  assert.deepEqual(idsOf((await young.session.get('/v1/me/deleted-workspaces')).body), [young.owner.workspace_id]);
});

test('the only member of a deleted workspace can delete their account, which is purged with the workspace', async () => {
  const it = await deleted();
  assert.equal((await it.session.post('/v1/me/deletion', { email: it.email })).status, 204);
  await db.query(sql`
    update workspaces set deleted_at = deleted_at - interval '31 days' where workspace_id = ${it.owner.workspace_id}`);
  await runScheduled(world, purgeDeletedWorkspaces);
  await runScheduled(world, removeDeletedWiki);
  assert.deepEqual(await db.query(sql`select from wikis where wiki_id = ${it.owner.wiki_id}`), []);
});

test('a workspace is not purged if its plan was resumed at the payment provider', async () => {
  const it = await deleted();
  const { workspace_id } = it.owner;
  await db.query(sql`
    insert into subscriptions (workspace_id, plan_id, quantity, period_start, period_end, subscription_id)
    values (${workspace_id}, 'team_monthly', 1, now(), now() + interval '30 days', ${`sub_${it.slug}`})`);
  await db.query(
    sql`update workspaces set deleted_at = deleted_at - interval '31 days' where workspace_id = ${workspace_id}`,
  );
  await runScheduled(world, purgeDeletedWorkspaces);
  assert.equal((await db.query(sql`select from workspaces where workspace_id = ${workspace_id}`)).length, 1);
});

test('an owner can delete their account while another owner can still restore the workspace', async () => {
  const it = await place();
  const second = await signedInClient(world, (await world.member(it.owner.workspace_id, 'owner')).user_id);
  assert.equal((await remove(it.session, it)).status, 204);
  assert.equal((await it.session.post('/v1/me/deletion', { email: it.email })).status, 204);
  assert.equal((await restore(second, it)).status, 200);
  const { members } = (await second.get(`/v1/workspaces/${it.owner.workspace_id}/members`)).body;
  assert.deepEqual(
    members.map(({ user_id }: { user_id: string }) => user_id),
    [second.user_id],
  );
});
