import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/until.ts';
import { openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';
import { openCallBuffer } from '../../platform/http/request-log/call-buffer.ts';

const KEPT = 6;
const world = await openWorld({ REQUEST_LOG_SIZE: String(KEPT) });

const pathOf = (workspace_id: string) => `/v1/workspaces/${workspace_id}/audit-events`;

test('an audit event contains the changed fields with old and new values, and no others', async () => {
  const owner = await world.owner();
  const member = await world.member(owner.workspace_id, 'member');
  await owner.patch(`/v1/workspaces/${owner.workspace_id}/members/${member.membership_id}`, { role: 'viewer' });
  await owner.send('DELETE', `/v1/workspaces/${owner.workspace_id}/members/${member.membership_id}`);
  const { body } = await owner.get(pathOf(owner.workspace_id));
  const [made, changed, deleted] = body;
  assert.equal(made.target_id, owner.workspace_id);
  assert.deepEqual(made.changes.before, {});
  assert.equal(made.changes.after.membership_id, owner.membership_id);
  assert.equal(made.changes.after.wiki_id, owner.wiki_id);
  assert.deepEqual([changed.target_kind, changed.target_id], ['organization_membership', member.membership_id]);
  assert.deepEqual(changed.changes, { before: { role: 'member' }, after: { role: 'viewer' } });
  assert.equal(deleted.target_id, member.membership_id);
  assert.equal(deleted.changes.before.user_id, member.user_id);
  assert.deepEqual(deleted.changes.after, {});
});

test('concurrent renames each record the title they replaced and the one they set', async () => {
  const owner = await world.owner();
  const titles = Array.from({ length: 12 }, (_, i) => `Title ${i}`);
  await Promise.all(titles.map((title) => owner.patch(`/v1/wikis/${owner.wiki_id}`, { title })));
  const { body } = await owner.get(`${pathOf(owner.workspace_id)}?type=wiki.renamed`);
  assert.equal(body.length, titles.length);
  const next = new Map<string, string>(
    body.map(({ changes }: { changes: Record<string, { title: string }> }) => [
      changes.before?.title,
      changes.after?.title,
    ]),
  );
  // The records form one chain from the first title to the current one.
  let title = [...next.keys()].find((found) => !titles.includes(found));
  const seen: string[] = [];
  while (title !== undefined && next.has(title)) seen.push((title = next.get(title)) ?? '');
  assert.deepEqual(seen.toSorted(), titles.toSorted());
  const [wiki] = await world.db.query<{ title: string }>(sql`select title from wikis where wiki_id = ${owner.wiki_id}`);
  assert.equal(title, wiki?.title);
});

test('the audit log can be filtered by type, actor and time, and is paged', async () => {
  const owner = await world.owner();
  const admin = await world.member(owner.workspace_id, 'admin');
  for (const title of ['One', 'Two', 'Three']) await owner.patch(`/v1/wikis/${owner.wiki_id}`, { title });
  await admin.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Fourth' });
  const list = async (query: string) => (await owner.get(`${pathOf(owner.workspace_id)}${query}`)).body;
  const typesOf = (events: { type: string }[]) => events.map(({ type }) => type);
  const all = await list('');
  assert.deepEqual(typesOf(all), ['workspace.created', 'wiki.renamed', 'wiki.renamed', 'wiki.renamed', 'wiki.created']);
  assert.deepEqual(typesOf(await list('?type=wiki.created')), ['wiki.created']);
  assert.deepEqual(await list('?order=newest'), all.toReversed());
  assert.deepEqual(await list('?type=nothing'), []);
  assert.deepEqual(await list(`?actor_id=${admin.user_id}`), [all[4]]);
  assert.deepEqual(await list(`?type=wiki.renamed&limit=1&offset=1`), [all[2]]);

  await world.db.query(sql`
    update audit_events set created_at = timestamptz '2026-01-01T00:00:00Z' + (rank - 1) * interval '1 day'
    from (select event_id, rank() over (order by event_id) from audit_events where workspace_id = ${owner.workspace_id}) r
    where r.event_id = audit_events.event_id`);
  const idsOf = (events: { event_id: string }[]) => events.map(({ event_id }) => event_id);
  const ids = idsOf(all);
  assert.deepEqual(idsOf(await list('?after=2026-01-03T00:00:00Z')), ids.slice(2));
  assert.deepEqual(idsOf(await list('?before=2026-01-03T00:00:00Z')), ids.slice(0, 2), 'a range ends before its end');
  const range = `?after=${encodeURIComponent('2026-01-02T02:00:00+02:00')}&before=2026-01-04T00:00:00.000Z`;
  assert.deepEqual(idsOf(await list(range)), ids.slice(1, 3));
});

test('a nonexistent time is 400 in a filter and as the end of a key, and a malformed one is 422 in a filter', async () => {
  const owner = await world.owner();
  const member = await world.member(owner.workspace_id, 'member');
  const wrong = [
    'yesterday',
    '2026-02-30T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-01-01T25:00:00Z',
    '2027-01-01',
    '2027-01-01T00:00:00',
    '2027-01-01T00:00:00+99:00',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+12:00',
    '',
  ];
  for (const time of wrong) {
    for (const name of ['after', 'before']) {
      const path = `${pathOf(owner.workspace_id)}?${name}=${encodeURIComponent(time)}`;
      const { status, body } = await owner.get(path);
      const isTime = /^[0-9-]{10}T[0-9:]{8}(Z|[+-])/.test(time);
      const refusal = isTime ? [400, 'invalid_query'] : [422, 'validation_error'];
      assert.deepEqual([status, body.error], refusal, `${name}=${time}`);
      if (isTime) assert.equal((await member.get(path)).status, 403, 'who may not ask learns nothing of it');
    }
    const made = await owner.post('/v1/me/api-keys', { name: 'Ends', expires_at: time });
    assert.deepEqual([made.status, made.body.error], [400, 'invalid_request'], time);
  }
  const good = await owner.post('/v1/me/api-keys', { name: 'Ends', expires_at: '2999-02-28T23:59:59.5+02:00' });
  assert.deepEqual([good.status, good.body.expires_at], [201, '2999-02-28T21:59:59.500Z']);
});

test('actions of the service itself are logged without an actor', async () => {
  const owner = await world.owner();
  const { body: upload } = await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n' });
  const { body } = await owner.get(pathOf(owner.workspace_id));
  const [created, completed] = body.filter(({ target_id }: { target_id: string }) => target_id === upload.upload_id);
  assert.deepEqual([created.type, created.actor_id], ['upload.created', owner.user_id]);
  assert.deepEqual(
    [completed.type, completed.target_kind, completed.actor_id, completed.credential_kind, completed.credential_id],
    ['upload.completed', 'upload', '', '', ''],
  );
  assert.deepEqual(
    [completed.changes.before.status, completed.changes.after.status, completed.changes.after.source_count],
    ['queued', 'completed', 1],
  );
});

test('a new user is logged with the user as target and actor', async () => {
  const { db } = world;
  const person = await world.person();
  const [record] = await db.query<{ type: string; target_id: string; after: { email?: string } }>(sql`
    select type, target_id, after from audit_events where actor_id = ${person.user_id} and type = 'user.created'`);
  assert.equal(record?.target_id, person.user_id);
  assert.match(record?.after.email ?? '', /@example\.com$/);
});

test('recent API calls are logged for their workspace with request id, status and credential, without secrets', async () => {
  const owner = await world.owner();
  const other = await world.owner();
  const of = `/v1/workspaces/${owner.workspace_id}`;
  const { body: key } = await owner.post(`${of}/api-keys`, { name: 'Import', permissions: ['pages:read'] });
  const program = world.as(key.secret);
  const pages = `/v1/wikis/${owner.wiki_id}/pages`;
  const sent = [
    await program.get('/v1/overview'),
    await program.get(`${pages}/search?query=${key.secret}`),
    await program.get(`${pages}/path/someone%40example.com/diary`),
    await program.get(`${pages}?limit=1000`, { 'x-request-id': 'chosen-by-the-client' }),
    await program.patch(`/v1/wikis/${owner.wiki_id}`, { title: 'No' }),
  ];
  // These requests are logged for another workspace or not at all.
  await other.get(`${of}/members`);
  await world.anonymous.get(pages);
  await world.as(`${key.secret.slice(0, -1)}${key.secret.endsWith('0') ? '1' : '0'}`).get(pages);
  await other.get('/v1/me');

  const log = (query = '') => owner.get(`${of}/request-log${query}`);
  const onlyOfKey = `?credential_id=${key.key_id}`;
  const listed = await until(
    'all calls of the key are in the log',
    async () => (await log(onlyOfKey)).body,
    (calls) => calls.length === sent.length,
  );
  const shapes = listed
    .toReversed()
    .map(({ method, path, status, error }: Record<string, unknown>) => [method, path, status, error]);
  assert.deepEqual(shapes, [
    ['GET', '/v1/overview', 200, ''],
    ['GET', `${pages}/search`, 200, ''],
    ['GET', `${pages}/path/{page_path}`, 404, 'not_found'],
    ['GET', pages, 422, 'validation_error'],
    ['PATCH', `/v1/wikis/${owner.wiki_id}`, 403, 'forbidden'],
  ]);
  const ids = sent.map(({ headers }) => headers.get('x-request-id'));
  assert.deepEqual(listed.map((call: { request_id: string }) => call.request_id).toReversed(), ids);
  assert.equal(listed[1].request_id, 'chosen-by-the-client');
  for (const call of listed) assert.deepEqual([call.credential_kind, call.credential_id], ['key', key.key_id]);
  assert.doesNotMatch(JSON.stringify(listed), /example\.com|ibid_live|query/);

  const [foreign, unauthorized] = [await other.get(`${of}/request-log`), await program.get(`${of}/request-log`)];
  assert.deepEqual([foreign.status, unauthorized.status], [403, 403]);
  const theirs = await other.get(`/v1/workspaces/${other.workspace_id}/request-log`);
  assert.ok(!JSON.stringify(theirs.body).includes(owner.workspace_id), 'a refused call of a stranger is in no log');
});

test('only the latest calls in a workspace are kept, and the list can continue from any of them', async () => {
  const owner = await world.owner();
  const { body: key } = await owner.post(`/v1/workspaces/${owner.workspace_id}/api-keys`, { name: 'Many' });
  const program = world.as(key.secret);
  const ids: (string | null)[] = [];
  const call = async () => ids.push((await program.get(`/v1/wikis/${owner.wiki_id}`)).headers.get('x-request-id'));
  const list = async (query: string) => {
    const path = `/v1/workspaces/${owner.workspace_id}/request-log?credential_id=${key.key_id}&${query}`;
    const { body, headers } = await owner.get(path);
    return { ids: body.map((it: { request_id: string }) => it.request_id), link: headers.get('link') };
  };
  for (let i = 0; i < 4; i += 1) await call();
  await until(
    'the first calls are in the log',
    async () => (await list('')).ids.length,
    (count) => count === 4,
  );
  for (let i = 0; i < 3 * KEPT; i += 1) await call();
  const counted = () =>
    world.db.query<{ ids: string[] }>(sql`
      select array_agg(request_id order by call_id desc) as ids from request_log where workspace_id = ${owner.workspace_id}`);
  const newest = ids.slice(-3);
  await until('the last call is in the log', counted, ([row]) => row?.ids.includes(String(ids.at(-1))) === true);
  const [row] = await counted();
  assert.ok((row?.ids.length ?? 0) <= KEPT, 'never more than are kept');
  const first = await list('limit=2');
  assert.deepEqual(first.ids, newest.slice(-2).toReversed());
  const next = new URL(String(/<([^>]+)>/.exec(first.link ?? '')?.[1]), world.address);
  const { body } = await owner.get(`${next.pathname}${next.search}`);
  assert.equal(body[0].request_id, newest[0]);
});

test('the buffer of unwritten calls is bounded, and one tenant does not use up the room of another', () => {
  const buffer = openCallBuffer<string>(50, 100);
  buffer.add('quiet', 'quiet 1');
  for (let i = 0; i < 1_000; i += 1) for (const loud of ['a', 'b', 'c']) buffer.add(loud, `${loud} ${i}`);
  buffer.add('quiet', 'quiet 2');
  const calls = buffer.take();
  assert.ok(calls.length <= 100, `${calls.length} calls`);
  assert.deepEqual(
    calls.filter((call) => call.startsWith('quiet')),
    ['quiet 1', 'quiet 2'],
  );
  assert.equal(calls.filter((call) => call.startsWith('a')).at(-1), 'a 999');
  for (let i = 0; i < 1_000; i += 1) buffer.add(`tenant ${i}`, `${i}`);
  assert.ok(buffer.take().length <= 100);
});
