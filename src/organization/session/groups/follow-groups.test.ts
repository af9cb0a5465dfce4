import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { cleanUp } from '../../../../test/clean-up.ts';
import { startSignInProvider } from '../../../../test/openid-sign-in.ts';
import { openWorld } from '../../../../test/world.ts';
import { readConfig } from '../../../operation/config.ts';
import { sql } from '../../../platform/db/sql.ts';

const PUBLIC_URL = 'https://wiki.example.com';
const provider = await startSignInProvider(`${PUBLIC_URL}/sign-in/callback`);
cleanUp(() => provider.stop());

let log = '';
const sink = new Writable({
  write(chunk, _encoding, done) {
    log += String(chunk);
    done();
  },
});
const world = await openWorld(
  {
    PUBLIC_URL,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'confidential',
    OIDC_CLIENT_SECRET: 'secret-of-ibid',
    OIDC_ROLES:
      'cn=admins,ou=wiki=acme:admin, staff=acme:member, guests=acme:viewer, staff=beta:member, staff=nowhere:viewer, seated=gamma:viewer, eves=delta:admin',
  },
  { log: pino({ level: 'warn' }, sink) },
);
const { db, anonymous } = world;
const ADMINS = 'cn=admins,ou=wiki';

/** Creates a workspace with a slug used in the mapping. */
async function named(slug: string) {
  const owner = await world.owner();
  await db.query(sql`update workspaces set slug = ${slug}, name = ${slug} where workspace_id = ${owner.workspace_id}`);
  return owner;
}
const acme = await named('acme');
await named('beta');

/** Signs in with these groups; without them the claim is missing. */
async function signIn(sub: string, groups?: unknown) {
  const { authorization_url, attempt } = (await anonymous.post('/v1/auth/openid')).body;
  const account = { sub, email: `${sub}@example.org`, email_verified: true, ...(groups !== undefined && { groups }) };
  const callback_url = await provider.browse(authorization_url, account);
  const { status, body } = await anonymous.post('/v1/auth/openid/complete', { attempt, callback_url });
  assert.equal(status, 200, JSON.stringify(body));
  return body as { access_token: string; without_seat: string[] };
}

/** Returns the user's memberships as "slug role status". */
async function membershipsOf(sub: string): Promise<string[]> {
  const rows = await db.query<{ text: string }>(sql`
    select w.slug || ' ' || m.role || ' ' || m.status as text from memberships m
    join workspaces w on w.workspace_id = m.workspace_id and w.slug in ('acme', 'beta', 'gamma', 'delta')
    join identities i on i.user_id = m.user_id and i.subject = ${sub} order by 1`);
  return rows.map(({ text }) => text);
}

const idOf = async (sub: string): Promise<string> => {
  const [row] = await db.query<{ membership_id: string }>(sql`
    select m.membership_id from memberships m join workspaces w on w.workspace_id = m.workspace_id and w.slug = 'acme'
    join identities i on i.user_id = m.user_id and i.subject = ${sub}`);
  return row?.membership_id ?? '';
};

test('roles follow the groups at each sign-in, the highest one applies, and each change is audited', async () => {
  await signIn('ann', ['guests', 'staff', 'unknown']);
  assert.deepEqual(await membershipsOf('ann'), ['acme member active', 'beta member active']);
  await signIn('ann', ['staff', ADMINS]);
  assert.deepEqual(await membershipsOf('ann'), ['acme admin active', 'beta member active']);
  const { access_token } = await signIn('ann', 'guests');
  assert.deepEqual(await membershipsOf('ann'), ['acme viewer active', 'beta member inactive']);
  assert.equal((await world.as(access_token).get(`/v1/wikis/${acme.wiki_id}`)).status, 200);
  const ended = await signIn('ann', []);
  assert.deepEqual(await membershipsOf('ann'), ['acme viewer inactive', 'beta member inactive']);
  assert.equal((await world.as(ended.access_token).get(`/v1/wikis/${acme.wiki_id}`)).status, 403);
  await signIn('ann', ['staff']);
  assert.deepEqual(await membershipsOf('ann'), ['acme member active', 'beta member active']);

  const id = await idOf('ann');
  const { status, body } = await acme.get(`/v1/workspaces/${acme.workspace_id}/audit-events`);
  assert.equal(status, 200);
  const events = body
    .filter((it: { target_id: string }) => it.target_id === id)
    .map(({ type, changes }: { type: string; changes: Record<string, unknown> }) => [
      type,
      changes.before,
      changes.after,
    ]);
  const updated = 'organization_membership.updated';
  assert.deepEqual([events[0][0], events[0][2].role], ['organization_membership.created', 'member']);
  assert.deepEqual(events.slice(1), [
    [updated, { role: 'member' }, { role: 'admin' }],
    [updated, { role: 'admin' }, { role: 'viewer' }],
    [updated, { status: 'active' }, { status: 'inactive' }],
    [updated, { role: 'viewer', status: 'inactive' }, { role: 'member', status: 'active' }],
  ]);
});

test('a renamed workspace keeps members that were mapped by its former slug', async () => {
  await signIn('lea', ['staff']);
  await db.query(sql`update workspaces set slug = 'acme-2' where workspace_id = ${acme.workspace_id}`);
  await signIn('lea', ['staff', ADMINS]);
  const text = await db.query(sql`
    select m.role, m.status from memberships m join identities i on i.user_id = m.user_id and i.subject = 'lea'
    where m.workspace_id = ${acme.workspace_id}`);
  await db.query(sql`update workspaces set slug = 'acme' where workspace_id = ${acme.workspace_id}`);
  assert.deepEqual(text, [{ role: 'admin', status: 'active' }]);
});

test('manual changes are kept: a role, a deactivation, an invited member, an owner', async () => {
  const at = (sub: string) => idOf(sub).then((id) => `/v1/workspaces/${acme.workspace_id}/members/${id}`);
  await signIn('bob', ['staff']);
  assert.equal((await acme.patch(await at('bob'), { role: 'developer' })).status, 200);
  await signIn('bob', ['guests']);
  await signIn('bob', []);
  assert.ok((await membershipsOf('bob')).includes('acme developer active'));

  await signIn('cyd', ['staff']);
  assert.equal((await acme.post(`${await at('cyd')}/deactivate`)).status, 200);
  await signIn('cyd', [ADMINS]);
  assert.ok((await membershipsOf('cyd')).includes('acme member inactive'));

  await signIn('dan');
  await db.query(sql`
    insert into memberships (membership_id, workspace_id, user_id, role)
    select 'mem_of_dan', ${acme.workspace_id}, user_id, 'viewer' from identities where subject = 'dan'`);
  await signIn('dan', [ADMINS]);
  await signIn('dan', []);
  assert.deepEqual(await membershipsOf('dan'), ['acme viewer active']);

  const delta = await named('delta');
  await signIn('eve', ['eves']);
  await db.query(sql`
    update memberships set role = 'owner' where workspace_id = ${delta.workspace_id} and group_role = 'admin'`);
  await db.query(sql`delete from memberships where membership_id = ${delta.membership_id}`);
  await signIn('eve', []);
  assert.deepEqual(await membershipsOf('eve'), ['delta owner active']);
});

test('a missing or malformed claim changes nothing, signs the user in, and is logged', async () => {
  await signIn('fay', ['staff']);
  const before = await membershipsOf('fay');
  for (const groups of [undefined, { staff: true }, 7, true, Array.from({ length: 10_001 }, () => 'guests')]) {
    log = '';
    await signIn('fay', groups);
    assert.deepEqual(await membershipsOf('fay'), before);
    assert.match(log, /the issuer names no groups for a user who signs in, so their roles stay unchanged/);
  }
  await signIn('gus', [
    null,
    { a: 1 },
    ['staff'],
    'Staff',
    'staff ',
    'staff,x',
    "'; drop table users; --",
    '\u0000',
    '__proto__',
  ]);
  await signIn('gus', 'x,staff');
  assert.deepEqual(await membershipsOf('gus'), []);
  assert.match(log, /OIDC_ROLES names nowhere, but no such workspace exists/);
});

test('with no free seat a user signs in without the workspace and is told so; a race for the last seat fills it once', async () => {
  const { workspace_id } = await named('gamma');
  const seats = (granted: number) =>
    db.query(sql`
      update workspaces set seats_unlimited = false, seats_granted = ${granted}::int
      where workspace_id = ${workspace_id}`);
  await seats(1);
  assert.deepEqual((await signIn('hal', ['seated'])).without_seat, ['gamma']);
  assert.deepEqual(await membershipsOf('hal'), []);
  assert.match(log, /a group grants access to a workspace that has no free seat/);

  const html = { accept: 'text/html', 'sec-fetch-site': 'same-origin' };
  const begun = await anonymous.send('GET', '/sign-in/openid', { redirect: 'manual', headers: html });
  const account = { sub: 'hal', email: 'hal@example.org', email_verified: true, groups: ['seated'] };
  const back = new URL(await provider.browse(begun.headers.get('location') ?? '', account));
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const page = await anonymous.send('GET', back.pathname + back.search, { headers: { ...html, cookie } });
  assert.match(page.body, /Your groups also give you access to gamma, but no seat is free there\./);

  await seats(2);
  // The provider handles one account at a time, so collect the callbacks first.
  const waiting = [];
  for (const sub of ['ida', 'jon', 'kim']) {
    const { authorization_url, attempt } = (await anonymous.post('/v1/auth/openid')).body;
    const groups = ['seated'];
    const person = { sub, email: `${sub}@example.org`, email_verified: true, groups };
    waiting.push({ attempt, callback_url: await provider.browse(authorization_url, person) });
  }
  const answers = await Promise.all(waiting.map((body) => anonymous.post('/v1/auth/openid/complete', body)));
  assert.deepEqual(answers.map(({ body }) => body.without_seat.length).sort(), [0, 1, 1], JSON.stringify(answers));
});

test('an invalid mapping prevents the start, and no group grants the role of owner', () => {
  for (const value of [
    'staff',
    'staff=acme',
    'staff=acme:owner',
    'staff=acme:x',
    '=acme:admin',
    'a=acme:admin b=acme:admin,',
  ]) {
    assert.throws(() => readConfig({ OIDC_ROLES: value }), /OIDC_ROLES/, value);
  }
  assert.throws(() => readConfig({ OIDC_ROLES: 'staff=acme:admin' }), /set OIDC_CLIENT_ID/);
});
