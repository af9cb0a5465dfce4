import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newId } from '../src/platform/core/ids.ts';
import { sql } from '../src/platform/db/sql.ts';
import { startTwoProcesses } from './two-processes.ts';
import type { Owner } from './world.ts';

/** Database constraints that hold even if an endpoint forgets a rule of memberships. */
const { world, other, atBoth } = await startTwoProcesses();
const { query, transaction } = world.db;

const NO_SEAT = { code: 'IBSEA' };
const NO_OWNER = { code: 'IBOWN' };

async function ownerWithSeats(seats: number): Promise<Owner> {
  const owner = await world.owner();
  await setSeats(owner.workspace_id, seats);
  return owner;
}

function setSeats(workspace_id: string, seats: number) {
  return query(sql`
    update workspaces set seats_unlimited = false, seats_granted = ${seats} where workspace_id = ${workspace_id}`);
}

/** Inserts an invitation directly and returns its id. Negative `days` make an expired invitation. */
async function inviteDirectly({ workspace_id, user_id }: Owner, days = 7): Promise<string> {
  const id = newId('inv');
  await query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    values (${id}, ${workspace_id}, ${`${id}@example.com`}, 'member', ${Buffer.from(randomUUID())}, ${user_id},
      now() + make_interval(days => ${days}))`);
  return id;
}

async function used(workspace_id: string): Promise<number> {
  const [row] = await query<{ used: number }>(sql`
    select (select count(*) from memberships where workspace_id = ${workspace_id} and status = 'active')
      + (select count(*) from invitations where workspace_id = ${workspace_id} and state = 'pending'
        and expires_at > now()) as used`);
  return row?.used ?? 0;
}

/** Injects a fault into this database only: runs `statement` after each write of this kind by a client. */
async function withFault(what: string, statement: string, work: () => Promise<void>): Promise<void> {
  await transaction(async (_, runScript) =>
    runScript(`
      create function fault() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
      begin ${statement}; return null; end $$;
      create trigger a_fault after ${what} for each row when (pg_trigger_depth() = 0) execute function fault()`),
  );
  try {
    await work();
  } finally {
    await transaction((_, runScript) => runScript('drop function fault() cascade'));
  }
}

test('a row that would exceed the seats is refused, however it is written', async () => {
  const owner = await ownerWithSeats(2);
  const { workspace_id } = owner;
  const member = await world.member(workspace_id, 'member');
  await assert.rejects(world.member(workspace_id, 'member'), NO_SEAT);
  await assert.rejects(inviteDirectly(owner), NO_SEAT);
  const inactive = await world.member(workspace_id, 'member', 'inactive');
  const activate = () =>
    query(sql`update memberships set status = 'active' where membership_id = ${inactive.membership_id}`);
  await assert.rejects(activate(), NO_SEAT);
  const elsewhere = await world.owner();
  await assert.rejects(
    query(sql`update memberships set workspace_id = ${workspace_id} where membership_id = ${elsewhere.membership_id}`),
    NO_SEAT,
  );
  await query(sql`update memberships set status = 'inactive' where membership_id = ${member.membership_id}`);
  await activate();
  assert.equal(await used(workspace_id), 2);
});

test('an expired invitation takes no seat until it is renewed', async () => {
  const owner = await ownerWithSeats(2);
  const expired = await inviteDirectly(owner, -1);
  const pending = await inviteDirectly(owner);
  const prolong = () =>
    query(sql`update invitations set expires_at = now() + interval '1 day' where invitation_id = ${expired}`);
  await assert.rejects(prolong(), NO_SEAT);
  await query(sql`update invitations set state = 'revoked' where invitation_id = ${pending}`);
  await prolong();
  await assert.rejects(
    query(sql`update invitations set state = 'pending' where invitation_id = ${pending}`),
    NO_SEAT,
    'A final state that is undone takes a seat.',
  );
});

test('removing seats removes no member, and members above the limit can still change and leave', async () => {
  const owner = await ownerWithSeats(4);
  const { workspace_id } = owner;
  const member = await world.member(workspace_id, 'member');
  const pending = await inviteDirectly(owner);
  await setSeats(workspace_id, 1);
  assert.equal(await used(workspace_id), 3);
  await query(sql`update memberships set role = 'viewer' where membership_id = ${member.membership_id}`);
  await query(sql`update invitations set expires_at = now() + interval '9 days' where invitation_id = ${pending}`);
  await query(sql`update memberships set status = 'inactive' where membership_id = ${member.membership_id}`);
  await assert.rejects(
    query(sql`update memberships set status = 'active' where membership_id = ${member.membership_id}`),
    NO_SEAT,
  );
});

test('an accepted invitation passes its seat to one member, even if the number of seats has been reduced since', async () => {
  const owner = await ownerWithSeats(3);
  const { workspace_id } = owner;
  const [first] = [await inviteDirectly(owner), await inviteDirectly(owner)];
  await setSeats(workspace_id, 2);
  const accept = (joining: number) =>
    transaction(async (within) => {
      const people = await Promise.all(Array.from({ length: joining }, () => world.person()));
      await within(sql`update invitations set state = 'accepted' where invitation_id = ${first ?? ''}`);
      for (const { user_id } of people) {
        await within(sql`
          insert into memberships (membership_id, workspace_id, user_id, role)
          values (${newId('mem')}, ${workspace_id}, ${user_id}, 'member')`);
      }
    });
  await assert.rejects(accept(2), NO_SEAT);
  await accept(1);
  assert.equal(await used(workspace_id), 3, 'One joined, one invitation is left.');
});

test('unlimited seats and allowed overage refuse no member', async () => {
  const owner = await ownerWithSeats(1);
  await query(sql`update workspaces set seats_overage = true where workspace_id = ${owner.workspace_id}`);
  await world.member(owner.workspace_id, 'member');
  await query(sql`
    update workspaces set seats_overage = false, seats_unlimited = true where workspace_id = ${owner.workspace_id}`);
  await world.member(owner.workspace_id, 'member');
  assert.equal(await used(owner.workspace_id), 3);
});

test("concurrent inserts that bypass the application's check never exceed the seats", async () => {
  for (let round = 0; round < 10; round += 1) {
    const owner = await ownerWithSeats(3);
    const { workspace_id } = owner;
    const people = await Promise.all(Array.from({ length: 4 }, () => world.person()));
    const results = await Promise.allSettled([
      ...people.map(({ user_id }) =>
        query(sql`
          insert into memberships (membership_id, workspace_id, user_id, role)
          values (${newId('mem')}, ${workspace_id}, ${user_id}, 'member')`),
      ),
      ...people.map(() => inviteDirectly(owner)),
    ]);
    const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.code);
    assert.deepEqual(refused, Array(6).fill('IBSEA'), `Round ${round}: two of eight succeed, six are refused.`);
    assert.equal(await used(workspace_id), 3);
  }
});

test('clients of two processes that bypass the check get 409 seat_limit_reached, and the seats hold', async () => {
  // Make the check count one seat too few: each insert adds a second invitation.
  const beside = `
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    values (new.invitation_id || '-2', new.workspace_id, new.invitation_id || '@example.com', 'member',
      sha256(new.invitation_id::bytea), new.invited_by, new.expires_at)`;
  await withFault('insert on invitations', beside, async () => {
    for (let round = 0; round < 10; round += 1) {
      const owner = await ownerWithSeats(2);
      const answers = await Promise.all(
        atBoth(owner).map((client, i) =>
          client.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, {
            email: `${i}@example.com`,
            role: 'member',
          }),
        ),
      );
      for (const { status, body } of answers) assert.deepEqual([status, body.error], [409, 'seat_limit_reached']);
      assert.equal(await used(owner.workspace_id), 1, 'A refused invitation leaves nothing behind.');
    }
  });
});

test('a workspace with members keeps an active owner, however the last owner would leave', async () => {
  const owner = await world.owner();
  const { workspace_id, membership_id } = owner;
  await world.member(workspace_id, 'admin');
  await world.member(workspace_id, 'owner', 'inactive');
  const last = sql`where membership_id = ${membership_id}`;
  await assert.rejects(query(sql`update memberships set role = 'admin' ${last}`), NO_OWNER);
  await assert.rejects(query(sql`update memberships set status = 'inactive' ${last}`), NO_OWNER);
  await assert.rejects(query(sql`delete from memberships ${last}`), NO_OWNER);
  const elsewhere = await world.owner();
  await assert.rejects(query(sql`update memberships set workspace_id = ${elsewhere.workspace_id} ${last}`), NO_OWNER);
  const empty = newId('org');
  await query(sql`
    insert into workspaces (workspace_id, name, slug, created_by) values (${empty}, 'E', ${randomUUID()}, ${owner.user_id})`);
  await assert.rejects(world.member(empty, 'admin'), NO_OWNER);
});

test('a transaction may transfer the ownership in either order', async () => {
  const owner = await world.owner();
  const heir = await world.member(owner.workspace_id, 'member');
  await transaction(async (within) => {
    await within(sql`update memberships set role = 'admin' where membership_id = ${owner.membership_id}`);
    await within(sql`update memberships set role = 'owner' where membership_id = ${heir.membership_id}`);
  });
  assert.equal((await heir.get(`/v1/workspaces/${owner.workspace_id}/members`)).body.viewer.role, 'owner');
});

test("one owner remains when all are demoted concurrently, bypassing the application's check", async () => {
  for (let round = 0; round < 10; round += 1) {
    const { workspace_id, membership_id } = await world.owner();
    const more = await Promise.all([1, 2, 3].map(() => world.member(workspace_id, 'owner')));
    const results = await Promise.allSettled(
      [membership_id, ...more.map((owner) => owner.membership_id)].map((id) =>
        query(sql`update memberships set role = 'member' where membership_id = ${id}`),
      ),
    );
    const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.code);
    assert.deepEqual(refused, ['IBOWN'], `Round ${round}: one of four is refused.`);
  }
});

test('clients of two processes that bypass the check get 409 last_owner, and an owner remains', async () => {
  const allOthersToo = `
    update memberships set role = 'admin' where workspace_id = new.workspace_id and role = 'owner'`;
  await withFault('update of role on memberships', allOthersToo, async () => {
    for (let round = 0; round < 10; round += 1) {
      const owner = await world.owner();
      const { workspace_id } = owner;
      const second = await world.member(workspace_id, 'owner');
      const demote = `/v1/workspaces/${workspace_id}/members`;
      const answers = await Promise.all([
        owner.patch(`${demote}/${second.membership_id}`, { role: 'member' }),
        other.as(second.token).patch(`${demote}/${owner.membership_id}`, { role: 'member' }),
      ]);
      for (const { status, body } of answers) assert.deepEqual([status, body.error], [409, 'last_owner']);
    }
  });
});

test('a workspace can be deleted with all its members, and so can a user who leaves no members without an owner', async () => {
  const owner = await world.owner();
  const { workspace_id } = owner;
  const member = await world.member(workspace_id, 'member');
  const second = await world.member(workspace_id, 'owner');
  const deleteUser = ({ user_id }: { user_id: string }) => query(sql`delete from users where user_id = ${user_id}`);
  await deleteUser(member);
  await deleteUser(second);
  const alone = await world.person();
  await query(sql`update workspaces set created_by = ${alone.user_id} where workspace_id = ${workspace_id}`);
  await query(sql`update wikis set created_by = ${alone.user_id} where workspace_id = ${workspace_id}`);
  const left = await world.member(workspace_id, 'member');
  await assert.rejects(
    deleteUser(owner),
    NO_OWNER,
    'Their workspace still has a member, so it must be transferred first.',
  );
  await query(sql`delete from memberships where membership_id = ${left.membership_id}`);
  await deleteUser(owner);
  assert.equal(await used(workspace_id), 0, 'No member is left who would need an owner.');

  const another = await world.owner();
  await world.member(another.workspace_id, 'member');
  await query(sql`delete from workspaces where workspace_id = ${another.workspace_id}`);
  assert.equal(await used(another.workspace_id), 0);
});
