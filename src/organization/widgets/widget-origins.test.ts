import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Owner, openWorld } from '../../../test/world.ts';

const world = await openWorld();
const HOME = 'https://intranet.example.com';

const path = ({ workspace_id }: Owner) => `/v1/workspaces/${workspace_id}/widget-origins`;

async function tokenOf(owner: Owner, widget = 'profile'): Promise<Client> {
  return world.as((await owner.post(`/v1/workspaces/${owner.workspace_id}/widget-token`, { widget })).body.token);
}

const preflight = (origin: string, at = '/v1/widgets/profile') =>
  fetch(`${world.address}${at}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
  });

test('only an allowed origin can read the responses of widgets', async () => {
  const owner = await world.owner();
  const other = await world.owner();
  assert.equal((await owner.patch(path(owner), { widget_origins: [HOME] })).status, 200);
  const [mine, theirs] = [await tokenOf(owner), await tokenOf(other)];

  const answer = await mine.get('/v1/widgets/profile', { origin: HOME });
  assert.equal(answer.headers.get('access-control-allow-origin'), HOME);
  assert.match(answer.headers.get('vary') ?? '', /origin/);
  assert.equal(answer.headers.get('access-control-allow-credentials'), null, 'the token is the only credential');
  for (const origin of [
    'https://evil.example.com',
    'http://intranet.example.com',
    `${HOME}:8443`,
    'null',
    HOME.toUpperCase(),
  ]) {
    const refused = await mine.get('/v1/widgets/profile', { origin });
    assert.equal(refused.headers.get('access-control-allow-origin'), null, origin);
  }
  const foreign = await theirs.get('/v1/widgets/profile', { origin: HOME });
  assert.equal(foreign.headers.get('access-control-allow-origin'), null, 'another workspace has not allowed it');

  const asked = await preflight(HOME);
  assert.equal(asked.status, 204);
  assert.equal(asked.headers.get('access-control-allow-origin'), HOME);
  assert.match(asked.headers.get('access-control-allow-headers') ?? '', /authorization/);
  assert.equal(asked.headers.get('access-control-allow-methods'), 'GET, POST, PUT, PATCH, DELETE');
  const unasked = await preflight('https://evil.example.com');
  assert.equal(unasked.status, 204);
  assert.equal(unasked.headers.get('access-control-allow-origin'), null);

  await owner.patch(path(owner), { widget_origins: [] });
  const after = await mine.get('/v1/widgets/profile', { origin: HOME });
  assert.equal(after.headers.get('access-control-allow-origin'), null, 'it holds for the next request');
});

test('a page learns that its token has expired, so that it can request another', async () => {
  const owner = await world.owner();
  await owner.patch(path(owner), { widget_origins: ['https://told.example.com'] });
  const holder = await tokenOf(owner);
  const broken = world.as(`${holder.token}x`);
  const answer = await broken.get('/v1/widgets/profile', { origin: 'https://told.example.com' });
  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get('access-control-allow-origin'), 'https://told.example.com');
});

test('only widget endpoints are open to other origins', async () => {
  const owner = await world.owner();
  await owner.patch(path(owner), { widget_origins: [HOME] });
  for (const at of ['/v1/workspaces', `/v1/workspaces/${owner.workspace_id}/widget-token`, '/v1/me']) {
    const asked = await preflight(HOME, at);
    assert.equal(asked.status, 405);
    assert.equal(asked.headers.get('access-control-allow-origin'), null);
    const answer = await owner.get(at, { origin: HOME });
    assert.equal(answer.headers.get('access-control-allow-origin'), null);
  }
  const plain = await fetch(`${world.address}/v1/widgets/profile`, { method: 'OPTIONS' });
  assert.equal(plain.status, 405, 'an OPTIONS that is no preflight is a method that the path has not');
});

const ADDRESSES = ['http://127.0.0.1:5000', 'http://[::1]'];

test('origins are normalized and deduplicated, and malformed ones are refused', async () => {
  const owner = await world.owner();
  const given = [
    'HTTPS://Intranet.Example.COM:443/',
    HOME,
    'http://localhost:3000',
    'https://bücher.example',
    ...ADDRESSES,
  ];
  const { body } = await owner.patch(path(owner), { widget_origins: given });
  assert.deepEqual(body, {
    workspace_id: owner.workspace_id,
    widget_origins: [...ADDRESSES, 'http://localhost:3000', HOME, 'https://xn--bcher-kva.example'],
  });
  assert.deepEqual((await owner.get(path(owner))).body, body);
  const bad = [
    '*',
    'null',
    '',
    'example.com',
    'https://*.example.com',
    'https://a.example/x',
    'https://u@a.example',
    'file:///x',
    'https://a.example?x',
    'javascript:alert(1)',
    'https://',
    'http://intranet.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://10.0.0.1',
    'https://a"b.example',
    "https://a'b.example",
    'https://a;b.example',
    'https://a,b.example',
    'https://a(b).example',
    'https://a.example:65536',
    `https://${'a'.repeat(400)}.example`,
  ];
  for (const origin of bad) {
    const refused = await owner.patch(path(owner), { widget_origins: [HOME, origin] });
    assert.equal(refused.status, 400, origin);
    assert.equal(refused.body.error, 'invalid_request');
  }
  const many = Array.from({ length: 51 }, (_, i) => `https://s${i}.example`);
  assert.equal((await owner.patch(path(owner), { widget_origins: many })).status, 422);
  assert.deepEqual((await owner.get(path(owner))).body, body, 'what was refused changed nothing');
});

test('checking whether a site may frame widgets reveals one origin, and nothing of the workspace', async () => {
  const owner = await world.owner();
  await owner.patch(path(owner), { widget_origins: [HOME] });
  const asked = async (workspace_id: string, origin: string) =>
    (await world.anonymous.get(`/v1/widget-frames?${new URLSearchParams({ workspace: workspace_id, origin })}`)).body;
  assert.deepEqual(await asked(owner.workspace_id, HOME), { allowed: true });
  assert.deepEqual(await asked(owner.workspace_id, 'https://evil.example'), { allowed: false });
  assert.deepEqual(await asked((await world.owner()).workspace_id, HOME), { allowed: false });
  assert.deepEqual(await asked('org_nothing', HOME), { allowed: false });
});

test('the frame policy names only the embedding site, and only if it is allowed', async () => {
  const owner = await world.owner();
  await owner.patch(path(owner), { widget_origins: [HOME] });
  const policy = async (referer: string | undefined, workspace_id = owner.workspace_id, widget = 'profile') => {
    const headers = { accept: 'text/html', ...(referer !== undefined && { referer }) };
    const answer = await world.anonymous.send('GET', `/-/widgets/${workspace_id}/${widget}`, { headers });
    assert.equal(answer.status, widget === 'profile' ? 200 : 404);
    return /frame-ancestors (.*)$/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
  };
  assert.equal(await policy(`${HOME}/`), HOME);
  for (const referer of [
    undefined,
    'nonsense',
    'https://evil.example/',
    `https://evil.example/${HOME}`,
    `${HOME}.evil.example/`,
  ]) {
    assert.equal(await policy(referer), "'none'", referer);
  }
  assert.equal(await policy(`${HOME}/`, (await world.owner()).workspace_id), "'none'");
  assert.equal(await policy(`${HOME}/`, owner.workspace_id, 'constructor'), "'none'");
});
