import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { runScheduled } from '../../../test/jobs.ts';
import { startMailServer } from '../../../test/mail-server.ts';
import { png } from '../../../test/pictures.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { until } from '../../../test/until.ts';
import { type Answer, type Client, openWorld } from '../../../test/world.ts';
import { newId } from '../../platform/core/ids.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { removeDeletedWiki } from '../../wiki/wikis/trash/remove-deleted-wiki.job.ts';

const mail = await startMailServer();
cleanUp(() => mail.stop());
const world = await openWorld({
  PASSWORD_SIGN_IN: 'on',
  SIGN_UP: 'open',
  REQUEST_LOG_SIZE: '50',
  SMTP_URL: mail.url,
  MAIL_FROM: 'wiki@example.com',
});
const { db } = world;
const acme = await world.owner('owner@acme.example');
const pages = `/v1/wikis/${acme.wiki_id}/pages`;
const invite = (email: string, role = 'member') =>
  acme.post(`/v1/workspaces/${acme.workspace_id}/members/invite`, { email, role });
const remove = (client: Client, email: string) => client.post('/v1/me/deletion', { email });
const join = async (workspace_id: string, user_id: string, role = 'member') => {
  const membership_id = newId('mem');
  await db.query(sql`
    insert into memberships (membership_id, workspace_id, user_id, role)
    values (${membership_id}, ${workspace_id}, ${user_id}, ${role})`);
  return membership_id;
};
/** Asserts that a setup request succeeded and returns its body. */
async function done(answer: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await answer;
  assert.ok(status < 300, JSON.stringify(body));
  return body;
}
/** Creates a person with a session and no workspace. */
async function someone(email = `${newId('user')}@example.com`) {
  const person = await world.person(email);
  return { email, person, session: await signedInClient(world, person.user_id), user_id: person.user_id };
}
const isThere = async (user_id: string) =>
  (await db.query(sql`select from users where user_id = ${user_id}`)).length === 1;

/** Returns every table in which one of the texts occurs, as text or in binary columns (hex). */
async function tablesWith(...words: string[]): Promise<string[]> {
  const tables = await db.query<{ name: string }>(sql`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`);
  const needles = words.flatMap((word) => [word.toLowerCase(), Buffer.from(word).toString('hex')]);
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await db.query<{ n: number }>(sql`
      select count(*)::int as n from ${raw(name)} t
      where exists (select from unnest(${needles}::text[]) w (word) where position(w.word in lower(t::text)) > 0)`);
    if (row && row.n > 0) found.push(name);
  }
  return found;
}

test('after an account is deleted, no table names the person and their contributions stay', async () => {
  const email = 'zebulon@quill.example';
  const name = 'Zebulon Quillfeather';
  await done(world.anonymous.post('/v1/auth/email', { email }));
  const zeb = await someone(email);
  await done(zeb.session.patch('/v1/me', { display_name: name }));
  await done(zeb.session.post('/v1/me/password', { new_password: 'correct horse battery staple' }));
  for (const password of ['wrong one', 'wrong two'])
    assert.equal((await world.anonymous.post('/v1/auth/password', { email, password })).status, 401);
  // The workspace created at onboarding has the person's name.
  const solo = await done(zeb.person.post('/v1/onboarding'));
  const workspace_id = solo.workspace.workspace_id;
  assert.equal(solo.workspace.name, name);
  await zeb.person.post(`/v1/workspaces/${workspace_id}/members/invite`, {
    email: 'friend@example.com',
    role: 'viewer',
  });
  await done(zeb.person.post(`/v1/workspaces/${workspace_id}/api-keys`, { name: `${name}’s key` }));

  // The person joins another workspace, is changed there, leaves, and rejoins.
  const invited = await done(invite(email));
  await done(zeb.person.post(`/v1/me/invitations/${invited.invitation_id}/accept`));
  const members = `/v1/workspaces/${acme.workspace_id}/members`;
  const memberOf = async () =>
    (await acme.get(members)).body.members.find((it: { email: string }) => it.email === email)?.membership_id;
  await done(acme.patch(`${members}/${await memberOf()}`, { role: 'developer' }));
  await done(acme.post(`${members}/${await memberOf()}/deactivate`));
  await done(acme.post(`${members}/${await memberOf()}/reactivate`));
  await done(acme.send('DELETE', `${members}/${await memberOf()}`));
  const again = await done(invite(email, 'developer'));
  await done(zeb.person.post(`/v1/me/invitations/${again.invitation_id}/accept`));
  const other = await world.owner();
  await done(other.post(`/v1/workspaces/${other.workspace_id}/members/invite`, { email, role: 'viewer' }));

  const page = await done(zeb.person.post(pages, { title: 'Looms', markdown: 'warp and weft', status: 'published' }));
  const wiki = `/v1/wikis/${acme.wiki_id}`;
  const put = (path: string, body: object) =>
    zeb.person.send('PUT', path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  await done(put(`${wiki}/autosaves/draft-of-a-tab`, { title: name, markdown: `by ${name}` }));
  await done(put(`${wiki}/saved-searches/saved-search`, { name: 'Mine', query: name }));
  await done(put(`${wiki}/starred-pages/${page.page_id}`, {}));
  await zeb.person.send('PUT', '/v1/me/avatar', {
    headers: { 'content-type': 'image/png' },
    body: new Uint8Array(png()),
  });
  await done(zeb.person.post('/v1/me/api-keys', { name: `${name}’s laptop` }, { 'idempotency-key': 'once' }));
  await world.upload(zeb.person, acme.wiki_id, { 'notes.md': '# Notes\n' });
  await db.query(sql`
    insert into imported_people (wiki_id, user_id, name, email) values (${acme.wiki_id}, ${newId('user')}, ${name}, ${email})`);
  await db.query(sql`
    insert into background_jobs (name, lane, key, input, status, error)
    values ('send-guess-warning', 'mail', ${email}, ${JSON.stringify({ email })}::jsonb, 'failed', ${`550 <${email}>`}),
      ('send-billing-mail', 'mail', 'x', '{}', 'failed', ${`550 <${email}> unknown`})`);
  assert.ok((await tablesWith(email)).length >= 8, 'or this test proves nothing');

  const wikis = (await zeb.person.get(`/v1/workspaces/${workspace_id}/wikis`)).body;
  for (const { wiki_id } of wikis) {
    await done(zeb.person.post(`/v1/wikis/${wiki_id}/pages`, { title: name, markdown: `I am ${name}.` }));
    const refused = await remove(zeb.session, email);
    assert.deepEqual([refused.status, refused.body.error], [409, 'workspace_not_empty']);
    assert.match(refused.body.message, /“Zebulon Quillfeather”/);
    assert.equal((await zeb.person.send('DELETE', `/v1/wikis/${wiki_id}`)).status, 204);
  }
  const [seats] = await db.query(sql`select active_members from workspaces where workspace_id = ${acme.workspace_id}`);
  await done(remove(zeb.session, email));
  await runScheduled(world, removeDeletedWiki);

  assert.deepEqual(await tablesWith(email, name, 'zebulon', 'quillfeather'), []);
  assert.deepEqual(await tablesWith(workspace_id), ['audit_events'], 'nothing is counted for it afterwards');
  assert.deepEqual(await tablesWith('friend@example.com'), [], 'the empty workspace is gone with what was in it');
  // The id stays in the pages they wrote and in the audit log.
  const read = (await acme.get(`${pages}/${page.page_id}`)).body;
  assert.deepEqual([read.markdown, read.created_by], ['warp and weft', zeb.user_id]);
  const [revision] = (await acme.get(`${pages}/${page.page_id}/revisions`)).body;
  assert.deepEqual([revision.created_by, revision.created_by_name], [zeb.user_id, '']);
  const [later] = await db.query(sql`select active_members from workspaces where workspace_id = ${acme.workspace_id}`);
  assert.equal(Number(later?.active_members), Number(seats?.active_members) - 1);
  const [record] = await db.query(sql`
    select e.before, e.after, e.target_id from audit_events e where e.type = 'user.deleted' and e.actor_id = ${zeb.user_id}`);
  assert.deepEqual(record, { before: { user_id: zeb.user_id }, after: {}, target_id: zeb.user_id });
  const log = (await acme.get(`/v1/workspaces/${acme.workspace_id}/audit-events`)).body;
  assert.ok(
    log.some((it: { type: string; actor_id: string }) => it.type === 'page.created' && it.actor_id === zeb.user_id),
  );

  for (const client of [zeb.session, zeb.person]) assert.equal((await client.get('/v1/me')).status, 401);
  // The address can sign up again and inherits nothing.
  const fresh = await someone(email);
  assert.notEqual(fresh.user_id, zeb.user_id);
  assert.deepEqual((await fresh.session.get('/v1/workspaces')).body, []);
  assert.deepEqual((await fresh.session.get('/v1/me/invitations')).body, []);
  assert.equal((await fresh.session.get('/v1/me')).body.avatar_url, '');
});

test('only a session of the last 15 minutes deletes an account, confirmed by the address of the account', async () => {
  const { email, person, session, user_id } = await someone();
  await join(acme.workspace_id, user_id, 'owner');
  const widget = (await person.post(`/v1/workspaces/${acme.workspace_id}/widget-token`, { widget: 'profile' })).body
    .token;
  const key = await world.workspaceKey(email, acme.workspace_id);
  for (const [client, status] of [
    [person, 403],
    [key, 403],
    [world.as(widget), 401],
    [world.anonymous, 401],
  ] as const) {
    assert.equal((await remove(client, email)).status, status);
  }
  for (const body of [{ email: [email] }, { email: null }, {}, { email: { eq: email } }])
    assert.equal((await session.post('/v1/me/deletion', body)).status, 422);
  for (const wrong of ['', '%', 'owner@acme.example', `${email}.`, `x${email}`])
    assert.deepEqual([(await remove(session, wrong)).body.error, wrong], ['invalid_email', wrong]);
  await db.query(sql`update sessions set created_at = now() - interval '16 minutes' where user_id = ${user_id}`);
  const late = await remove(session, email);
  assert.deepEqual([late.status, late.body.error], [403, 'recent_sign_in_required']);
  assert.equal(await isThere(user_id), true);
  const later = await signedInClient(world, user_id);
  assert.equal((await remove(later, ` ${email.toUpperCase()} `)).status, 204);
  assert.equal(await isThere(user_id), false);
  assert.equal((await world.as(widget).get('/v1/widgets/profile')).status, 401);
});

test('the only owner of a workspace with other members gets a 409 that names it, and can leave after a transfer', async () => {
  const lone = await world.owner('lone@example.com');
  await db.query(sql`update workspaces set name = 'Looms & Co' where workspace_id = ${lone.workspace_id}`);
  const heir = await world.member(lone.workspace_id, 'member', 'inactive');
  const session = await signedInClient(world, lone.user_id);
  const refused = await remove(session, 'lone@example.com');
  assert.deepEqual([refused.status, refused.body.error], [409, 'last_owner']);
  assert.match(refused.body.message, /“Looms & Co”/);
  await db.query(sql`update memberships set status = 'active' where membership_id = ${heir.membership_id}`);
  const invited = await done(
    lone.post(`/v1/workspaces/${lone.workspace_id}/members/invite`, { email: 'next@example.com', role: 'viewer' }),
  );
  await until(
    'the letter is sent, which makes another secret',
    () => db.query(sql`select mail_status from invitations where invitation_id = ${invited.invitation_id}`),
    ([row]) => row?.mail_status !== 'queued',
  );
  await db.query(sql`
    update invitations set secret_hash = ${sha256('known')} where invitation_id = ${invited.invitation_id}`);
  await lone.post(`/v1/workspaces/${lone.workspace_id}/transfer`, { membership_id: heir.membership_id });
  assert.equal((await remove(session, 'lone@example.com')).status, 204);
  assert.equal((await heir.get(`/v1/wikis/${lone.wiki_id}`)).status, 200);
  const offer = await world.anonymous.get('/v1/invitations/lookup?token=known');
  assert.deepEqual([offer.status, offer.body.inviter_name], [200, 'A former member']);
});

test('one of two owners who leave at the same time stays, and a person is deleted only once', async () => {
  for (let round = 0; round < 3; round += 1) {
    const first = await world.owner();
    const second = await someone();
    await join(first.workspace_id, second.user_id, 'owner');
    await world.member(first.workspace_id, 'viewer');
    const [row] = await db.query<{ email: string }>(sql`select email from users where user_id = ${first.user_id}`);
    const own = await signedInClient(world, first.user_id);
    const answers = await Promise.all([
      remove(own, row?.email ?? ''),
      remove(second.session, second.email),
      remove(second.session, second.email),
    ]);
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 204).length, 1, String(statuses));
    assert.ok(
      statuses.every((status) => [204, 401, 409].includes(status)),
      String(statuses),
    );
    const owners = await db.query(sql`
      select from memberships where workspace_id = ${first.workspace_id} and role = 'owner' and status = 'active'`);
    assert.equal(owners.length, 1);
  }
});

test('concurrent requests of a deleted person are refused and leave no key, session or workspace', async () => {
  for (let round = 0; round < 4; round += 1) {
    const { email, person, session, user_id } = await someone();
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, (_, n) => person.post('/v1/me/api-keys', { name: `Key ${n}` })),
      person.post('/v1/workspaces', { name: 'Mine', slug: null }),
      remove(session, email),
    ]);
    const allowed = [200, 201, 204, 401, 409];
    assert.ok(
      answers.every(({ status }) => allowed.includes(status)),
      answers.map(({ status }) => status).join(),
    );
    const wasDeleted = !(await isThere(user_id));
    // A workspace created before the deletion has a wiki, so the deletion is refused.
    assert.equal(wasDeleted, answers.at(-1)?.status === 204);
    if (!wasDeleted) continue;
    for (const table of ['api_keys', 'sessions', 'memberships', 'identities'])
      assert.deepEqual(await db.query(sql`select 1 from ${raw(table)} where user_id = ${user_id}`), [], table);
    assert.deepEqual(await db.query(sql`select 1 from workspaces where created_by = ${user_id}`), []);
  }
});

test('a key created during the deletion of its user is refused with 401', async () => {
  const { person, user_id } = await someone();
  // Use the key now: recording its first use in a minute would wait for the lock as well.
  await person.get('/v1/me');
  const request = await db.transaction(async (query) => {
    await query(sql`delete from users where user_id = ${user_id}`);
    const sent = person.post('/v1/me/api-keys', { name: 'Late' });
    await until(
      'the request waits for the row of its user',
      () =>
        db.query(sql`
          select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into api_keys%'`),
      ({ length }) => length === 1,
    );
    // Wrapped in an object, so that the request is awaited only after the commit.
    return { sent };
  });
  const { status, body } = await request.sent;
  assert.deepEqual([status, body.error], [401, 'unauthorized']);
});

test('current and former members of a workspace under a legal hold keep their account until it is lifted', async () => {
  const held = await world.owner();
  const [stays, left, invited] = [await someone(), await someone(), await someone()];
  await join(held.workspace_id, stays.user_id);
  const membership = await join(held.workspace_id, left.user_id);
  await left.session.send('DELETE', `/v1/workspaces/${held.workspace_id}/members/${membership}`);
  await held.post(`/v1/workspaces/${held.workspace_id}/members/invite`, { email: invited.email, role: 'viewer' });
  await held.post(`/v1/workspaces/${held.workspace_id}/legal-hold`, { reason: 'A case.' });
  for (const { session, email } of [stays, left]) {
    const refused = await remove(session, email);
    assert.deepEqual([refused.status, refused.body.error], [409, 'legal_hold']);
  }
  assert.doesNotMatch(
    (await remove(left.session, left.email)).body.message,
    /“/,
    'no name of where they are not any more',
  );
  // A pending invitation does not block the deletion, and the hold keeps the invitation.
  assert.equal((await remove(invited.session, invited.email)).status, 204);
  assert.deepEqual(await tablesWith(invited.email), ['audit_events', 'invitations']);
  await held.post(`/v1/workspaces/${held.workspace_id}/legal-hold/lift`, { reason: 'It is closed.' });
  for (const { session, email } of [stays, left]) assert.equal((await remove(session, email)).status, 204);
});

test('deleting an account with an unverified address, or an address of several users, deletes no data of others', async () => {
  const victim = await someone();
  await invite(victim.email);
  const thief = await someone();
  // No user has this address yet, so only the check of `email_verified` protects the invitation.
  const coming = 'not-here-yet@example.com';
  await invite(coming);
  await db.query(sql`update users set email = ${coming}, email_verified = false where user_id = ${thief.user_id}`);
  assert.equal((await remove(thief.session, coming)).status, 204);
  assert.ok((await tablesWith(coming)).includes('invitations'));
  const twin = await someone();
  await db.query(sql`update users set email = ${victim.email} where user_id = ${twin.user_id}`);
  assert.equal((await remove(twin.session, victim.email)).status, 204);
  assert.equal((await victim.session.get('/v1/me/invitations')).body.length, 1);
  assert.equal(await isThere(victim.user_id), true);
});

test('deleting an account does not remove its only workspace while the plan renews', async () => {
  const payer = await world.owner();
  await payer.send('DELETE', `/v1/wikis/${payer.wiki_id}`);
  await db.query(sql`
    insert into subscriptions (workspace_id, plan_id, quantity, period_start, period_end, subscription_id, currency)
    values (${payer.workspace_id}, 'team_monthly', 1, now(), now() + interval '1 month', 'sub_1', 'usd')`);
  const [row] = await db.query<{ email: string }>(sql`select email from users where user_id = ${payer.user_id}`);
  const session = await signedInClient(world, payer.user_id);
  const refused = await remove(session, row?.email ?? '');
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  await db.query(sql`update subscriptions set cancel_at_period_end = true where workspace_id = ${payer.workspace_id}`);
  assert.equal((await remove(session, row?.email ?? '')).status, 204);
  assert.deepEqual(await db.query(sql`select 1 from workspaces where workspace_id = ${payer.workspace_id}`), []);
  assert.deepEqual(await db.query(sql`select 1 from workspace_usage where workspace_id = ${payer.workspace_id}`), []);
});
