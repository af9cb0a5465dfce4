import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import type { Client, Owner } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await sharedWorld();

const fresh = (word: string) => `${word}-${randomUUID().slice(0, 12)}`;
const rename = (client: Client, { workspace_id }: Pick<Owner, 'workspace_id'>, body: object) =>
  client.patch(`/v1/workspaces/${workspace_id}`, body);
const slugOf = async (owner: Owner): Promise<string> => (await owner.get('/v1/workspaces')).body[0].slug;
const lookup = (client: Client, slug: string) => client.get(`/v1/workspaces/lookup?slug=${slug}`);

/** Opens a path in the user's browser. */
async function opened(client: Client, path: string) {
  const { body } = await (await signedInClient(world, client.user_id)).post('/v1/auth/browser');
  const headers = { accept: 'text/html', cookie: `ibid=${body.browser_secret}` };
  const { status, headers: answered } = await world.anonymous.send('GET', path, { headers, redirect: 'manual' });
  return [status, answered.get('location')];
}

test('owners and admins change name, slug or both of a workspace, and the audit log has the changes', async () => {
  const owner = await world.owner();
  const admin = await world.member(owner.workspace_id, 'admin');
  const [was] = (await owner.get('/v1/workspaces')).body;
  const [first, second] = [fresh('acme'), fresh('acme')];
  const named = await rename(owner, owner, { name: '  Acme & Söhne ' });
  assert.deepEqual([named.status, named.body], [200, { ...was, name: 'Acme & Söhne' }]);
  const moved = await rename(admin, owner, { slug: first });
  assert.deepEqual([moved.body.name, moved.body.slug, moved.body.role], ['Acme & Söhne', first, 'admin']);
  assert.equal((await rename(owner, owner, { name: 'Acme', slug: second })).body.slug, second);
  assert.deepEqual((await rename(owner, owner, {})).body, { ...was, name: 'Acme', slug: second });
  const events = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events?type=workspace.renamed`);
  assert.deepEqual(events.body.map(({ changes }: { changes: unknown }) => changes).slice(0, 3), [
    { before: { name: was.name }, after: { name: 'Acme & Söhne' } },
    { before: { slug: was.slug }, after: { slug: first } },
    { before: { name: 'Acme & Söhne', slug: first }, after: { name: 'Acme', slug: second } },
  ]);
});

test('other members cannot rename a workspace, and names and slugs obey the rules of a new workspace', async () => {
  const owner = await world.owner();
  const slug = await slugOf(owner);
  const other = await world.owner();
  assert.equal((await rename(world.anonymous, owner, { name: 'x' })).status, 401);
  for (const role of ['developer', 'billing', 'member', 'viewer'] as const) {
    assert.equal((await rename(await world.member(owner.workspace_id, role), owner, { name: 'x' })).status, 403, role);
  }
  assert.equal((await rename(other, owner, { name: 'x' })).status, 403);
  const unknown = `${owner.workspace_id.slice(0, -3)}zzz`;
  assert.equal((await rename(owner, { workspace_id: unknown }, { name: 'x' })).status, 404);
  const refused: [object, number, string][] = [
    [{ name: 5 }, 422, 'validation_error'],
    [{ name: '' }, 422, 'validation_error'],
    [{ slug: null }, 422, 'validation_error'],
    [{ name: '   ' }, 400, 'invalid_name'],
    [{ name: 'x'.repeat(101) }, 400, 'invalid_name'],
    [{ slug: '' }, 400, 'invalid_slug'],
    [{ slug: 'a--b' }, 400, 'invalid_slug'],
    [{ slug: '../x' }, 400, 'invalid_slug'],
    [{ name: 'New', slug: 'admin' }, 409, 'slug_taken'],
    [{ name: 'New', slug: await slugOf(other) }, 409, 'slug_taken'],
  ];
  for (const [body, status, code] of refused) {
    const answer = await rename(owner, owner, body);
    assert.deepEqual([answer.status, answer.body.error], [status, code], JSON.stringify(body));
  }
  const [{ name, slug: still }] = (await owner.get('/v1/workspaces')).body;
  assert.deepEqual([still, name === 'New'], [slug, false], 'a refused request changes nothing');
});

test('only one of several workspaces gets a slug requested concurrently, and the others are told that it is taken', async () => {
  const owners = await Promise.all(Array.from({ length: 6 }, () => world.owner()));
  const slug = fresh('wanted');
  const answers = await Promise.all(owners.map((owner) => rename(owner, owner, { slug })));
  const codes = answers.map(({ status, body }) => (status === 200 ? 'ok' : `${status} ${body.error}`));
  assert.deepEqual(codes.toSorted(), [...Array(5).fill('409 slug_taken'), 'ok']);
});

test('every former address of a workspace redirects its members to the current one, and shows strangers nothing', async () => {
  const owner = await world.owner();
  const stranger = await world.owner();
  const first = await slugOf(owner);
  const [second, third] = [fresh('second'), fresh('third')];
  await rename(owner, owner, { slug: second });
  await rename(owner, owner, { slug: third });
  for (const former of [first, second]) {
    assert.equal((await lookup(owner, former)).body.slug, third);
    assert.equal((await lookup(stranger, former)).status, 404);
    assert.deepEqual(await opened(owner, `/${former}/main?query=x`), [307, `/${third}/main?query=x`]);
    assert.deepEqual(await opened(owner, `/${former}/-/general`), [307, `/${third}/-/general`]);
    assert.deepEqual(await opened(stranger, `/${former}/main`), [404, null]);
  }
  assert.equal((await lookup(world.anonymous, third)).status, 401);
  assert.equal((await owner.get('/v1/workspaces/lookup')).status, 422);
  assert.deepEqual(await opened(owner, `/${third}/no-such-wiki`), [404, null]);
  // Back to the first slug: the latest one redirects to it, too.
  await rename(owner, owner, { slug: first });
  assert.deepEqual(await opened(owner, `/${third}/main`), [307, `/${first}/main`]);
  assert.deepEqual((await opened(owner, `/${first}/main`))[0], 200);
});

test('a former slug is reserved until its workspace has had ten newer ones', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  const old = await slugOf(owner);
  await rename(owner, owner, { slug: fresh('next') });
  for (let i = 0; i < 9; i += 1) await rename(owner, owner, { slug: fresh('next') });
  const refused = [
    await rename(other, other, { slug: old }),
    await other.post('/v1/workspaces', { name: 'Another', slug: old }),
  ];
  assert.deepEqual(
    refused.map(({ body }) => body.error),
    ['slug_taken', 'slug_taken'],
  );
  assert.equal((await lookup(owner, old)).body.workspace_id, owner.workspace_id);
  await rename(owner, owner, { slug: fresh('eleventh') });
  assert.equal((await lookup(owner, old)).status, 404);
  assert.equal((await rename(other, other, { slug: old })).body.slug, old);
});

test('the database refuses a slug that leads to another workspace, even without a check by the caller', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  const old = await slugOf(owner);
  await rename(owner, owner, { slug: fresh('next') });
  const taken = world.db.query(sql`update workspaces set slug = ${old} where workspace_id = ${other.workspace_id}`);
  await assert.rejects(taken, { code: '23505', constraint: 'workspaces_slug_key' });
});

test('a key of one workspace cannot look up another', async () => {
  const owner = await world.owner(`${randomUUID()}@example.com`);
  const second = (await owner.post('/v1/workspaces', { name: 'Second' })).body;
  const [{ email }] = [(await owner.get('/v1/me')).body];
  const key = await world.workspaceKey(email, owner.workspace_id);
  assert.equal((await lookup(key, await slugOf(owner))).status, 200);
  assert.equal((await lookup(key, second.slug)).status, 404);
});
