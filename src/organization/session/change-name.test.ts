import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await sharedWorld();

test("a name is trimmed and otherwise unchanged, and only the user's own name changes", async () => {
  const [person, other] = [await world.person(), await world.person()];
  const before = (await other.get('/v1/me')).body;
  const changed = await person.patch('/v1/me', { display_name: '  Ada <b>Lovelace</b> 🦉 ', email: 'x@example.com' });
  assert.equal(changed.status, 200);
  assert.equal(changed.body.display_name, 'Ada <b>Lovelace</b> 🦉');
  const { display_name, email } = (await person.get('/v1/me')).body;
  assert.equal(display_name, changed.body.display_name);
  assert.notEqual(email, 'x@example.com');
  assert.deepEqual((await other.get('/v1/me')).body, before);
  assert.equal((await person.patch('/v1/me', { display_name: 'x'.repeat(101) })).body.error, 'invalid_name');
});

test('users who sign in at an issuer cannot change their name here', async () => {
  const person = await world.person();
  await world.db.query(sql`
    insert into identities (issuer, subject, user_id) values ('https://issuer.example', ${person.user_id}, ${person.user_id})`);
  const refused = await person.patch('/v1/me', { display_name: 'Somebody else' });
  assert.equal(refused.status, 403);
  assert.match(refused.body.message, /change your name there/);
  const records = await world.db.query(sql`
    select from audit_events where type = 'user.updated' and target_id = ${person.user_id}`);
  assert.equal(records.length, 0, 'what was refused left no record');
});

test('a key with limited permissions cannot change the user', async () => {
  const person = await world.owner();
  const { body } = await person.post('/v1/me/api-keys', { name: 'narrow', permissions: ['pages:read'] });
  assert.equal((await world.as(body.secret).patch('/v1/me', { display_name: 'x' })).status, 403);
});
