import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { RoleSlug } from '../src/platform/access/roles.ts';
import { newId } from '../src/platform/core/ids.ts';
import { sha256 } from '../src/platform/core/secrets.ts';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { extent } from './extent.ts';
import { type Sent, startTraffic } from './load-driver.ts';
import { ALGORITHMS, AUDIENCE, startOpenIdProvider } from './openid-provider.ts';
import { png } from './pictures.ts';
import { randomNumbers } from './random-numbers.ts';
import { putAccess } from './restrict.ts';
import { signedInClient } from './signed-in.ts';
import { startTwoProcesses } from './two-processes.ts';
import type { Answer, Client, World } from './world.ts';

/** REVOCATION_TRIALS: total number of trials, over all ways to lose access. REVOCATION_SEED repeats their timing. */
const TRIALS = Number(process.env.REVOCATION_TRIALS || extent(50, 16));
const SEED = Number(process.env.REVOCATION_SEED || Date.now() % 1_000_000);
const PER_SECOND_AND_PROCESS = 100;

const random = randomNumbers(SEED);
const provider = await startOpenIdProvider();
cleanUp(() => provider.stop());
const { world, other, processes } = await startTwoProcesses({ OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: AUDIENCE });
const { query } = world.db;
const owner = await world.owner();
const bystander = await world.member(owner.workspace_id, 'member');

/** The requests that a credential permits, and the call that revokes it. */
interface Trial {
  requests: { name: string; token: string | undefined; method: string; path: string; body?: object }[];
  revoke(through: World): Promise<Answer>;
}

/** The ways to lose access. Each returns the credential's requests and the call that ends it. */
const WAYS: Record<string, () => Promise<Trial>> = {
  'a personal key that is revoked': async () => {
    const person = await member('admin');
    const again = await world.as(person.token).post('/v1/me/api-keys', { name: 'Another' });
    const widget = await widgetToken(person.token, 'profile');
    return {
      requests: [...readsAndWrites(person.token), atWidget(widget, 'profile')],
      revoke: async (through) =>
        through.as(again.body.secret).send('DELETE', `/v1/me/api-keys/${await keyIdOf(person.token)}`),
    };
  },
  'a workspace key that is revoked': async () => {
    const path = `/v1/workspaces/${owner.workspace_id}/api-keys`;
    const { secret, key_id } = (await owner.post(path, { name: 'Robot' })).body;
    const widget = await widgetToken(secret, 'developers');
    return {
      requests: [...readsAndWrites(secret), atWidget(widget, 'developers')],
      revoke: (through) => through.as(owner.token).send('DELETE', `${path}/${key_id}`),
    };
  },
  'a session that signs out': async () => {
    const { token } = await signedInClient(world, (await member('admin')).user_id);
    return { requests: await everythingWith(token), revoke: (through) => through.as(token).post('/v1/auth/sign-out') };
  },
  'a session that is signed out from elsewhere': async () => {
    const { user_id } = await member('admin');
    const [here, there] = [await signedInClient(world, user_id), await signedInClient(world, user_id)];
    return {
      requests: await everythingWith(here.token),
      revoke: (through) => through.as(there.token).post('/v1/auth/sign-out-everywhere'),
    };
  },
  'a session that another one of the same user ends': async () => {
    const { user_id } = await member('admin');
    const [ended, another] = [await signedInClient(world, user_id), await signedInClient(world, user_id)];
    return {
      requests: await everythingWith(ended.token),
      revoke: (through) => through.as(another.token).send('DELETE', `/v1/me/sessions/${ended.tokens.session_id}`),
    };
  },
  'a session that is refreshed, for its previous tokens': async () => {
    const { token, tokens } = await signedInClient(world, (await member('admin')).user_id);
    return {
      // Widget tokens belong to the session, which continues.
      requests: readsAndWrites(token),
      revoke: (through) => through.anonymous.post('/v1/auth/refresh', { refresh_token: tokens.refresh_token }),
    };
  },
  'a session whose member is removed': async () => {
    const { user_id, membership_id } = await member('admin');
    const { token } = await signedInClient(world, user_id);
    return { requests: await everythingWith(token), revoke: removing(membership_id) };
  },
  'a member who is removed': async () => {
    const person = await member('admin');
    return { requests: await everythingOf(person), revoke: removing(person.membership_id) };
  },
  'a member who leaves': async () => {
    const person = await member('admin');
    const path = `${membersPath}/${person.membership_id}`;
    return {
      requests: await everythingOf(person),
      revoke: (through) => through.as(person.token).send('DELETE', path),
    };
  },
  'a member who is deactivated': async () => {
    const person = await member('admin');
    return { requests: await everythingOf(person), revoke: deactivating(person.membership_id) };
  },
  'an admin who becomes a viewer, for what viewers may not do': async () => {
    const person = await member('admin');
    return { requests: (await everythingOf(person)).filter(isBeyondViewers), revoke: demoting(person.membership_id) };
  },
  'an owner who transfers the workspace, for what only owners may do': async () => {
    const { workspace_id, token } = await world.owner();
    const heir = await world.member(workspace_id, 'member');
    const path = `/v1/workspaces/${workspace_id}/transfer`;
    return {
      // A permitted caller gets 400, because the member does not exist.
      requests: [{ name: 'transfer', token, method: 'POST', path, body: { membership_id: newId('mem') } }],
      revoke: (through) => through.as(token).post(path, { membership_id: heir.membership_id }),
    };
  },
  "an issuer's token, cached as verified, whose member is removed": async () => {
    const person = await issuersMember();
    return { requests: await everythingWith(person.token), revoke: removing(person.membership_id) };
  },
  "an issuer's token, cached as verified, whose member is deactivated": async () => {
    const person = await issuersMember();
    return { requests: await everythingWith(person.token), revoke: deactivating(person.membership_id) };
  },
  "an issuer's token, cached as verified, whose member becomes a viewer": async () => {
    const person = await issuersMember();
    const requests = (await everythingWith(person.token)).filter(isBeyondViewers);
    return { requests, revoke: demoting(person.membership_id) };
  },
  'a grant on a page that is taken back': async () => {
    const person = await member('member');
    const page = await restrictedPage({ [person.user_id]: 'write' });
    return { requests: await ofPage(person.token, page), revoke: closing(page) };
  },
  'a grant on a page that becomes a grant to read, for writes': async () => {
    const person = await member('member');
    const page = await restrictedPage({ [person.user_id]: 'write' });
    const requests = (await ofPage(person.token, page)).filter(({ method }) => method !== 'GET');
    return {
      requests,
      revoke: (through) => putAccess(ownerAt(through), page, { [owner.user_id]: 'manage', [person.user_id]: 'read' }),
    };
  },
  'a page that is restricted': async () => {
    const person = await member('member');
    const page = await newPage();
    return { requests: await ofPage(person.token, page), revoke: closing(page) };
  },
  'a page that moves below a restricted page': async () => {
    const person = await member('member');
    const [page, above] = [await newPage(), await restrictedPage({})];
    const path = `/v1/wikis/${page.wiki_id}/pages/${page.page_id}`;
    return {
      requests: await ofPage(person.token, page),
      revoke: (through) => ownerAt(through).patch(path, { parent_page_id: above.page_id }),
    };
  },
  'a member who is removed and had a grant': async () => {
    const person = await member('member');
    const page = await restrictedPage({ [person.user_id]: 'manage' });
    return { requests: await ofPage(person.token, page), revoke: removing(person.membership_id) };
  },
};

/** Leaves the page to the owner alone. */
const closing = (page: PageIds) => (through: World) => putAccess(ownerAt(through), page, { [owner.user_id]: 'manage' });
const ownerAt = (through: World) => through.as(owner.token, owner.user_id);

interface PageIds {
  wiki_id: string;
  page_id: string;
}

/** Makes a page with a page below it. */
async function newPage(): Promise<PageIds> {
  const { wiki_id } = owner;
  const pages = `/v1/wikis/${wiki_id}/pages`;
  const { body } = await owner.post(pages, { title: 'Guarded', markdown: 'x' });
  await owner.post(pages, { title: 'Below', markdown: 'x', parent_page_id: body.page_id });
  return { wiki_id, page_id: body.page_id };
}

/** Makes a page that is restricted to the owner and to these people. */
async function restrictedPage(levels: Parameters<typeof putAccess>[2]): Promise<PageIds> {
  const page = await newPage();
  const answer = await putAccess(owner, page, { ...levels, [owner.user_id]: 'manage' });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return page;
}

/** Returns requests for a page, for the page below, and for a file of the page. */
async function ofPage(token: string | undefined, { wiki_id, page_id }: PageIds): Promise<Requests> {
  const at = `/v1/wikis/${wiki_id}/pages/${page_id}`;
  const form = new FormData();
  form.set('file', new Blob([png() as Uint8Array<ArrayBuffer>], { type: 'image/png' }), 'x.png');
  const [file, below] = [
    await owner.send('POST', `${at}/attachments`, { body: form }),
    await owner.get(`${at}/children`),
  ];
  const [child] = below.body;
  return [
    { name: 'read', token, method: 'GET', path: at },
    { name: 'read below', token, method: 'GET', path: `/v1/wikis/${wiki_id}/pages/path/${child.path}` },
    { name: 'history', token, method: 'GET', path: `${at}/revisions` },
    { name: 'file', token, method: 'GET', path: `/v1/wikis/${wiki_id}/attachments/${file.body.attachment_id}` },
    { name: 'move', token, method: 'PATCH', path: at, body: { position: 0 } },
  ];
}

const membersPath = `/v1/workspaces/${owner.workspace_id}/members`;
const removing = (id: string) => (through: World) => through.as(owner.token).send('DELETE', `${membersPath}/${id}`);
const deactivating = (id: string) => (through: World) =>
  through.as(owner.token).post(`${membersPath}/${id}/deactivate`);
const demoting = (id: string) => (through: World) =>
  through.as(owner.token).patch(`${membersPath}/${id}`, { role: 'viewer' });

async function member(role: RoleSlug): Promise<Client & { membership_id: string; email: string }> {
  const email = `${randomUUID()}@example.com`;
  const person = await world.person(email);
  return { ...person, email, membership_id: await join(person.user_id, role) };
}

async function join(user_id: string, role: RoleSlug): Promise<string> {
  const membership_id = newId('mem');
  await query(sql`
    insert into memberships (membership_id, workspace_id, user_id, role)
    values (${membership_id}, ${owner.workspace_id}, ${user_id}, ${role})
    on conflict (user_id, workspace_id) do update set role = excluded.role, status = 'active',
      membership_id = excluded.membership_id`);
  return membership_id;
}

const issuersTokens = await Promise.all(ALGORITHMS.map((algorithm) => provider.token(algorithm)));
let issuersTurn = 0;

/** Returns a user of the issuer who is an admin again. */
async function issuersMember(): Promise<{ token: string | undefined; membership_id: string }> {
  const subject = ALGORITHMS[issuersTurn % ALGORITHMS.length];
  const token = issuersTokens[issuersTurn % ALGORITHMS.length];
  issuersTurn += 1;
  await world.as(token).get('/v1/workspaces');
  const [row] = await query<{ user_id: string }>(sql`
    select user_id from identities where issuer = ${provider.issuer} and subject = ${subject ?? ''}`);
  return { token, membership_id: await join(row?.user_id ?? '', 'admin') };
}

async function keyIdOf(secret: string | undefined): Promise<string> {
  const [row] = await query<{ key_id: string }>(sql`
    select key_id from api_keys where secret_hash = ${sha256(secret ?? '')}`);
  return row?.key_id ?? '';
}

async function widgetToken(token: string | undefined, widget: string): Promise<string> {
  const answer = await world.as(token).post(`/v1/workspaces/${owner.workspace_id}/widget-token`, { widget });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.token;
}

type Requests = Trial['requests'];

/** Returns a read, a write of one statement, and a write that waits for the lock of the workspace. */
function readsAndWrites(token: string | undefined): Requests {
  const { wiki_id, workspace_id } = owner;
  const reactivate = `${membersPath}/${bystander.membership_id}/reactivate`;
  return [
    { name: 'read', token, method: 'GET', path: `/v1/wikis/${wiki_id}` },
    { name: 'list keys', token, method: 'GET', path: `/v1/workspaces/${workspace_id}/api-keys` },
    { name: 'rename', token, method: 'PATCH', path: `/v1/wikis/${wiki_id}`, body: { title: 'Renamed' } },
    { name: 'reactivate', token, method: 'POST', path: reactivate },
  ];
}

function atWidget(token: string, widget: string): Requests[number] {
  return { name: `${widget} widget`, token, method: 'GET', path: `/v1/widgets/${widget}` };
}

/** Returns the requests of a user's credential, and of the widget tokens that it created. */
async function everythingWith(token: string | undefined): Promise<Requests> {
  const widgets = ['profile', 'enterprise', 'developers'].map(async (widget) =>
    atWidget(await widgetToken(token, widget), widget),
  );
  return [...readsAndWrites(token), ...(await Promise.all(widgets))];
}

/** Adds the requests of a workspace key that the user created, and of its widget token. */
async function everythingOf(person: Client & { email: string }): Promise<Requests> {
  const { token } = await world.workspaceKey(person.email, owner.workspace_id);
  const ofKey = [...readsAndWrites(token), atWidget(await widgetToken(token, 'enterprise'), 'enterprise')];
  const named = ofKey.map((request) => ({ ...request, name: `${request.name} by their workspace key` }));
  return [...(await everythingWith(person.token)), ...named];
}

function isBeyondViewers({ name }: Requests[number]): boolean {
  return !name.startsWith('read') && !name.startsWith('profile');
}

const REFUSED = new Set([401, 403, 404]);
const isRefused = ({ status }: Sent) => REFUSED.has(status);
/** Only permitted callers get a 400. */
const isAccepted = ({ status }: Sent) => status < 300 || status === 400;

const figures = { trials: 0, sent: 0, seconds: 0, after: 0, accepted_after: 0, first_refusals: [] as number[] };

async function run(way: string, number: number): Promise<void> {
  const { requests, revoke } = await (WAYS[way] as () => Promise<Trial>)();
  const probes = requests.flatMap(({ name, token, method, path, body }) =>
    [world, other].map((at, i) => ({
      name: `${name} at process ${i + 1}`,
      send: () =>
        at.as(token).send(method, path, {
          ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        }),
    })),
  );
  const began = performance.now();
  const traffic = startTraffic(probes, 2 * PER_SECOND_AND_PROCESS);
  const { sent } = traffic;
  const unanswered = (began: number) =>
    probes
      .filter((probe) => !sent.some((entry) => entry.probe === probe && entry.began > began))
      .map(({ name }) => name);
  await traffic.until('each request was answered', () => unanswered(0));
  await delay(20 * random());

  const through = number % 2 === 0 ? world : other;
  const answer = await revoke(through);
  const answered = performance.now();
  // The earliest possible requests after the answer.
  traffic.sendAll();
  assert.ok(answer.status < 300, `${where(way, number)}: ${answer.status} ${JSON.stringify(answer.body)}`);
  const soonest = performance.now();
  await traffic.until('each request was answered after access ended', () => unanswered(soonest));
  await traffic.stop();

  const after = sent.filter((entry) => entry.began >= answered);
  const firstRefusal = Math.min(...after.filter(isRefused).map((entry) => entry.ended));
  figures.trials += 1;
  figures.sent += sent.length;
  figures.seconds += (performance.now() - began) / 1000;
  figures.after += after.length;
  figures.accepted_after += after.filter(isAccepted).length;
  figures.first_refusals.push(firstRefusal - answered);
  const opened = probes.filter((probe) => sent.some((entry) => entry.probe === probe && isAccepted(entry)));
  assert.deepEqual(
    probes.filter((probe) => !opened.includes(probe)).map(({ name }) => name),
    [],
    `${where(way, number)}: A request that never succeeded cannot show the revocation.`,
  );
  const wrong = [...after.filter((entry) => !isRefused(entry)), ...sent.filter((entry) => entry.status >= 500)];
  assert.deepEqual(
    wrong.map(({ probe, status, began }) => `${probe.name}: ${status}, ${began - answered} ms after`),
    [],
    where(way, number),
  );
}

function where(way: string, number: number): string {
  return `${way}; trial ${number} of seed ${SEED} (the answer came through process ${(number % 2) + 1})`;
}

function report(t: TestContext): void {
  const { trials, sent, seconds, after, accepted_after, first_refusals } = figures;
  const times = first_refusals.sort((a, b) => a - b);
  t.diagnostic(
    `seed ${SEED}: ${trials} trials, ${sent} requests sent (${Math.round(sent / seconds)} a second), ` +
      `${after} of them begun after the answer, accepted after the answer: ${accepted_after}, ` +
      `from the answer to the first refusal: median ${times[times.length >> 1]?.toFixed(1)} ms, longest ${times.at(-1)?.toFixed(1)} ms`,
  );
}

for (const way of Object.keys(WAYS)) {
  const trials = Math.ceil(TRIALS / Object.keys(WAYS).length);
  test(`${way}: no request that begins after the answer succeeds, at either process`, async () => {
    for (let number = 0; number < trials; number += 1) await run(way, number);
  });
}

test('both processes answered through all trials', (t) => {
  report(t);
  assert.ok(figures.trials >= TRIALS);
  assert.deepEqual(
    processes.map((process) => process.isOver()),
    [false, false],
  );
});
