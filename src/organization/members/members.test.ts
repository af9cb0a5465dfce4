import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextOf } from '../../../test/list-all.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { ROLES } from '../../platform/access/roles.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await sharedWorld();

const membersPath = (workspace_id: string) => `/v1/workspaces/${workspace_id}/members`;

test('the list shows members by join date, pending invitations, roles in their order, and seats', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const inactive = await world.member(owner.workspace_id, 'member', 'inactive');
  const invitation = await owner.post(`${path}/invite`, { email: '  Grace@Example.com ', role: 'billing' });
  assert.equal(invitation.status, 200);
  const { body } = await viewer.get(path);
  assert.deepEqual(
    body.members.map((member: { membership_id: string; role: string; status: string }) => [
      member.membership_id,
      member.role,
      member.status,
    ]),
    [
      [owner.membership_id, 'owner', 'active'],
      [viewer.membership_id, 'viewer', 'active'],
      [inactive.membership_id, 'member', 'inactive'],
    ],
  );
  // Its email may have been sent by now.
  assert.deepEqual(body.invitations, [invitation.body]);
  assert.equal(invitation.body.email, 'grace@example.com');
  assert.equal(Date.parse(invitation.body.expires_at) - Date.parse(invitation.body.created_at), 7 * 86_400_000);
  assert.deepEqual(
    body.roles.map((role: { slug: string }) => role.slug),
    ['owner', 'admin', 'developer', 'billing', 'member', 'viewer'],
  );
  assert.deepEqual(body.seats, {
    active: 2,
    pending: 1,
    used: 3,
    granted: 0,
    unlimited: true,
    blocked: false,
    overage_allowed: false,
  });
  assert.deepEqual(body.viewer, {
    role: 'viewer',
    workspace_id: owner.workspace_id,
    can_manage_billing: false,
    can_manage_developers: false,
    can_manage_enterprise: false,
    can_manage_members: false,
  });
});

test('members can be listed page by page with a limit, and filtered by user', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const joined = [owner.membership_id];
  const users = [owner.user_id];
  for (let i = 0; i < 4; i += 1) {
    const member = await world.member(owner.workspace_id, 'viewer', i === 1 ? 'inactive' : 'active');
    joined.push(member.membership_id);
    users.push(member.user_id);
  }
  // Members with equal join times, with microseconds that timestamps of the API omit.
  await world.db.query(sql`
    update memberships set created_at = timestamptz '2026-01-01 00:00:00.0001Z' where membership_id = any (${joined.slice(1)}::text[])`);
  const whole = (await owner.get(path)).body;
  assert.deepEqual([whole.members.length, whole.seats.active], [5, 4]);
  const walked: object[] = [];
  for (let next: string | undefined = `${path}?limit=2`; next !== undefined; ) {
    const { status, headers, body } = await owner.get(next);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.seats, whole.seats);
    walked.push(...body.members);
    next = nextOf(headers.get('link'));
  }
  assert.deepEqual(walked, whole.members);
  const stranger = await world.owner();
  const some = await owner.get(`${path}?user_id=${[users[3], stranger.user_id, users[2]].join(',')}`);
  assert.deepEqual(
    some.body.members.map(({ user_id }: { user_id: string }) => user_id).toSorted(),
    [users[2], users[3]].toSorted(),
  );
  assert.equal((await owner.get(path)).headers.get('link'), null);
  for (const wrong of ['limit=0', 'limit=501', 'user_id=', `user_id=${Array(101).fill('u')}`]) {
    assert.equal((await owner.get(`${path}?${wrong}`)).status, 422, wrong);
  }
  assert.equal((await owner.get(`${path}?after=WyJ4Il0`)).status, 400);
});

test('people are found by part of their name or address, case-insensitively, page by page and only in the workspace', async () => {
  const owner = await world.owner('finder@example.com');
  const other = await world.owner('elsewhere@example.com');
  const path = membersPath(owner.workspace_id);
  for (const [n, name] of ['Élan Vital', 'élan 100%', 'Zoë_Élan', 'Grace'].entries()) {
    const { user_id } = await world.member(owner.workspace_id, 'viewer', n === 1 ? 'inactive' : 'active');
    await world.db.query(sql`
      update users set display_name = ${name}, email = ${`p${n}.${owner.user_id.slice(5)}@example.com`} where user_id = ${user_id}`);
  }
  await world.db.query(sql`update users set display_name = 'Élan Elsewhere' where user_id = ${other.user_id}`);
  for (const email of ['elan@example.com', 'grace-2@example.com']) {
    assert.equal((await owner.post(`${path}/invite`, { email, role: 'viewer' })).status, 200);
  }
  const found = async (query: string, more = '') => {
    const { status, body, headers } = await owner.get(`${path}?query=${encodeURIComponent(query)}${more}`);
    assert.equal(status, 200, JSON.stringify(body));
    return { body, names: body.members.map((it: { display_name: string }) => it.display_name), headers };
  };
  assert.deepEqual((await found('éLAN')).names, ['Élan Vital', 'élan 100%', 'Zoë_Élan']);
  assert.deepEqual((await found('P3.')).names, ['Grace']);
  // Wildcard characters match literally.
  for (const [text, names] of [
    ['%', ['élan 100%']],
    ['_', ['Zoë_Élan']],
    ["' or true --", []],
    ['elsewhere', []],
  ] as const) {
    assert.deepEqual((await found(text)).names, names, text);
  }
  const first = await found('élan', '&limit=2&invitations=none');
  const rest = await owner.get(nextOf(first.headers.get('link')) ?? '');
  assert.deepEqual(
    [...first.names, ...rest.body.members.map((it: { display_name: string }) => it.display_name)],
    ['Élan Vital', 'élan 100%', 'Zoë_Élan'],
  );
  assert.deepEqual([first.body.invitations, rest.body.invitations], [[], []]);
  assert.deepEqual(first.body.seats, (await owner.get(path)).body.seats);
  assert.equal((await found('élan', '&invitations=all')).body.invitations.length, 2);
  const invited = (await owner.get(`/v1/workspaces/${owner.workspace_id}/invitations?state=pending&query=GRACE-`)).body;
  assert.deepEqual(
    invited.map((it: { email: string }) => it.email),
    ['grace-2@example.com'],
  );
  for (const wrong of ['query=', `query=${'x'.repeat(255)}`, 'invitations=some']) {
    assert.equal((await owner.get(`${path}?${wrong}`)).status, 422, wrong);
  }
});

test('the used seats equal the number of active members after every change', async () => {
  const owner = await world.owner();
  const other = await world.owner();
  const counted = async () => (await owner.get(membersPath(owner.workspace_id))).body.seats.active;
  const { workspace_id } = owner;
  for (let i = 0; i < 3; i += 1) await world.member(workspace_id, 'viewer');
  assert.equal(await counted(), 4);
  const { db } = world;
  const ofViewers = sql`workspace_id = ${workspace_id} and role = 'viewer'`;
  await db.query(sql`update memberships set role = 'member' where ${ofViewers}`);
  assert.equal(await counted(), 4);
  await db.query(
    sql`update memberships set status = 'inactive' where workspace_id = ${workspace_id} and role = 'member'`,
  );
  assert.equal(await counted(), 1);
  await db.query(
    sql`update memberships set status = 'active', role = 'viewer' where workspace_id = ${workspace_id} and role = 'member'`,
  );
  await db.query(sql`update memberships set workspace_id = ${other.workspace_id} where ${ofViewers}`);
  assert.equal(await counted(), 1);
  const { body } = await other.get(membersPath(other.workspace_id));
  assert.equal(body.seats.active, 4);
  await db.query(sql`delete from memberships where workspace_id = ${other.workspace_id} and role = 'viewer'`);
  const [{ wrong }] = (await db.query(sql`
    select count(*)::int as wrong from workspaces where active_members is distinct from active_members_of(workspace_id)`)) as [
    { wrong: number },
  ];
  assert.equal(wrong, 0);
});

test('an expired invitation is not pending: it takes no seat and blocks no new invitation', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const invite = { email: 'late@example.com', role: 'member' };
  const first = await owner.post(`${path}/invite`, invite);
  assert.equal((await owner.post(`${path}/invite`, invite)).body.error, 'invitation_pending');
  await world.db.query(sql`
    update invitations set expires_at = now() where invitation_id = ${first.body.invitation_id}`);
  const list = await owner.get(path);
  assert.deepEqual(list.body.invitations, []);
  assert.equal(list.body.seats.pending, 0);
  assert.equal((await owner.post(`${path}/invite`, invite)).status, 200);
});

test('no member grants or changes a role above their own, and only an owner changes an owner', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const admin = await world.member(owner.workspace_id, 'admin');
  const other = await world.member(owner.workspace_id, 'member');
  for (const [membership_id, role] of [
    [admin.membership_id, 'owner'],
    [other.membership_id, 'owner'],
    [owner.membership_id, 'member'],
  ]) {
    const refused = await admin.patch(`${path}/${membership_id}`, { role });
    assert.equal(refused.status, 403);
    assert.equal(refused.body.error, 'role_not_grantable');
  }
  assert.equal(
    (await admin.post(`${path}/invite`, { email: 'boss@example.com', role: 'owner' })).body.error,
    'role_not_grantable',
  );
  assert.equal((await admin.patch(`${path}/${other.membership_id}`, { role: 'developer' })).body.role, 'developer');
  assert.equal((await owner.patch(`${path}/${other.membership_id}`, { role: 'owner' })).body.role, 'owner');
});

test('extra properties in a body are ignored', async () => {
  const owner = await world.owner();
  const member = await world.member(owner.workspace_id, 'member');
  const answer = await owner.patch(`${membersPath(owner.workspace_id)}/${member.membership_id}`, {
    role: 'viewer',
    status: 'inactive',
    permissions: ['workspace:delete'],
    workspace_id: 'org_00000000000000000000000000',
  });
  assert.equal(answer.body.role, 'viewer');
  assert.equal(answer.body.status, 'active');
});

test('the last active owner cannot be demoted: 409 last_owner', async () => {
  const owner = await world.owner();
  await world.member(owner.workspace_id, 'owner', 'inactive');
  const refused = await owner.patch(`${membersPath(owner.workspace_id)}/${owner.membership_id}`, { role: 'admin' });
  assert.equal(refused.status, 409);
  assert.equal(refused.body.error, 'last_owner');
});

test('an unknown role is 400, an empty one is 422 if the schema forbids it, and neither changes anything', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const member = await world.member(owner.workspace_id, 'member');
  for (const role of ['root', 'Owner', ' owner', 'оwner']) {
    assert.equal((await owner.patch(`${path}/${member.membership_id}`, { role })).body.error, 'unknown_role');
    assert.equal((await owner.post(`${path}/invite`, { email: 'x@example.com', role })).body.error, 'unknown_role');
  }
  assert.equal((await owner.patch(`${path}/${member.membership_id}`, { role: '' })).status, 422);
  assert.equal((await owner.post(`${path}/invite`, { email: 'x@example.com', role: '' })).status, 400);
  assert.equal((await owner.get(path)).body.invitations.length, 0);
});

test('an address that is not exactly one plain address is refused: 400 invalid_email', async () => {
  const owner = await world.owner();
  const path = `${membersPath(owner.workspace_id)}/invite`;
  const forms = [
    '',
    ' ',
    'a',
    'a@',
    '@x',
    'a@x,b@x',
    'a@x b@x',
    'a@x\r\nBcc: c@x',
    '<a@x>',
    'A <a@x>',
    '"a b"@x',
    `${'a'.repeat(65)}@x`,
    `a@${'x'.repeat(260)}`,
    'a@bücher.example',
    'mıke@example.org',
    'mike＠example.org',
    'a\u200b@x',
    '\u202ea@x',
    'a@x.',
    'a..b@x',
    '.a@x',
    'a@-x',
    'a@x..y',
    'a@[127.0.0.1]',
    '=?utf-8?q?a?=@x.com',
    'a=?utf-8?q?b?=@x.com',
  ];
  for (const email of forms) {
    const refused = await owner.post(path, { email, role: 'member' });
    assert.equal(refused.body.error, 'invalid_email', `${JSON.stringify(email)} must be refused`);
  }
  for (const email of [['a@x'], { a: 1 }, 5, null, true])
    assert.equal((await owner.post(path, { email, role: 'member' })).status, 422);
});

test('current and former members cannot be invited again', async () => {
  const owner = await world.owner('boss@example.net');
  const path = `${membersPath(owner.workspace_id)}/invite`;
  assert.equal((await owner.post(path, { email: 'BOSS@example.net', role: 'member' })).body.error, 'already_member');
  const inactive = await world.member(owner.workspace_id, 'member', 'inactive');
  const { body } = await owner.get(membersPath(owner.workspace_id));
  const { email } = body.members.find(
    (member: { membership_id: string }) => member.membership_id === inactive.membership_id,
  );
  assert.equal((await owner.post(path, { email, role: 'member' })).body.error, 'member_inactive');
});

test('without a free seat no one can be invited, unless the plan allows overage', async () => {
  const owner = await world.owner();
  const path = membersPath(owner.workspace_id);
  const setSeats = (overage: boolean) =>
    world.db.query(sql`
      update workspaces set seats_unlimited = false, seats_granted = 2, seats_overage = ${overage}
      where workspace_id = ${owner.workspace_id}`);
  await setSeats(false);
  assert.equal((await owner.post(`${path}/invite`, { email: 'one@example.com', role: 'member' })).status, 200);
  const refused = await owner.post(`${path}/invite`, { email: 'two@example.com', role: 'member' });
  assert.equal(refused.status, 409);
  assert.equal(refused.body.error, 'seat_limit_reached');
  assert.deepEqual((await owner.get(path)).body.seats, {
    active: 1,
    pending: 1,
    used: 2,
    granted: 2,
    unlimited: false,
    blocked: true,
    overage_allowed: false,
  });
  await setSeats(true);
  assert.equal((await owner.post(`${path}/invite`, { email: 'two@example.com', role: 'member' })).status, 200);
  assert.equal((await owner.get(path)).body.seats.blocked, false);
});

test('flags and permissions of a role match the allowed actions', async () => {
  const owner = await world.owner();
  for (const { slug, permissions } of ROLES) {
    const member = await world.member(owner.workspace_id, slug);
    const { body } = await member.get('/v1/overview');
    assert.deepEqual(body.session.organizations[0].permissions, permissions);
    const may = (permission: string) => permissions.some((held) => held === permission);
    assert.deepEqual(body.access[0], {
      organization_id: owner.workspace_id,
      role: slug,
      can_manage_billing: may('billing:manage'),
      can_manage_developers: may('developers:manage'),
      can_manage_enterprise: may('enterprise:manage'),
      can_manage_members: may('members:manage'),
    });
    const preview = await member.post(`/v1/organizations/${owner.workspace_id}/billing/preview`, { plan_id: 'free' });
    assert.equal(preview.status, may('billing:manage') ? 200 : 403);
  }
});
