import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { policiesOf } from '../src/platform/access/limits/rate-limit-policies.ts';
import { networkOf } from '../src/platform/access/network.ts';
import { newToken } from '../src/platform/access/token.ts';
import { sql } from '../src/platform/db/sql.ts';
import { pruneOldRateLimitCounts } from '../src/platform/jobs/prune-rate-limit-counts.job.ts';
import { everyNth } from './extent.ts';
import { runScheduled } from './jobs.ts';
import { checkAnswer, checkDeclared } from './leak-patterns.ts';
import { type RawAnswer, sendRaw } from './raw-http.ts';
import { nameOf, success, validRequest } from './requests.ts';
import { openTenants } from './tenants.ts';
import { until } from './until.ts';
import { type Answer, type Client, makeDatabase, type Owner, openWorld, type World } from './world.ts';

/** Rates with windows that do not end during a test. */
const RATES = {
  // Many services share one PostgreSQL here.
  DATABASE_CONNECTIONS: '3',
  RATE_LIMITS: 'on',
  RATE_LIMIT_GENERAL: '40/24h',
  RATE_LIMIT_SEARCH: '10/24h',
  RATE_LIMIT_UPLOADS: '3/24h',
  RATE_LIMIT_INVITATIONS: '4/24h',
  TRUSTED_PROXIES: '127.0.0.1,::1',
};
const GENERAL = 40;

/** Users are created by an unlimited process, not by the tested one. */
const DATABASE_URL = await makeDatabase();
const maker = await openWorld({ DATABASE_URL, ROLE: 'web' });
const world = await openWorld({ DATABASE_URL, ...RATES });

/** Two tenants for calls of every endpoint, and a service that allows one request per network. */
const tenants = await openTenants({
  RATE_LIMITS: 'on',
  RATE_LIMIT_INVITATIONS: '9999/h',
  RATE_LIMIT_USER_INVITATIONS: '9999/h',
  RATE_LIMIT_ADDRESS_INVITATIONS: '9999/h',
  RATE_LIMIT_NEW_WORKSPACE_INVITATIONS: '9999/h',
  RATE_LIMIT_WORKSPACES: '9999/h',
});
const strict = await openWorld({ DATABASE_URL, ...RATES, RATE_LIMIT_GENERAL: '1/24h', ROLE: 'web' });

/** A new network for each test, so that tests do not share counts by address. */
let networks = 0;
const newNetwork = () => `198.51.${Math.floor(++networks / 250)}.${(networks % 250) + 1}`;

const from = (address: string) => ({ 'x-forwarded-for': address });

/** Returns the same client at another process. Its requests come from a new network, unless they name an address. */
function at(place: World, client: Client): Client {
  const there = place.as(client.token, client.user_id);
  const network = newNetwork();
  return {
    ...there,
    send: (method, path, init = {}) =>
      there.send(method, path, { ...init, headers: { ...from(network), ...(init.headers as Record<string, string>) } }),
    get: (path, headers) => there.get(path, { ...from(network), ...headers }),
    post: (path, body, headers) => there.post(path, body, { ...from(network), ...headers }),
  };
}
const statusesOf = (answers: readonly { status: number }[]) =>
  answers.reduce<Record<number, number>>((counts, { status }) => {
    counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }, {});

/** Sends this many requests, eight at a time. */
async function many<T>(times: number, send: (i: number) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < times; i = next++) answers.push(await send(i));
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  return answers;
}

function assertRefused({ status, headers, body }: Answer, policy = 'general'): void {
  assert.equal(status, 429, JSON.stringify(body));
  assert.equal(body.error, 'rate_limited');
  assert.deepEqual(Object.keys(body), ['error', 'message', 'request_id']);
  const seconds = Number(headers.get('retry-after'));
  assert.ok(Number.isInteger(seconds) && seconds >= 1, 'a refused client gets Retry-After');
  if (policy === 'invitations') return;
  assert.match(String(headers.get('ratelimit')), new RegExp(`"${policy}";r=0;t=${seconds}(,|$)`));
}

test('a credential has exactly its quota, sequentially and concurrently, and the headers show the rest', async () => {
  const one = at(world, await maker.person());
  const first = await one.get('/v1/workspaces', from(newNetwork()));
  assert.equal(first.headers.get('ratelimit-policy'), '"general";q=40;w=86400');
  for (let left = GENERAL - 1; left > 0; left -= 1) {
    assert.match(
      String((await one.get('/v1/workspaces')).headers.get('ratelimit')),
      new RegExp(`^"general";r=${left - 1};t=\\d+$`),
    );
  }
  assertRefused(await one.get('/v1/workspaces'));
  const crowd = at(world, await maker.person());
  const answers = await many(GENERAL * 2, () => crowd.get('/v1/workspaces', from(newNetwork())));
  assert.deepEqual(statusesOf(answers), { 200: GENERAL, 429: GENERAL });
});

test('errors count too, and requests are refused before their body is read', async () => {
  const one = at(world, await maker.person());
  const answers = await many(GENERAL, (i) =>
    i % 2 ? one.get('/v1/wikis/wiki_unknown') : one.post('/v1/workspaces', { name: 5 }),
  );
  assert.deepEqual(statusesOf(answers), { 404: GENERAL / 2, 422: GENERAL / 2 });
  assertRefused(
    await one.send('POST', '/v1/workspaces', { body: 'no json', headers: { 'content-type': 'application/json' } }),
  );
});

test('processes share their counts: together they grant nearly the quota and never more, and a new process continues the count', async () => {
  const second = await openWorld({ DATABASE_URL, ...RATES });
  const both = await maker.person();
  const answers = await many(GENERAL * 2, (i) => at(i % 2 ? world : second, both).get('/v1/workspaces'));
  const granted = statusesOf(answers)[200] ?? 0;
  assert.ok(granted <= GENERAL && granted >= GENERAL * 0.8, `${granted} of ${GENERAL} were allowed`);

  const one = await maker.person();
  await many(GENERAL, () => at(second, one).get('/v1/workspaces'));
  const third = await openWorld({ DATABASE_URL, ...RATES });
  assertRefused(await at(third, one).get('/v1/workspaces'));
});

test('a new window has a new quota, on every process', async () => {
  const hasty = await openWorld({ DATABASE_URL, ...RATES, RATE_LIMIT_GENERAL: '5/2s' });
  const one = at(hasty, await maker.person());
  const refused = await until('the quota is used up', async () =>
    (await many(20, () => one.get('/v1/workspaces'))).find(({ status }) => status === 429),
  );
  assert.ok(Number(refused.headers.get('retry-after')) <= 2);
  await until(
    'there is a new quota',
    async () => (await one.get('/v1/workspaces')).status,
    (status) => status === 200,
  );

  const other = await maker.person();
  await many(GENERAL, () => at(world, other).get('/v1/workspaces'));
  await world.db.query(sql`update limit_counts set ends_at = now()`);
  const fresh = await openWorld({ DATABASE_URL, ...RATES });
  assert.equal((await at(fresh, other).get('/v1/workspaces')).status, 200);
});

test('a job deletes counts whose window has ended, and no others', async () => {
  const one = at(world, await maker.person());
  await many(GENERAL, () => one.get('/v1/workspaces'));
  await maker.db.query(sql`
    insert into limit_counts (bucket, used, ends_at)
    select sha256(i::text::bytea), 1, now() - interval '1 second' from generate_series(1, 2500) i`);
  await runScheduled(world, pruneOldRateLimitCounts);
  assert.deepEqual(await maker.db.query(sql`select bucket from limit_counts where ends_at < now()`), []);
  assertRefused(await one.get('/v1/workspaces'));
});

test('the limit of a credential affects no other credential of the same user, workspace or address', async () => {
  const network = newNetwork();
  const owner = await maker.owner('limited@example.com');
  const colleague = await maker.member(owner.workspace_id, 'admin');
  const other = await maker.workspaceKey('limited@example.com', owner.workspace_id);
  const path = `/v1/workspaces/${owner.workspace_id}/members`;
  await many(GENERAL, () => at(world, owner).get(path, from(network)));
  assertRefused(await at(world, owner).get(path, from(network)));
  assertRefused(await at(world, owner).get(path, from(newNetwork())));
  for (const client of [colleague, other]) {
    const answers = await many(GENERAL, () => at(world, client).get(path, from(network)));
    assert.deepEqual(statusesOf(answers), { 200: GENERAL });
  }
});

test('a user with many keys has twice the quota of a key, and the headers show the rest of it', async () => {
  const email = 'many-keys@example.com';
  const owner = await maker.owner(email);
  const path = `/v1/workspaces/${owner.workspace_id}/members`;
  const colleague = await maker.member(owner.workspace_id, 'admin');
  const keys: Client[] = [];
  for (let i = 0; i < 5; i += 1) keys.push(at(world, await maker.workspaceKey(email, owner.workspace_id)));
  const answers: Answer[] = [];
  const ask = async (key: Client | undefined, times: number) => {
    for (let i = 0; i < times; i += 1) answers.push(await (key as Client).get(path, from(newNetwork())));
  };
  await ask(keys[0], GENERAL);
  await ask(keys[1], GENERAL - 10);
  const left = await until(
    'the header of a new key shows what is left of its user, not of the key',
    async () => {
      await ask(keys[2], 1);
      return Number(/;r=(\d+);/.exec(String(answers.at(-1)?.headers.get('ratelimit')))?.[1]);
    },
    (seen) => seen < GENERAL / 2,
  );
  assert.ok(left <= 10, `${left} are left`);
  for (const key of keys) await ask(key, GENERAL);
  const granted = statusesOf(answers)[200] ?? 0;
  // The first requests of a key are counted a moment after their answers.
  assert.ok(granted >= 2 * GENERAL && granted <= 2 * GENERAL + 20, `${granted} of ${answers.length} were allowed`);
  for (const key of keys) assertRefused(await key.get(path));
  assert.equal((await at(world, colleague).get(path)).status, 200, 'other users of the workspace go on');
});

test('a workspace has a quota over all of its members and keys, and outside callers do not use it up', async () => {
  const shared = await openWorld({ DATABASE_URL, ...RATES, RATE_LIMIT_WORKSPACE_FACTOR: '3' });
  const owner = await maker.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/members`;
  const wiki = `/v1/wikis/${owner.wiki_id}/pages`;
  const outsiders = [await maker.owner(), await maker.owner(), await maker.owner(), await maker.owner()];
  for (const outsider of outsiders) {
    const refused = await many(GENERAL, (i) => at(shared, outsider).get(i % 2 ? path : wiki));
    assert.deepEqual(statusesOf(refused), { 403: GENERAL });
  }
  const members: Client[] = [owner];
  for (let i = 0; i < 4; i += 1) members.push(await maker.member(owner.workspace_id, 'member'));
  const answers: Answer[] = [];
  for (const member of members) {
    const client = at(shared, member);
    for (let i = 0; i < GENERAL; i += 1) answers.push(await client.get(i % 2 ? `/v1/wikis/${owner.wiki_id}` : wiki));
  }
  const granted = statusesOf(answers)[200] ?? 0;
  assert.ok(granted >= 3 * GENERAL && granted <= 3 * GENERAL + 20, `${granted} of ${answers.length} were allowed`);
  const last = at(shared, members[4] as Client);
  assertRefused(await last.get(wiki));
  assert.equal((await last.get('/v1/workspaces')).status, 200, 'the same user goes on elsewhere');
});

test("a known credential needs no statement in addition to the request's own", async () => {
  const quiet = await openWorld({ DATABASE_URL, ...RATES, RATE_LIMIT_GENERAL: '999999/24h', ROLE: 'web' });
  const owner = await maker.owner();
  const client = at(quiet, owner);
  const path = `/v1/workspaces/${owner.workspace_id}/members`;
  for (let i = 0; i < 20; i += 1) assert.equal((await client.get(path)).status, 200);
  await until(
    'requests are counted in memory',
    async () => {
      const before = quiet.statements.length;
      for (let i = 0; i < 20; i += 1) await client.get(path);
      return quiet.statements.length - before;
    },
    (sent) => sent === 20,
  );
});

test('every 401 counts by address: missing, forged, unknown and revoked credentials, and new ones each time', async () => {
  const network = newNetwork();
  const known = at(world, await maker.person());
  const revoked = await maker.person();
  const unseen = at(world, await maker.person());
  assert.equal((await known.get('/v1/workspaces', from(network))).status, 200);
  assert.equal((await at(world, revoked).get('/v1/workspaces', from(network))).status, 200);
  await maker.db.query(sql`update api_keys set revoked_at = now() where user_id = ${revoked.user_id}`);
  const jwt = (claims: object) =>
    [{ alg: 'HS256', typ: 'widget+jwt' }, claims, 'x']
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
  const kinds = [
    () => world.anonymous,
    () => world.as(randomUUID()),
    () => world.as(newToken('key').secret),
    () => world.as(jwt({ sub: randomUUID() })),
    () => at(world, revoked),
  ];
  const answers = await many(GENERAL * 2, (i) =>
    (kinds[i % kinds.length] as () => Client)().get('/v1/workspaces', from(network)),
  );
  assert.deepEqual(statusesOf(answers), { 401: GENERAL, 429: GENERAL });
  for (const kind of kinds) assertRefused(await kind().get('/v1/workspaces', from(network)));
  assert.equal((await known.get('/v1/workspaces', from(network))).status, 200, 'known credentials are not locked out');
  assertRefused(await unseen.get('/v1/workspaces', from(network)));
  assert.equal((await unseen.get('/v1/workspaces', from(newNetwork()))).status, 200);
});

test('a revoked credential is no longer known', async () => {
  const network = newNetwork();
  const one = await maker.person();
  assert.equal((await at(world, one).get('/v1/workspaces', from(network))).status, 200);
  await maker.db.query(sql`update api_keys set revoked_at = now() where user_id = ${one.user_id}`);
  const answers = await many(GENERAL * 2, () => at(world, one).get('/v1/workspaces', from(network)));
  const others = await many(GENERAL, () => world.anonymous.get('/v1/workspaces', from(network)));
  const { 401: unauthorized } = statusesOf([...answers, ...others]);
  assert.equal(unauthorized, GENERAL, 'every refusal counts by address, including the first');
});

test('successful requests of many credentials do not use up the quota of their address', async () => {
  const network = newNetwork();
  for (let i = 0; i < GENERAL + 5; i += 1) {
    const { status } = await at(world, await maker.person()).get('/v1/workspaces', from(network));
    assert.equal(status, 200);
  }
  const answers = await many(GENERAL + 1, () => world.anonymous.get('/v1/workspaces', from(network)));
  assert.deepEqual(statusesOf(answers), { 401: GENERAL, 429: 1 });
});

test('all spellings of a path share one count', async () => {
  const network = newNetwork();
  const paths = ['/v1/workspaces', '/v1/workspaces/', '/v1//workspaces', '/v1/%77orkspaces', '/V1/WORKSPACES', '/v1/x'];
  const ask = (i: number, token?: string): Promise<RawAnswer> =>
    sendRaw(world.address, {
      method: i % 7 ? 'GET' : 'PUT',
      path: paths[i % paths.length] ?? '',
      headers: { ...from(network), ...(token && { authorization: `Bearer ${token}` }) },
    });
  const anonymous = await many(GENERAL + 20, (i) => ask(i));
  assert.equal(statusesOf(anonymous)[429], 20, JSON.stringify(statusesOf(anonymous)));
  const one = at(world, await maker.person());
  assert.equal((await one.get('/v1/workspaces', from(newNetwork()))).status, 200);
  const known = await many(GENERAL + 19, (i) => ask(i, one.token));
  assert.equal(statusesOf(known)[429], 20, JSON.stringify(statusesOf(known)));
});

test('an IPv6 address counts as its /64, and an IPv4 address embedded in one as itself, in any spelling', async () => {
  const forms = (i: number) => {
    const tail = i.toString(16);
    return [`2001:db8:1::${tail}`, `2001:0DB8:0001:0000:0:0:0:${tail}`, `[2001:db8:1:0:${tail}::]:4711`][i % 3] ?? '';
  };
  const answers = await many(GENERAL * 2, (i) => world.anonymous.get('/v1/workspaces', from(forms(i))));
  assert.deepEqual(statusesOf(answers), { 401: GENERAL, 429: GENERAL });
  assert.equal((await world.anonymous.get('/v1/workspaces', from('2001:db8:1:1::1'))).status, 401);
  const same = ['::ffff:192.0.2.1', '::FFFF:c000:0201', '0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1', '192.0.2.1:80'];
  assert.deepEqual([...new Set(same.map(networkOf))], ['192.0.2.1']);
  assert.deepEqual(['2001:db8:0:1::', 'fe80::1%eth0', '::1', 'none', '1.2.3', ''].map(networkOf), [
    '2001:db8:0:1::/64',
    'fe80:0:0:0::/64',
    '0:0:0:0::/64',
    'unknown',
    'unknown',
    'unknown',
  ]);
});

test('X-Forwarded-For is trusted only from trusted proxies, and only the part that they wrote', async () => {
  const untrusting = await openWorld({ DATABASE_URL, ...RATES, TRUSTED_PROXIES: '192.0.2.0/24,2001:db8::/32' });
  await many(GENERAL, () => untrusting.anonymous.get('/v1/workspaces', from(newNetwork())));
  assertRefused(await untrusting.anonymous.get('/v1/workspaces', from(newNetwork())));
  const network = newNetwork();
  const forged = await many(GENERAL * 2, () =>
    world.anonymous.get('/v1/workspaces', from(`${newNetwork()}, ${network}`)),
  );
  assert.deepEqual(statusesOf(forged), { 401: GENERAL, 429: GENERAL });
});

test('searches and uploads have a quota besides the general one, and other requests continue after it is used up', async () => {
  const owner = await maker.owner();
  const client = at(world, owner);
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const searches = await many(15, (i) => client.get(`${wiki}/${i % 2 ? 'pages' : 'sources'}/search?query=x`));
  assert.deepEqual(statusesOf(searches), { 200: 10, 429: 5 });
  const refused = await client.get(`${wiki}/pages/search?query=x`);
  assertRefused(refused, 'search');
  assert.equal(refused.headers.get('ratelimit-policy'), '"general";q=40;w=86400, "search";q=10;w=86400');
  const upload = () => {
    const body = new FormData();
    body.append('files', new Blob(['# x']), 'x.md');
    return client.send('POST', `${wiki}/uploads`, { body });
  };
  const uploads = [await upload(), await upload(), await upload(), await upload()];
  assert.deepEqual(statusesOf(uploads), { 201: 3, 429: 1 });
  const list = await client.get(`${wiki}/pages`);
  assert.match(String(list.headers.get('ratelimit')), /^"general";r=26;/, 'refused requests use up nothing');
});

test('a workspace sends invitations up to its quota, from all members, new or resent, and failed ones do not count', async () => {
  const owner = await maker.owner();
  const other = await maker.owner();
  const admin = at(world, await maker.member(owner.workspace_id, 'admin'));
  const invite = (client: Client, of: Owner, email = `${randomUUID()}@example.com`) =>
    client.post(`/v1/workspaces/${of.workspace_id}/members/invite`, { email, role: 'member' });
  const first = await invite(at(world, owner), owner, 'first@example.com');
  const resend = `/v1/workspaces/${owner.workspace_id}/invitations/${first.body.invitation_id}/resend`;
  for (let i = 0; i < 5; i += 1) assert.equal((await invite(admin, owner, 'first@example.com')).status, 409);
  assert.equal((await admin.post(resend)).status, 200);
  const crowd = await Promise.all(Array.from({ length: 6 }, (_, i) => invite(i % 2 ? admin : at(world, owner), owner)));
  assert.deepEqual(statusesOf(crowd), { 200: 2, 429: 4 });
  assertRefused(await invite(admin, owner), 'invitations');
  assertRefused(await admin.post(resend), 'invitations');
  assert.equal((await invite(at(world, other), other)).status, 200);
  await maker.db.query(sql`
    update audit_events set created_at = created_at - interval '1 day' where event_id = (
      select min(event_id) from audit_events where workspace_id = ${owner.workspace_id} and type = 'invitation.created')`);
  const after = [await invite(admin, owner), await invite(admin, owner)];
  assert.deepEqual(statusesOf(after), { 200: 1, 429: 1 }, 'one more may be sent when the oldest has left the window');
});

test('an invitation whose message could not be sent does not count', async () => {
  const closed = await openWorld({ DATABASE_URL, ...RATES, SMTP_URL: 'smtp://127.0.0.1:9' });
  const owner = await maker.owner();
  const invite = (place: World) =>
    at(place, owner).post(`/v1/workspaces/${owner.workspace_id}/members/invite`, {
      email: `${randomUUID()}@example.com`,
      role: 'member',
    });
  const failed = await many(4, () => invite(closed));
  assert.deepEqual(statusesOf(failed), { 503: 4 });
  assert.deepEqual(statusesOf(await many(5, () => invite(world))), { 200: 4, 429: 1 });
});

const RELAY = {
  DATABASE_CONNECTIONS: '3',
  RATE_LIMITS: 'on',
  RATE_LIMIT_INVITATIONS: '9/24h',
  RATE_LIMIT_USER_INVITATIONS: '12/24h',
  RATE_LIMIT_ADDRESS_INVITATIONS: '2/24h',
  RATE_LIMIT_NEW_WORKSPACE_INVITATIONS: '5/24h',
  RATE_LIMIT_WORKSPACES: '3/24h',
};

/** Invites this many new addresses, or one address repeatedly, in sequence. Returns the answers. */
async function inviteTo(client: Client, workspace_id: string, times: number, email?: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < times; i += 1) {
    const body = { email: email ?? `${randomUUID()}@example.com`, role: 'member' };
    answers.push(await client.post(`/v1/workspaces/${workspace_id}/members/invite`, body));
  }
  return answers;
}

test('a user can relay little mail through new workspaces, and can create few workspaces', async () => {
  const place = await openWorld(RELAY);
  const owner = await place.owner();
  const made = [];
  for (let i = 0; i < 4; i += 1) made.push(await owner.post('/v1/workspaces', { name: `W${i}`, slug: `w${i}` }));
  assert.deepEqual(statusesOf(made), { 200: 2, 429: 2 }, 'the one of onboarding counts too');
  assertRefused(made[3] as Answer, 'invitations');
  assert.match(made[3]?.body.message, /new workspaces of one user/);
  const [second, third] = made.map(({ body }) => body.workspace_id as string);

  const first = await inviteTo(owner, owner.workspace_id, 7);
  assert.deepEqual(statusesOf(first), { 200: 5, 429: 2 });
  assert.match(first[6]?.body.message, /new workspace without a paid plan/);
  assert.deepEqual(statusesOf(await inviteTo(owner, second ?? '', 5)), { 200: 5 });
  const rest = await inviteTo(owner, third ?? '', 5);
  assert.deepEqual(statusesOf(rest), { 200: 2, 429: 3 });
  assert.match(rest[4]?.body.message, /of one user/);

  const [paying, established] = [await place.owner(), await place.owner()];
  await place.db.query(sql`
    insert into subscriptions (workspace_id, plan_id, quantity, period_start, period_end)
    values (${paying.workspace_id}, 'team', 20, now(), now() + interval '30 days')`);
  await place.db.query(sql`
    update workspaces set created_at = now() - interval '25 hours' where workspace_id = ${established.workspace_id}`);
  for (const team of [paying, established]) {
    assert.deepEqual(statusesOf(await inviteTo(team, team.workspace_id, 10)), { 200: 9, 429: 1 });
  }
});

test('an address gets few invitations from one user, and few from all users together', async () => {
  const place = await openWorld(RELAY);
  const email = 'target@example.com';
  const owners = [];
  for (let i = 0; i < 5; i += 1) owners.push(await place.owner());
  for (const owner of owners.slice(0, 4)) {
    const [invited] = await inviteTo(owner, owner.workspace_id, 1, email);
    const path = `/v1/workspaces/${owner.workspace_id}/invitations/${invited?.body.invitation_id}/resend`;
    const resent = [await owner.post(path), await owner.post(path)];
    assert.deepEqual([invited?.status, statusesOf(resent)], [200, { 200: 1, 429: 1 }]);
    assert.match(resent[1]?.body.message, /to this address/);
  }
  const last = owners[4] as Owner;
  assertRefused((await inviteTo(last, last.workspace_id, 1, email))[0] as Answer, 'invitations');
  assert.deepEqual(statusesOf(await inviteTo(last, last.workspace_id, 2)), { 200: 2 }, 'others are still invited');
});

test('all users together send at most the invitations that the service allows, even concurrently', async () => {
  const place = await openWorld({ ...RELAY, RATE_LIMIT_SERVICE_INVITATIONS: '7/24h' });
  const owners = [await place.owner(), await place.owner(), await place.owner()];
  const answers = await Promise.all(owners.map((owner) => inviteTo(owner, owner.workspace_id, 4)));
  assert.deepEqual(statusesOf(answers.flat()), { 200: 7, 429: 5 });
});

test('without limits, answers have no rate limit headers, and requests are neither refused nor counted', async () => {
  const before = await maker.db.query(sql`select bucket from limit_counts`);
  const answers = await many(GENERAL * 2, () => maker.anonymous.get('/v1/workspaces'));
  assert.deepEqual(statusesOf(answers), { 401: GENERAL * 2 });
  for (const { headers } of answers) {
    for (const name of ['ratelimit', 'ratelimit-policy', 'retry-after']) assert.equal(headers.get(name), null);
  }
  assert.ok((await maker.db.query(sql`select bucket from limit_counts`)).length <= before.length);
});

test('health checks are never refused', async () => {
  const network = newNetwork();
  await many(GENERAL, () => world.anonymous.get('/v1/x', from(network)));
  assertRefused(await world.anonymous.get('/v1/x', from(network)));
  for (const path of ['/livez', '/readyz', '/version', '/openapi.json', '/docs']) {
    const { status, headers } = await world.anonymous.get(path, from(network));
    assert.deepEqual([status, headers.get('ratelimit')], [200, null], path);
  }
});

const isTurn = everyNth(3);

for (const endpoint of ENDPOINTS.filter(isTurn)) {
  const policies = policiesOf(endpoint);
  test(`${nameOf(endpoint)} is limited by ${policies.join(' and ')}, and every answer has the headers`, async () => {
    // One of the endpoints sets a legal hold, which would refuse deletions by the others.
    await tenants.world.db.query(sql`update workspaces set held_since = null, held_by = null, hold_reason = null`);
    const token = await tenants.tokenFor(endpoint, tenants.owner);
    const request = validRequest(endpoint, await tenants.fresh(endpoint, tenants.owner), token);
    const good = await tenants.send(request, endpoint);
    assert.equal(good.status, success(endpoint), good.text);
    const named = (text: unknown) => [...String(text).matchAll(/"([a-z]+)";/g)].map(([, name]) => name);
    assert.deepEqual(named(good.headers['ratelimit-policy']), policies);
    assert.deepEqual(
      named(good.headers.ratelimit),
      policies.filter((policy) => policy !== 'invitations'),
    );
    if (endpoint.access.on === 'anyone') return;
    const { authorization: _, ...headers } = request.headers ?? {};
    const anonymous = await tenants.send({ ...request, headers }, endpoint);
    assert.equal(anonymous.status, 401);
    assert.deepEqual(named(anonymous.headers.ratelimit), ['general']);

    const network = newNetwork();
    let refused: RawAnswer | undefined;
    for (let i = 0; i < 2; i += 1)
      refused = await sendRaw(strict.address, { ...request, headers: { ...headers, ...from(network) } });
    assert.equal(refused?.status, 429, 'every endpoint must be limited');
    checkAnswer(request, refused as RawAnswer);
    checkDeclared(endpoint, refused as RawAnswer);
  });
}
