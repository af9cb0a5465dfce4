import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { unzipped } from '../../../test/archives.ts';
import { makeFolder } from '../../../test/process.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { makeDatabase, openWorld } from '../../../test/world.ts';
import type { AuditEvent } from '../../organization/audit/schema.ts';
import { ensureUser } from '../../platform/access/user-ctes.ts';
import { newId } from '../../platform/core/ids.ts';
import { sql } from '../../platform/db/sql.ts';
import { readConfig } from '../config.ts';
import { runUserCommand } from './user.ts';

const folder = await makeFolder();
const place = { DATABASE_URL: await makeDatabase(), DATA_DIR: join(folder, 'data') };
const world = await openWorld(place);
const { db } = world;

async function ibid(...args: string[]): Promise<string> {
  const lines: string[] = [];
  await runUserCommand(readConfig(place), args, (line) => lines.push(line));
  return lines.join('\n');
}

async function addMember(workspace_id: string, user_id: string, role: string): Promise<void> {
  await db.query(sql`
    insert into memberships (membership_id, workspace_id, user_id, role)
    values (${newId('mem')}, ${workspace_id}, ${user_id}, ${role})`);
}

async function filesOf(zip: Buffer): Promise<Map<string, string>> {
  return new Map([...(await unzipped(zip))].map(([name, bytes]) => [name, bytes.toString()]));
}

test('user export writes the same archive as the endpoint, readable only by its owner, and audits it', async () => {
  const [acme, ada] = [await world.owner(), await world.owner('ada@example.com')];
  await addMember(acme.workspace_id, ada.user_id, 'member');
  const pages = `/v1/wikis/${acme.wiki_id}/pages`;
  assert.equal((await ada.post(pages, { title: 'Mine', markdown: 'ada wrote this' })).status, 201);
  assert.equal((await acme.post(pages, { title: 'Other', markdown: 'others wrote this' })).status, 201);
  const session = await signedInClient(world, ada.user_id);
  const response = await fetch(`${world.address}/v1/me/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session.token}` },
  });
  const own = await filesOf(Buffer.from(await response.arrayBuffer()));

  const file = join(folder, 'ada.zip');
  assert.match(
    await ibid('export', 'Ada@example.com', file),
    new RegExp(`^${ada.user_id} .* exported their data to ${file}$`),
  );
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const given = await filesOf(await readFile(file));
  assert.match(given.get('revisions.jsonl') ?? '', /ada wrote this/);
  assert.ok(![...given.values()].join().includes('others wrote this'));
  const { credential_kind, actor_id } = await lastEvent('user.exported');
  assert.deepEqual([credential_kind, actor_id], ['command', ada.user_id]);
  // The archive of the command has an additional event, for the earlier export.
  for (const name of ['ibid.json', 'account_events.jsonl']) {
    assert.ok(own.delete(name) && given.delete(name));
  }
  assert.deepEqual([...given], [...own]);

  await assert.rejects(ibid('export', ada.user_id, file), /EEXIST/);
  assert.equal((await filesOf(await readFile(file))).size, own.size + 2, 'a file that is there stays as it was');
});

async function lastEvent(type: string) {
  const [event] = await db.query<Record<'credential_kind' | 'actor_id', string>>(sql`
    select credential_kind, actor_id from audit_events where type = ${type} order by created_at desc, event_id desc limit 1`);
  return event ?? assert.fail(`no record of ${type}`);
}

test('user delete deletes an account of an external issuer, with the same refusals as the endpoint', async () => {
  const acme = await world.owner();
  const profile = { issuer: 'https://issuer.example', subject: 'grace', avatar_url: '', display_name: 'Grace Hopper' };
  const user_id = await ensureUser(db.query, { ...profile, email: 'grace@example.com', email_verified: true });
  await addMember(acme.workspace_id, user_id, 'owner');
  await db.query(sql`update memberships set role = 'member' where user_id = ${acme.user_id}`);
  await db.query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    select ${newId('inv')}, workspace_id, 'grace@example.com', 'member', 'x', created_by, now() + interval '1 day'
    from workspaces where workspace_id <> ${acme.workspace_id} limit 1`);

  const described = await ibid('delete', 'grace@example.com');
  assert.match(
    described,
    /Grace Hopper, grace@example\.com, signs in by https:\/\/issuer\.example\): repeat with --yes/,
  );
  await assert.rejects(ibid('delete', user_id, '--yes'), /nothing was deleted.*You are the only owner/s);
  await db.query(sql`
    update memberships set role = 'owner' where workspace_id = ${acme.workspace_id} and user_id = ${acme.user_id}`);
  assert.match(await ibid('delete', user_id, '--yes'), /the account was deleted$/);
  const [left] = await db.query<{ n: number }>(sql`
    select (select count(*) from users where user_id = ${user_id}) + (select count(*) from identities where user_id = ${user_id})
      + (select count(*) from memberships where user_id = ${user_id})
      + (select count(*) from invitations where email = 'grace@example.com') as n`);
  assert.equal(Number(left?.n), 0);
  assert.equal((await lastEvent('user.deleted')).credential_kind, 'command');
  const { body } = await acme.get(
    `/v1/workspaces/${acme.workspace_id}/audit-events?type=organization_membership.deleted`,
  );
  assert.deepEqual(
    (body as AuditEvent[]).map(({ credential_kind }) => credential_kind),
    ['command'],
  );
});

test('user delete says what remains if others may have the address, and takes an id if it is ambiguous', async () => {
  const email = 'both@example.com';
  const claimed = { issuer: 'https://issuer.example', avatar_url: '', display_name: '', email, email_verified: false };
  const first = await ensureUser(db.query, { ...claimed, subject: 'one' });
  const second = await ensureUser(db.query, { ...claimed, subject: 'two' });
  await assert.rejects(ibid('delete', email, '--yes'), new RegExp(`several users[\\s\\S]*${first}[\\s\\S]*${second}`));
  assert.match(await ibid('delete', first, '--yes'), /invitations to it, stay: another user has this address/);
  assert.match(await ibid('delete', email, '--yes'), /stay: this address was never verified/);
  await assert.rejects(ibid('delete', second, '--yes'), /no user /);
  for (const args of [[], ['export', second], ['delete'], ['rename', second], ['delete', second, '--now']]) {
    await assert.rejects(ibid(...args), /ibid user export USER FILE/);
  }
});

test('user merge joins two users, and names obstacles', async () => {
  const owner = await world.owner();
  const issuer = { issuer: 'https://issuer.example', avatar_url: '', display_name: 'Vera', email_verified: true };
  const second = await ensureUser(db.query, { ...issuer, subject: 'vera', email: 'vera.second@example.com' });
  const other = await world.owner();
  await addMember(other.workspace_id, second, 'member');
  assert.match(await ibid('merge', owner.user_id, second), /will be merged into[\s\S]*repeat with --yes/);
  assert.match(await ibid('merge', owner.user_id, 'vera.second@example.com', '--yes'), /was merged into/);
  const identities = await db.query<{ subject: string }>(sql`
    select subject from identities where user_id = ${owner.user_id} and issuer = 'https://issuer.example'`);
  assert.deepEqual(identities, [{ subject: 'vera' }]);
  assert.equal((await owner.get('/v1/workspaces')).body.length, 2);
  assert.equal((await lastEvent('user.merged')).credential_kind, 'command');

  await assert.rejects(
    ibid('merge', owner.user_id, other.user_id, '--yes'),
    /nothing was merged: both are members|nothing was merged: the second user has written/,
  );
  await assert.rejects(ibid('merge', owner.user_id, owner.user_id, '--yes'), /both are the same user/);
  await assert.rejects(ibid('merge', owner.user_id, second, '--yes'), /no user /);
  await assert.rejects(ibid('merge', owner.user_id), /ibid user merge KEPT MERGED/);
  assert.equal((await owner.get('/v1/me')).body.user_id, owner.user_id);
});

test("user email changes only this user's address, and says which user already has it", async () => {
  const [grace, other] = [await world.person('grace.old@example.com'), await world.person('taken@example.com')];
  assert.match(await ibid('email', 'grace.old@example.com', 'grace.new@example.com'), /repeat with --yes to give this/);
  assert.equal((await grace.get('/v1/me')).body.email, 'grace.old@example.com');
  await assert.rejects(
    ibid('email', grace.user_id, 'taken@example.com', '--yes'),
    /nothing was changed.*Another account/s,
  );
  await assert.rejects(ibid('email', grace.user_id, 'two words', '--yes'), /not a single plain e-mail address/);
  await assert.rejects(ibid('email', grace.user_id), /ibid user email USER ADDRESS/);
  assert.match(await ibid('email', grace.user_id, 'Grace.New@example.com', '--yes'), /is now grace\.new@example\.com$/);
  assert.equal((await (await signedInClient(world, grace.user_id)).get('/v1/me')).body.email, 'grace.new@example.com');
  assert.equal((await other.get('/v1/me')).body.email, 'taken@example.com');
  const { credential_kind, actor_id } = await lastEvent('user.email_changed');
  assert.deepEqual([credential_kind, actor_id], ['command', grace.user_id]);
});
