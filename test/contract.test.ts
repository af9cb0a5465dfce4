import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { ROLES, WIDGETS, type Widget } from '../src/platform/access/roles.ts';
import { newToken } from '../src/platform/access/token.ts';
import { newId } from '../src/platform/core/ids.ts';
import { sha256 } from '../src/platform/core/secrets.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { inTurns, turnsOf } from './extent.ts';
import {
  existingParams,
  type Ids,
  nameOf,
  PUBLIC_URL,
  propertiesOf,
  success,
  validBody,
  validRequest,
  withJson,
} from './requests.ts';
import { openTenants } from './tenants.ts';

/** Guarantees of every endpoint in addition to the matrix (matrix.test.ts). No code here names an endpoint. */
const tenants = await openTenants();
const { world, a, b, fresh, unknown, owner, roles, stranger, inactive, send, key, tokenFor, widgetToken } = tenants;

const ON_OBJECT = ENDPOINTS.filter(({ access }) => access.on === 'workspace' || access.on === 'wiki');

const WITH_CREDENTIAL = ENDPOINTS.filter(({ access }) => access.on !== 'anyone');

/** Kinds of invalid credentials. All get the same answer. */
const INVALID = [
  'missing',
  'revoked',
  'of the wrong kind',
  'empty',
  'scheme alone',
  'scheme and a space',
  'another scheme',
  'two spaces',
  'a comma behind',
  'something behind',
  'no scheme',
  'sent twice',
  'not one of ours',
  'never issued',
  'last character changed',
  'first character changed',
  'upper-cased',
  'an unsigned token',
  'expired',
  'very long',
] as const;
type Invalid = (typeof INVALID)[number];
const nextInvalid = inTurns(INVALID, 4);
const nextElsewhere = turnsOf(1);
const nextIgnored = turnsOf(2);
const nextWrong = turnsOf(3);
const nextForeign = turnsOf(2);

for (const endpoint of WITH_CREDENTIAL) {
  test(`${nameOf(endpoint)} answers every invalid credential with the same 401`, async () => {
    const good = await tokenFor(endpoint, owner);
    const own = await key(owner.user_id, {});
    const headers: Record<Invalid, string | string[] | undefined> = {
      missing: undefined,
      empty: '',
      'scheme alone': 'Bearer',
      'scheme and a space': 'Bearer ',
      'another scheme': `Basic ${good}`,
      'two spaces': `Bearer  ${good}`,
      'a comma behind': `Bearer ${good},`,
      'something behind': `Bearer ${good} x`,
      'no scheme': good,
      'sent twice': [`Bearer ${good}`, `Bearer ${good}`],
      'not one of ours': 'Bearer x',
      'never issued': `Bearer ${newToken('key').secret}`,
      'last character changed': `Bearer ${good.slice(0, -1)}${good.endsWith('a') ? 'b' : 'a'}`,
      'first character changed': `Bearer x${good.slice(1)}`,
      'upper-cased': `Bearer ${good.toUpperCase()}`,
      'an unsigned token': `Bearer ${unsignedToken(owner.user_id)}`,
      revoked: `Bearer ${await key(owner.user_id, { dead: 'revoked' })}`,
      expired: `Bearer ${await key(owner.user_id, { dead: 'expired' })}`,
      'of the wrong kind': `Bearer ${endpoint.access.on === 'widget' ? own : await widgetToken(owner, 'profile')}`,
      'very long': `Bearer ${'x'.repeat(8_000)}`,
    };
    for (const kind of nextInvalid()) {
      const authorization = headers[kind];
      const request = validRequest(endpoint, a);
      const answer = await send(
        { ...request, headers: { ...request.headers, ...(authorization !== undefined && { authorization }) } },
        endpoint,
      );
      assert.equal(answer.status, 401, `a credential that is ${kind} must be 401: ${answer.text}`);
      const { request_id, ...body } = answer.body;
      assert.deepEqual(
        body,
        { error: 'unauthorized', message: 'Send a valid access token or API key: Authorization: Bearer <token>.' },
        `a credential that is ${kind} must get the same answer as every other`,
      );
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    }
  });

  test(`${nameOf(endpoint)} accepts credentials in the Authorization header only`, async () => {
    const request = validRequest(endpoint, a);
    const token = await tokenFor(endpoint, owner);
    const elsewhere = [
      { ...request, headers: { ...request.headers, cookie: `token=${token}; authorization=Bearer ${token}` } },
      { ...request, headers: { ...request.headers, 'proxy-authorization': `Bearer ${token}`, 'x-api-key': token } },
      { ...request, headers: { ...request.headers, 'x-user-id': owner.user_id, 'x-forwarded-user': owner.user_id } },
      {
        ...request,
        path: `${request.path}${request.path.includes('?') ? '&' : '?'}access_token=${token}&user_id=${owner.user_id}`,
      },
    ];
    for (const sent of nextElsewhere(elsewhere)) assert.equal((await send(sent, endpoint)).status, 401);
  });
}

for (const endpoint of ENDPOINTS.filter(({ access }) => access.on === 'anyone')) {
  test(`${nameOf(endpoint)} ignores a credential, valid or not`, async () => {
    const dead = await key(owner.user_id, { dead: 'revoked' });
    for (const authorization of nextIgnored([
      undefined,
      '',
      'Bearer',
      'Basic x',
      'Bearer x',
      `Bearer ${dead}`,
      `Bearer ${owner.token}`,
    ])) {
      const request = validRequest(endpoint, await fresh(endpoint, owner));
      const headers = { ...request.headers, ...(authorization !== undefined && { authorization }) };
      const answer = await send({ ...request, headers }, endpoint);
      assert.equal(answer.status, success(endpoint), `${authorization}: ${answer.text}`);
    }
  });
}

for (const endpoint of ENDPOINTS) {
  test(`${nameOf(endpoint)} ignores ids in a body or a query that contradict the path`, async () => {
    const ids = await fresh(endpoint, owner);
    const request = validRequest(endpoint, ids, await tokenFor(endpoint, owner));
    const extra = {
      workspace_id: b.workspace_id,
      organization_id: b.workspace_id,
      wiki_id: b.wiki_id,
      user_id: b.user_id,
      membership_id: b.membership_id,
    };
    const query = `${request.path.includes('?') ? '&' : '?'}${new URLSearchParams(extra)}`;
    const rights = {
      role_id: 'owner',
      permissions: ['workspace:delete'],
      can_manage_billing: true,
      status: 'active',
      is_admin: true,
    };
    let sent = { ...request, path: request.path + query };
    if (endpoint.body) {
      // Some bodies have a `status` of their own.
      const own = new Set(Object.keys(propertiesOf(endpoint.body)));
      const foreign = Object.entries({ ...extra, ...rights }).filter(([name]) => !own.has(name));
      const body = { ...Object.fromEntries(foreign), ...validBody(endpoint, ids) };
      sent = withJson(sent, JSON.stringify(body));
    }
    const answer = await send(sent, endpoint);
    assert.equal(answer.status, success(endpoint), answer.text);
    assert.ok(!answer.text.includes(b.workspace_id) && !answer.text.includes(b.wiki_id), answer.text);
  });
}

for (const endpoint of ON_OBJECT) {
  const [container = '', ...children] = existingParams(endpoint);
  const inA = (name: string, id: string | undefined): Ids => ({ ...a, [name]: id ?? '' });

  test(`${nameOf(endpoint)} finds no record by an id that is malformed, of another kind or in another spelling`, async () => {
    const id = a[container] ?? '';
    const spellings = [
      'x',
      '0',
      '-1',
      'null',
      id.toUpperCase(),
      `${id} `,
      ` ${id}`,
      `${id}.`,
      id.slice(0, -1),
      `${id}0`,
      `%${id.slice(0, 5)}%`,
    ];
    const kinds = [
      a.user_id,
      a.page_id,
      a.membership_id,
      a.upload_id,
      "' or 1=1--",
      '${7*7}',
      '*',
      '..',
      'é',
      '\u202e',
      '𝒳',
    ];
    for (const wrong of nextWrong([...spellings, ...kinds])) {
      const answer = await send(validRequest(endpoint, inA(container, wrong), owner.token), endpoint);
      assert.equal(answer.status, 404, `"${wrong}" must name nothing: ${answer.text}`);
    }
  });

  for (const child of children) {
    test(`${nameOf(endpoint)} finds no ${child} of another container`, async () => {
      for (const wrong of nextForeign([b[child], unknown[child], 'x', `${a[child]} `, a.user_id])) {
        const answer = await send(validRequest(endpoint, inA(child, wrong), owner.token), endpoint);
        assert.equal(answer.status, 404, `${child} ${wrong} is not in the container: ${answer.text}`);
        assert.equal(answer.body.error, 'not_found');
      }
    });
  }
}

for (const endpoint of ENDPOINTS.filter(({ access }) => access.on === 'wiki' && access.orCreator)) {
  test(`${nameOf(endpoint)} admits the creator of the wiki while they are an active member`, async () => {
    const { db } = world;
    for (const { slug } of ROLES) {
      const { user_id, token } = roles[slug];
      const wiki_id = newId('wiki');
      await db.query(sql`
        insert into wikis (wiki_id, workspace_id, slug, title, created_by)
        values (${wiki_id}, ${a.workspace_id}, ${wiki_id.slice(-20)}, 'Own', ${user_id})`);
      const request = (credential: string) => send(validRequest(endpoint, { ...a, wiki_id }, credential), endpoint);
      assert.equal(
        (await request(await key(user_id, { permissions: ['pages:read'] }))).status,
        403,
        'a key has only its own permissions',
      );
      for (const creator of [inactive, stranger]) {
        await db.query(sql`update wikis set created_by = ${creator.user_id} where wiki_id = ${wiki_id}`);
        assert.equal(
          (await request(creator.token)).status,
          403,
          `${creator.name} created it and is not an active member`,
        );
      }
      await db.query(sql`update wikis set created_by = ${user_id} where wiki_id = ${wiki_id}`);
      assert.equal((await request(token)).status, success(endpoint), `${slug} created it`);
    }
  });
}

/** Returns whether the endpoint accepts only widget tokens that a session issued. */
function needsSession({ access }: Endpoint): boolean {
  return access.on === 'widget' && access.instead?.on === 'caller' && access.instead.session;
}

const WIDGET_ENDPOINTS = ENDPOINTS.filter(({ access }) => access.on === 'widget');
const widgetOf = ({ access }: Endpoint) => (access.on === 'widget' ? access.widget : undefined);
const isFirstOfWidget = (endpoint: Endpoint) =>
  WIDGET_ENDPOINTS.find((other) => widgetOf(other) === widgetOf(endpoint)) === endpoint;

for (const endpoint of WIDGET_ENDPOINTS) {
  const own = endpoint.access.on === 'widget' ? endpoint.access.widget : 'profile';

  test(`${nameOf(endpoint)} accepts only one spelling of a token`, async () => {
    const token = await widgetToken(owner, own);
    // All endpoints of a widget verify tokens by the same code, so only the first one tries every letter.
    const letters = isFirstOfWidget(endpoint)
      ? 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_='
      : 'Aa0=';
    for (const letter of letters) {
      const spelled = token.slice(0, -1) + letter;
      if (spelled === token) continue;
      assert.equal(
        (await send(validRequest(endpoint, a, spelled), endpoint)).status,
        401,
        `${letter} as its last character`,
      );
    }
    for (const spelled of [`${token}=`, `${token}.`, `.${token}`, token.replace('.', '..'), `${token}.x`]) {
      assert.equal((await send(validRequest(endpoint, a, spelled), endpoint)).status, 401);
    }
  });

  test(`${nameOf(endpoint)} refuses tokens of another widget, another workspace or a former member`, async () => {
    for (const widget of Object.keys(WIDGETS) as Widget[]) {
      const ids = await fresh(endpoint, owner);
      const answer = await send(validRequest(endpoint, ids, await widgetToken(owner, widget)), endpoint);
      assert.equal(answer.status, widget === own ? success(endpoint) : 403, `a token for ${widget}: ${answer.text}`);
    }
    const refused = [
      await widgetToken(stranger, own),
      await widgetToken(inactive, own),
      await widgetToken(owner, own, b.workspace_id),
    ];
    for (const token of refused) assert.equal((await send(validRequest(endpoint, a, token), endpoint)).status, 403);
    const nowhere = await widgetToken(owner, own, unknown.workspace_id);
    assert.equal((await send(validRequest(endpoint, a, nowhere), endpoint)).status, 404);
  });

  test(`${nameOf(endpoint)} answers 401 to the token of a revoked key, at every widget`, async () => {
    const { db } = world;
    const secret = await key(owner.user_id, {});
    const issued = await send({
      method: 'POST',
      path: `/v1/workspaces/${a.workspace_id}/widget-token`,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ widget: own, origin: PUBLIC_URL }),
    });
    assert.equal(issued.status, 200, issued.text);
    const { token } = issued.body;
    const isOfSessions = needsSession(endpoint);
    const ids = await fresh(endpoint, owner);
    const answer = await send(validRequest(endpoint, ids, token), endpoint);
    assert.equal(answer.status, isOfSessions ? 403 : success(endpoint), 'a token is worth what it was made with');
    await db.query(sql`update api_keys set revoked_at = now() where secret_hash = ${sha256(secret)}`);
    for (const other of isFirstOfWidget(endpoint) ? WIDGET_ENDPOINTS : [endpoint]) {
      assert.equal(
        (await send(validRequest(other, a, token), other)).status,
        401,
        'a revoked token gets 401 before any other refusal',
      );
    }
  });
}

test('the credential scheme is case-insensitive, and the credential is not', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    const answer = await send({
      method: 'GET',
      path: '/v1/workspaces',
      headers: { authorization: `${scheme} ${owner.token}` },
    });
    assert.equal(answer.status, 200);
  }
});

test('no request of this file changes a row of the other workspace', tenants.checkForeignRows);

function unsignedToken(sub: string): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 600;
  const claims = { sub, org: a.workspace_id, widget: 'profile', aud: 'widget', iat: exp - 600, exp };
  return `${part({ alg: 'none', typ: 'widget+jwt', kid: 'widget-1' })}.${part(claims)}.`;
}
