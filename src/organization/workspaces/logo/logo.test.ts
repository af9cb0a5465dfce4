import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScheduled } from '../../../../test/jobs.ts';
import { exif, JPEG, png } from '../../../../test/pictures.ts';
import { type Client, type Owner, openWorld } from '../../../../test/world.ts';
import { deleteUnreferencedBlobs } from '../../../platform/blobs/delete-unreferenced-blobs.job.ts';
import { sql } from '../../../platform/db/sql.ts';

const world = await openWorld();

type Of = Pick<Owner, 'workspace_id'>;
const pathOf = ({ workspace_id }: Of) => `/v1/workspaces/${workspace_id}/logo`;
const put = (client: Client, of: Of, bytes: Buffer) =>
  client.send('PUT', pathOf(of), { body: new Uint8Array(bytes), headers: { 'content-type': 'image/png' } });
const remove = (client: Client, of: Of) => client.send('DELETE', pathOf(of));
/** Fetches the logo as a member's browser does. */
async function shown({ token }: { token?: string | undefined }, of: Of, headers: Record<string, string> = {}) {
  const response = await fetch(world.address + pathOf(of), {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), headers: response.headers, bytes };
}

test('a workspace shows its first letter until an owner or admin sets a logo, and again after the logo is removed', async () => {
  const owner = await world.owner();
  const admin = await world.member(owner.workspace_id, 'admin');
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const named = await owner.patch(`/v1/workspaces/${owner.workspace_id}`, { name: '“élan” <script>' });
  assert.equal(named.status, 200, JSON.stringify(named.body));
  const drawn = await shown(viewer, owner);
  assert.deepEqual([drawn.status, drawn.type], [200, 'image/svg+xml']);
  assert.match(drawn.bytes.toString(), /^<svg [^>]*>.*<text [^>]*>É<\/text><\/svg>$/);
  assert.ok(!drawn.bytes.toString().includes('script'));
  assert.equal(drawn.headers.get('cache-control'), 'private, max-age=300');
  assert.equal(drawn.headers.get('content-security-policy'), "default-src 'none'; sandbox; frame-ancestors 'none'");
  assert.equal((await shown(viewer, owner, { 'if-none-match': drawn.headers.get('etag') ?? '' })).status, 304);
  const part = await shown(viewer, owner, { range: 'bytes=1-3' });
  assert.deepEqual([part.status, part.bytes.toString()], [206, 'svg']);

  assert.equal((await put(admin, owner, png({ grey: 3 }))).status, 204);
  const set = await shown(viewer, owner);
  assert.deepEqual([set.type, set.bytes], ['image/png', png({ grey: 3 })]);
  assert.equal((await remove(owner, owner)).status, 204);
  assert.equal((await remove(owner, owner)).status, 204, 'none is left to remove');
  assert.deepEqual((await shown(viewer, owner)).bytes, drawn.bytes);
  const { body: events } = await owner.get(
    `/v1/workspaces/${owner.workspace_id}/audit-events?type=workspace.logo_changed`,
  );
  assert.equal(events.length, 2, 'a removal of none changes nothing');
});

test('a logo is reduced to the picture: metadata is dropped, and other files are refused without a change', async () => {
  const owner = await world.owner();
  assert.equal(
    (await put(owner, owner, Buffer.concat([JPEG.subarray(0, 2), exif(1, 'GPS'), JPEG.subarray(2)]))).status,
    204,
  );
  for (const [bytes, status] of [
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 415],
    [Buffer.alloc(0), 415],
    [png().subarray(0, 40), 400],
    [Buffer.concat([png(), Buffer.alloc(2 ** 20)]), 413],
  ] as const) {
    assert.equal((await put(owner, owner, bytes)).status, status);
  }
  const { type, bytes } = await shown(owner, owner);
  assert.deepEqual([type, bytes], ['image/jpeg', JPEG]);
});

test('only members see the logo, and only owners and admins change it', async () => {
  const owner = await world.owner();
  const stranger = await world.owner('stranger@example.com');
  const member = await world.member(owner.workspace_id, 'member');
  await put(owner, owner, png({ grey: 5 }));
  assert.equal((await put(member, owner, png({ grey: 6 }))).status, 403);
  assert.equal((await remove(member, owner)).status, 403);
  for (const answer of [
    await put(stranger, owner, png()),
    await remove(stranger, owner),
    await stranger.get(pathOf(owner)),
  ])
    assert.equal(answer.status, 403);
  assert.equal((await world.anonymous.get(pathOf(owner))).status, 401);
  assert.deepEqual((await shown(member, owner)).bytes, png({ grey: 5 }));
});

test('a replaced logo is deleted from the file store, unless another workspace uses the same file', async () => {
  const [one, other] = [await world.owner('one@example.com'), await world.owner('other@example.com')];
  const [replaced, common] = [png({ grey: 41 }), png({ grey: 42 })];
  await put(one, one, replaced);
  await put(one, one, common);
  await put(other, other, common);
  const collected = async () => {
    await world.db.query(sql`update blobs set kept_at = kept_at - interval '25 hours'`);
    await runScheduled(world, deleteUnreferencedBlobs);
    return (await world.db.query(sql`select sha256 from blobs`)).length;
  };
  const before = (await world.db.query(sql`select sha256 from blobs`)).length;
  const after = await collected();
  assert.ok(after < before);
  await remove(one, one);
  assert.equal(await collected(), after);
  assert.deepEqual((await shown(other, other)).bytes, common);
});
