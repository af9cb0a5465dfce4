import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { pino } from 'pino';
import { ENDPOINTS, TABLES } from '../src/app.ts';
import { sha256 } from '../src/platform/core/secrets.ts';
import type { Row } from '../src/platform/db/db.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import { type Endpoint, isIdempotent } from '../src/platform/http/endpoint.ts';
import { cleanUp } from './clean-up.ts';
import { startMailServer } from './mail-server.ts';
import type { RawAnswer } from './raw-http.ts';
import { type Ids, nameOf, pathParams, success, validRequest } from './requests.ts';
import { type Actor, openTenants } from './tenants.ts';

/**
 * The audit log's record of every write and the process log's line for every refusal. No code here names an endpoint.
 */
const mailServer = await startMailServer();
cleanUp(() => mailServer.stop());
const lines: string[] = [];
const log = pino({ level: 'trace', base: undefined }, { write: (line: string) => lines.push(line) });
const tenants = await openTenants({ SMTP_URL: mailServer.url, MAIL_FROM: 'wiki@example.com' }, { log });
const { world, a, unknown, fresh, owner, roles, stranger, tokenFor, key } = tenants;
const { db } = world;

const tableOf = (kind: string) => TABLES.find(({ audit }) => audit?.includes(kind));

/**
 * Returns whether only the row's owner can see it. Its audit record then says only that it was written, and names the
 * row and its wiki.
 */
const isPrivate = (kind: string) => tableOf(kind)?.of === 'member';

/** Writing endpoints that succeed in a world with users. */
const WRITING = ENDPOINTS.filter((endpoint) => endpoint.event && success(endpoint) < 400);
const secrets = new Set<string>();

interface Send {
  answer: RawAnswer;
  request_id: string;
}

async function send(endpoint: Endpoint, ids: Ids, token: string | undefined, headers = {}): Promise<Send> {
  const request_id = `audit-${randomUUID()}`;
  const request = validRequest(endpoint, ids, token);
  request.headers = { ...request.headers, 'x-request-id': request_id, ...headers };
  return { answer: await tenants.send(request, endpoint), request_id };
}

/** Returns whether an endpoint acts on the caller. A widget's endpoint counts like the endpoint that it serves. */
const isAboutCaller = ({ access }: Endpoint) =>
  access.on === 'caller' || access.on === 'anyone' || (access.on === 'widget' && access.instead?.on === 'caller');

/**
 * Returns an actor who may call the endpoint and whose request changes something: a new user for endpoints on the
 * caller.
 */
async function permittedActor(endpoint: Endpoint): Promise<Actor> {
  if (endpoint.access.on === 'widget') return { ...owner, token: await tokenFor(endpoint, owner) };
  if (!isAboutCaller(endpoint)) return owner;
  const { user_id, token } = await world.person();
  const person = { name: 'a new person', user_id, token: String(token) };
  return { ...person, token: await tokenFor(endpoint, person) };
}

async function credentialOf(endpoint: Endpoint, token: string): Promise<[kind: string, id: unknown]> {
  if (endpoint.access.on === 'anyone') return ['none', null];
  // The key or session that issued the widget's token.
  if (endpoint.access.on === 'widget') return ['widget', decodeJwt(token).key];
  const hash = sha256(token);
  const [key] = await db.query(sql`select key_id from api_keys where secret_hash = ${hash}`);
  if (key) return ['key', key.key_id];
  const [session] = await db.query(sql`select session_id from sessions where access_hash = ${hash}`);
  return ['session', session?.session_id];
}

function recordsOf(request_id: string): Promise<Row[]> {
  return db.query(sql`select * from audit_events where request_id = ${request_id}`);
}

async function rowsOf(kind: string): Promise<Map<unknown, Row>> {
  const { name: table, id } = tableOf(kind) ?? {};
  assert.ok(table && id, `a tables.ts must say which table has audit: ['${kind}'], and its id column`);
  // jsonb gives the keys the order, and the times the format, that the audit record has.
  const rows = await db.query<{ row: Row }>(sql`
    select to_jsonb(t) - (select coalesce(array_agg(column_name::text), '{}') from information_schema.columns
      where table_schema = 'public' and table_name = ${table} and (data_type = 'bytea' or is_generated = 'ALWAYS')) as row
    from ${raw(table)} t`);
  return new Map(rows.map(({ row }) => [row[id], row]));
}

/** Columns that a worker may change in a new row before the test reads it. */
const WRITTEN_BY_WORKERS = ['status', 'attempt', 'failures', 'progress', 'updated_at', 'started_at', 'worker_id'];

/**
 * Columns that a record omits: times that equal the record's own time, the id of an avatar, which is a secret, and the
 * number of a restriction.
 */
const NOT_RECORDED = ['deleted_at', 'deleted_from', 'avatar_id', 'retention_changed_at', 'held_since', 'acl_no'];

/**
 * Sets or lifts the workspace's legal hold. Only endpoints that lift a hold need one; for the others it would refuse
 * deletions.
 */
async function setHold(isHeld: boolean): Promise<void> {
  await db.query(sql`
    update workspaces set held_since = case when ${isHeld}::boolean then now() end, held_by = case when ${isHeld} then ${owner.user_id}::text end,
      hold_reason = case when ${isHeld} then 'A case.' end
    where workspace_id = ${a.workspace_id} and (held_since is not null) <> ${isHeld}`);
}

for (const endpoint of WRITING) {
  const kind = String(endpoint.event).split('.')[0] ?? '';

  test(`${nameOf(endpoint)} leaves exactly one record with actor, credential, target and changes`, async () => {
    const actor = await permittedActor(endpoint);
    const ids = await fresh(endpoint, actor);
    await setHold(endpoint.path.endsWith('/lift'));
    // An earlier test of a widget may have made the same changes.
    await db.query(sql`update memberships set role = 'member' where membership_id = ${ids.membership_id}`);
    await db.query(sql`update workspaces set widget_origins = '{}' where workspace_id = ${a.workspace_id}`);
    await db.query(
      sql`update users set display_name = 'As it was', time_zone = '', language = '' where user_id = ${owner.user_id}`,
    );
    if (endpoint.path.endsWith('/avatar')) {
      await db.query(sql`
        update users set avatar_id = user_id, avatar_sha256 = ${'0'.repeat(64)}, avatar_type = 'image/gif', avatar_bytes = 1
        where user_id = ${actor.user_id}`);
    }
    if (endpoint.path.endsWith('/logo')) {
      await db.query(sql`
        update workspaces set logo_sha256 = ${'0'.repeat(64)}, logo_type = 'image/gif', logo_bytes = 1
        where workspace_id = ${a.workspace_id}`);
    }
    const rowsBefore = await rowsOf(kind);
    // Read before the write, which may end the credential.
    const credential = await credentialOf(endpoint, actor.token);
    const { answer, request_id } = await send(endpoint, ids, actor.token);
    assert.equal(answer.status, endpoint.status ?? 200, answer.text);
    if (typeof answer.body?.secret === 'string') secrets.add(answer.body.secret);
    const rowsAfter = await rowsOf(kind);

    const records = await recordsOf(request_id);
    assert.equal(records.length, 1, 'a write leaves one record, however many statements it takes');
    const record = records[0] as Row & { before: Row; after: Row };
    assert.equal(record.type, endpoint.event);
    assert.equal(record.target_kind, kind);
    // Without a credential the record names the user that the request turned out to be for, if known.
    const target = endpoint.access.on === 'anyone' ? (await rowsOf(kind)).get(record.target_id) : undefined;
    assert.equal(record.actor_id, endpoint.access.on === 'anyone' ? (target?.user_id ?? null) : actor.user_id);
    assert.deepEqual([record.credential_kind, record.credential_id], credential);
    assert.equal(record.address, '127.0.0.1');
    if (!isAboutCaller(endpoint)) assert.equal(record.workspace_id, a.workspace_id);

    const was = rowsBefore.get(record.target_id);
    const is = rowsAfter.get(record.target_id);
    assert.ok(was ?? is, `the target of the record must be a ${kind}, but is "${record.target_id}"`);
    if (isPrivate(kind)) {
      const named = [...Object.keys(record.before), ...Object.keys(record.after)];
      assert.deepEqual(new Set(named), new Set([tableOf(kind)?.id, 'wiki_id']));
      return;
    }
    const content = tableOf(kind)?.content ?? [];
    const quoted = content.filter((name) => name in record.before || name in record.after);
    assert.deepEqual(quoted, [], 'a record must not quote what its reader may not see');
    assert.notDeepEqual(record.before, record.after, 'the record must contain the changes');
    assert.deepEqual(Object.keys(record.before).length > 0, was !== undefined, 'before: the previous state, if any');
    const isGone = endpoint.method === 'DELETE';
    assert.deepEqual(Object.keys(record.after).length > 0, !isGone, 'after: the new state, if any');
    for (const [name, value] of Object.entries(record.before)) {
      if (was && name in was && was[name] !== null) assert.deepEqual(value, was[name], `${name} as it was`);
    }
    const hasBegun = record.after.status === 'queued' && is?.status !== 'queued';
    for (const [name, value] of Object.entries(record.after)) {
      if (hasBegun && WRITTEN_BY_WORKERS.includes(name)) continue;
      // A null in a row is an empty value in a record.
      if (is && name in is && is[name] !== null) assert.deepEqual(value, is[name], `${name} as it became`);
    }
    if (!was || !is || isGone) return;
    const changed = Object.keys(is).filter((name) => JSON.stringify(is[name]) !== JSON.stringify(was[name]));
    for (const name of changed.filter((it) => !NOT_RECORDED.includes(it) && !content.includes(it)))
      assert.ok(name in record.after, `${name} changed, so the record must contain it`);
    for (const name of Object.keys(record.before)) {
      assert.notDeepEqual(record.after[name], record.before[name], `${name} did not change, so no record contains it`);
    }
  });

  test(`${nameOf(endpoint)} leaves no record when it is refused, and a single one when the request is retried`, async () => {
    for (const token of [undefined, stranger.token, roles.viewer.token]) {
      // Endpoints that accept a missing credential are covered by the tests of their feature.
      const isAllowed = token === roles.viewer.token && isPrivate(kind);
      if (isAllowed || endpoint.access.on === 'anyone' || (endpoint.access.on === 'caller' && token !== undefined))
        continue;
      const refused = await send(endpoint, a, token);
      assert.ok(refused.answer.status === 401 || refused.answer.status === 403, refused.answer.text);
      assert.deepEqual(await recordsOf(refused.request_id), []);
    }
    // A caller who has signed out cannot retry the request.
    const endsItself = endpoint.access.on === 'caller' && endpoint.access.session;
    if (!isIdempotent(endpoint) || endsItself) return;
    const actor = await permittedActor(endpoint);
    await setHold(endpoint.path.endsWith('/lift'));
    const request = validRequest(endpoint, await fresh(endpoint, actor), actor.token);
    const request_id = `audit-${randomUUID()}`;
    request.headers = { ...request.headers, 'x-request-id': request_id, 'idempotency-key': randomUUID() };
    const answers = [await tenants.send(request, endpoint)];
    // The first request may have changed the role that the actor needs.
    await fresh(endpoint, actor);
    answers.push(await tenants.send(request, endpoint));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [endpoint.status ?? 200, endpoint.status ?? 200],
    );
    assert.equal((await recordsOf(request_id)).length, 1);
  });
}

interface LogLine {
  level: number;
  request_id?: string;
  endpoint?: string;
  status?: number;
  code?: string;
  address?: string;
  actor_id?: string;
}

function linesOf(request_id: string): LogLine[] {
  return lines.filter((line) => line.includes(request_id)).map((line) => JSON.parse(line));
}

const WARN = 40;

for (const endpoint of ENDPOINTS.filter(({ access }) => access.on !== 'anyone')) {
  test(`${nameOf(endpoint)} logs each refusal exactly once, with the caller if known`, async () => {
    const [container] = pathParams(endpoint);
    const onObject = endpoint.access.on === 'workspace' || endpoint.access.on === 'wiki';
    const dead = await key(owner.user_id, { dead: 'revoked' });
    const asked: [Send, number, string | undefined][] = [
      [await send(endpoint, a, undefined), 401, undefined],
      [await send(endpoint, a, dead), 401, undefined],
    ];
    if (onObject) asked.push([await send(endpoint, a, stranger.token), 403, stranger.user_id]);
    if (onObject && container) {
      const nothing = { ...a, [container]: unknown[container] ?? '' };
      asked.push([await send(endpoint, nothing, stranger.token), 404, stranger.user_id]);
    }
    if (endpoint.access.on === 'widget') {
      asked.push([await send(endpoint, a, await tokenFor(endpoint, stranger)), 403, stranger.user_id]);
    }
    for (const [{ answer, request_id }, status, actor_id] of asked) {
      assert.equal(answer.status, status, answer.text);
      const [line, ...more] = linesOf(request_id);
      assert.deepEqual(more, [], 'one refusal is one log line');
      assert.deepEqual(
        { ...line, level: Number(line?.level) >= WARN, time: undefined, msg: undefined, credential_id: undefined },
        {
          level: status !== 404,
          time: undefined,
          msg: undefined,
          credential_id: undefined,
          request_id,
          endpoint: `${endpoint.method} ${endpoint.path.replace(/\*.*/, '*')}`,
          status,
          code: answer.body.error,
          address: '127.0.0.1',
          ...(actor_id && { actor_id, credential_kind: endpoint.access.on === 'widget' ? 'widget' : 'key' }),
        },
      );
    }
  });
}

test('a refusal by the endpoint itself also logs the caller', async () => {
  for (const [actor, membership_id, role] of [
    [roles.admin, a.membership_id, 'owner'],
    [owner, unknown.membership_id, 'viewer'],
  ] as const) {
    const request_id = `audit-${randomUUID()}`;
    const answer = await tenants.send({
      method: 'PATCH',
      path: `/v1/workspaces/${a.workspace_id}/members/${membership_id}`,
      headers: {
        authorization: `Bearer ${actor.token}`,
        'content-type': 'application/json',
        'x-request-id': request_id,
      },
      body: JSON.stringify({ role }),
    });
    const [line, ...more] = linesOf(request_id);
    assert.deepEqual(more, []);
    assert.deepEqual([line?.status, line?.code, line?.actor_id], [answer.status, answer.body.error, actor.user_id]);
  }
});

test('no log and no record contains a credential, the secret of a link, or the hash of either', async () => {
  for (const actor of [owner, stranger, ...Object.values(roles)]) secrets.add(actor.token);
  for (const { raw: message } of mailServer.messages) {
    for (const [, secret] of message.replaceAll('=\r\n', '').matchAll(/token=(?:3D)?([A-Za-z0-9_-]{20,})/g)) {
      secrets.add(String(secret));
    }
  }
  for (const endpoint of ENDPOINTS.filter(({ access }) => access.on === 'widget')) {
    const token = await tokenFor(endpoint, owner);
    secrets.add(token);
    await send(endpoint, a, token);
    await send(endpoint, a, `${token}x`);
  }
  assert.ok(secrets.size > 10 && mailServer.messages.length > 0, 'there must be secrets to search for');
  const records = JSON.stringify(await db.query(sql`select * from audit_events`));
  const places = { 'the log': lines.join(''), 'the audit log': records };
  for (const secret of secrets) {
    const hash = sha256(secret);
    for (const form of [secret, hash.toString('hex'), hash.toString('base64'), hash.toString('base64url')]) {
      for (const [place, text] of Object.entries(places)) assert.ok(!text.includes(form), `${place} contains a secret`);
    }
  }
});
