import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { inTurns, turnsOf } from './extent.ts';
import { type RawRequest, sendBytes } from './raw-http.ts';
import { nameOf, pathOf, success, validRequest } from './requests.ts';
import { openTenants } from './tenants.ts';

/** Requests that match no endpoint: other spellings, other methods, other routes, and bytes that are not HTTP. */
const tenants = await openTenants();
const { world, a, owner, send, tokenFor } = tenants;

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'HEAD',
  'PROPFIND',
  'SEARCH',
  'LINK',
  'PURGE',
  'M-SEARCH',
  'COPY',
];

/** Returns spellings of a path that some routers treat as the path itself. */
function spellings(path: string): string[] {
  const segments = path.split('/').slice(1);
  const [first = '', second = ''] = segments;
  const last = segments.at(-1) ?? '';
  const head = path.slice(0, path.length - last.length);
  const encoded = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
  return [
    `${path}/`,
    `${path}//`,
    `/${path}`,
    `//${path}`,
    path.replaceAll('/', '//'),
    `${head}/${last}`,
    `${head}./${last}`,
    `${path}/.`,
    `${path}/./`,
    `/x/..${path}`,
    `/./${path}`,
    `${head}x/../${last}`,
    `${path}/x/..`,
    `${path}/..`,
    `/%2e%2e${path}`,
    `/x/%2e%2e${path}`,
    `/..;${path}`,
    `${path};x`,
    `${path};x=y`,
    `${path};/`,
    `/;${path}`,
    `${head};/${last}`,
    `${path}%2f`,
    `${head}%2f${last}`,
    path.replaceAll('/', '%2f'),
    path.replace('/v1/', '/v1%2f'),
    path.replaceAll('/', '\\'),
    `${head}%5c${last}`,
    `${path}%5c`,
    `${path}%00`,
    `${path}%00.json`,
    `${path}.json`,
    `${path}%20`,
    `${path}%09`,
    `${path}%0d%0a`,
    `${path}%3f`,
    `${path}%23`,
    `${path}?`,
    `${path}#x`,
    `${path}?x=/../`,
    `/${first.toUpperCase()}/${segments.slice(1).join('/')}`,
    `/v1/${second.toUpperCase()}${path.slice(4 + second.length)}`,
    `/${encoded(first)}${path.slice(3)}`,
    `${head}${encoded(last)}`,
    `/v2${path.slice(3)}`,
    `/v01${path.slice(3)}`,
    path.slice(3),
    `/api${path}`,
    `${path}%c0%af`,
    `${path}%u002f`,
    `${path}%ff`,
    `${path}~`,
    `${path}*`,
    `http://evil.example${path}`,
    `//evil.example${path}`,
    `https://x:y@evil.example${path}`,
  ];
}

const nextClosed = turnsOf(5);
const nextOpen = turnsOf(3);
const nextMethods = inTurns(METHODS, 4);

for (const endpoint of ENDPOINTS) {
  test(`${nameOf(endpoint)} is never reached by another spelling of its path without a credential`, async () => {
    // A public endpoint answers an accepted spelling like the path itself.
    const open = endpoint.access.on === 'anyone' ? [success(endpoint), 422] : [];
    for (const path of nextClosed(spellings(pathOf(endpoint, a)))) {
      const answer = await send({ method: endpoint.method, path });
      assert.ok([400, 401, 404, 405, 414, ...open].includes(answer.status), `${path}: ${answer.status} ${answer.text}`);
      assert.ok(
        !JSON.stringify([answer.headers, answer.text]).includes('evil'),
        'no answer contains a host that a client names',
      );
    }
  });

  test(`${nameOf(endpoint)} never fails for another spelling of its path, and trusts no host from a client`, async () => {
    const authorization = `Bearer ${await tokenFor(endpoint, owner)}`;
    for (const path of nextOpen(spellings(pathOf(endpoint, a)))) {
      const answer = await send({
        method: 'GET',
        path,
        headers: {
          authorization,
          host: 'evil.example',
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'evil',
        },
      });
      assert.ok(!JSON.stringify([answer.headers, answer.text]).includes('evil'), `${path}: ${answer.text}`);
    }
  });
}

for (const path of new Set(ENDPOINTS.map((endpoint) => endpoint.path))) {
  const here = ENDPOINTS.filter((endpoint) => endpoint.path === path);
  const [first] = here;
  test(`${path} answers 405 with Allow to every method that it does not have`, async () => {
    assert.ok(first);
    const allowed = new Set(here.flatMap(({ method }) => (method === 'GET' ? [method, 'HEAD'] : [method])));
    for (const method of nextMethods()) {
      const request = { method, path: pathOf(first, a), headers: { authorization: `Bearer ${owner.token}` } };
      for (const sent of [request, { ...request, headers: {} }]) {
        const answer = await send(sent);
        if (allowed.has(method)) continue;
        assert.equal(answer.status, 405, `${method}: ${answer.text}`);
        assert.deepEqual(new Set(String(answer.headers.allow).split(', ')), allowed);
      }
    }
  });
}

test('HEAD is answered like GET, without the body', async () => {
  for (const endpoint of ENDPOINTS.filter(({ method }) => method === 'GET')) {
    const request = validRequest(endpoint, a, await tokenFor(endpoint, owner));
    const got = await send(request, endpoint);
    const head = await send({ ...request, method: 'HEAD' }, endpoint);
    assert.equal(head.status, got.status);
    assert.equal(head.text, '');
    const bare = await send({ method: 'HEAD', path: request.path });
    assert.equal(bare.status, endpoint.access.on === 'anyone' ? got.status : 401);
  }
});

test('an unknown route is 404 with the detail "Not Found", with or without a credential', async () => {
  const paths = [
    '/',
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v2/workspaces',
    '/favicon.ico',
    '/.env',
    '/metrics',
    '/debug',
    '/admin',
    '/setup',
    '/graphql',
    '/v1/wikis',
    '/v1/widgets',
    '/openapi.yaml',
    '*',
    `/${'x/'.repeat(2_000)}`,
  ];
  for (const path of paths) {
    for (const method of METHODS) {
      for (const headers of [undefined, { authorization: `Bearer ${owner.token}` }]) {
        const answer = await send({ method, path, ...(headers && { headers }) });
        if (path === '*') {
          assert.equal(answer.status, 404);
          continue;
        }
        assert.equal(answer.status, 404, `${method} ${path}: ${answer.text}`);
        if (method !== 'HEAD') assert.equal(answer.body.detail, 'Not Found');
      }
    }
  }
});

test('a valid X-Request-Id of a client is returned, and an invalid one is replaced', async () => {
  const good = ['12345678', 'a'.repeat(64), 'A-b_c.9-'];
  const bad = ['1234567', 'a'.repeat(65), 'white space', 'a"bcdefgh', '<script>x', 'ünicode-id', ''];
  const requests: RawRequest[] = [
    { method: 'GET', path: '/v1/workspaces' },
    { method: 'GET', path: '/nothing' },
    { method: 'PUT', path: '/v1/workspaces' },
    { method: 'GET', path: '/v1/wikis/%zz/pages' },
    { method: 'GET', path: '/livez' },
  ];
  for (const request of requests) {
    for (const id of good)
      assert.equal((await send({ ...request, headers: { 'x-request-id': id } })).headers['x-request-id'], id);
    for (const id of bad) {
      const answer = await send({ ...request, headers: { 'x-request-id': Buffer.from(id).toString('latin1') } });
      assert.match(String(answer.headers['x-request-id']), /^req_/);
    }
  }
});

test('the routes of operations return only their documented fields, and accept only GET', async () => {
  for (const [path, keys] of Object.entries({
    '/livez': ['status'],
    '/readyz': ['status'],
    '/version': ['name', 'version'],
  })) {
    const answer = await send({ method: 'GET', path });
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.body), keys);
  }
  for (const path of ['/openapi.json', '/docs/openapi.json'])
    assert.equal((await send({ method: 'GET', path })).status, 200);
  for (const path of ['/livez', '/readyz', '/version', '/openapi.json', '/docs']) {
    for (const method of ['POST', 'DELETE', 'OPTIONS', 'TRACE'])
      assert.equal((await send({ method, path })).status, 405);
  }
});

const GET = 'GET /v1/workspaces HTTP/1.1\r\nHost: x\r\n';
const POST = 'POST /v1/workspaces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

/** Bytes that proxies and servers have parsed differently, or that have broken parsers. */
const GARBAGE: Record<string, string> = {
  'both lengths': `${POST}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'both lengths, the other way round': `${POST}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'two different lengths': `${POST}Content-Length: 0\r\nContent-Length: 6\r\n\r\n${SMUGGLED}`,
  'two lengths in one': `${POST}Content-Length: 0, 6\r\n\r\n${SMUGGLED}`,
  'a negative length': `${POST}Content-Length: -1\r\n\r\n${SMUGGLED}`,
  'a length with a sign': `${POST}Content-Length: +5\r\n\r\n${SMUGGLED}`,
  'a hexadecimal length': `${POST}Content-Length: 0x5\r\n\r\n${SMUGGLED}`,
  'a length that overflows': `${POST}Content-Length: 18446744073709551617\r\n\r\n${SMUGGLED}`,
  'an unknown encoding': `${POST}Transfer-Encoding: xchunked\r\n\r\n${SMUGGLED}`,
  'chunked twice': `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'chunked and identity': `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'a space before the colon': `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'a folded header': `${POST}X: y\r\n z\r\n\r\n${SMUGGLED}`,
  'a bare line feed': `GET /v1/workspaces HTTP/1.1\nHost: x\n\n${SMUGGLED}`,
  'a bare carriage return': `GET /v1/workspaces HTTP/1.1\rHost: x\r\r${SMUGGLED}`,
  'a NUL in a header': `${GET}X: a\0b\r\n\r\n${SMUGGLED}`,
  'a header without a name': `${GET}: x\r\n\r\n${SMUGGLED}`,
  'a header without a colon': `${GET}nothing\r\n\r\n${SMUGGLED}`,
  'a chunk size that is not a number': `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n${SMUGGLED}`,
  'a chunk size that overflows': `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n\r\n${SMUGGLED}`,
  'a long chunk extension': `${POST}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n${SMUGGLED}`,
  'an unknown method': `FOO /v1/workspaces HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`,
  'a method in lower case': `get /v1/workspaces HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`,
  'no version': 'GET /v1/workspaces\r\n\r\n',
  'an unknown version': `GET /v1/workspaces HTTP/9.9\r\nHost: x\r\n\r\n${SMUGGLED}`,
  'HTTP/2 at once': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a TLS greeting': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'a space in the path': `GET /v1/work spaces HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`,
  'headers without an end': `${GET}${'X: y\r\n'.repeat(10_000)}`,
  'a header of 100 KB': `${GET}X: ${'y'.repeat(100_000)}\r\n\r\n`,
  'a path of 100 KB': `GET /${'y'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  'two hosts': `${GET}Host: y\r\n\r\n${SMUGGLED}`,
  'the same host twice': `${GET}host: x\r\n\r\n${SMUGGLED}`,
  'no host': 'GET /v1/workspaces HTTP/1.1\r\n\r\n',
  'an unknown expectation': `${POST}Expect: wonders\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  'a tunnel': 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  'another protocol': `${GET}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
};

for (const [what, bytes] of Object.entries(GARBAGE)) {
  test(`${what} gets a single error answer in the usual format, and the connection is closed`, async () => {
    const received = await sendBytes(world.address, Buffer.from(bytes, 'latin1'));
    const heads = received.match(/HTTP\/1\.1 \d{3} /g) ?? [];
    assert.equal(heads.length, 1, `there must be exactly one answer: ${received}`);
    assert.match(received, /^HTTP\/1\.1 4\d\d /);
    const [head = '', body = ''] = received.split('\r\n\r\n');
    const envelope = JSON.parse(body);
    const { detail, ...rest } = envelope;
    assert.deepEqual(Object.keys(rest), ['error', 'message', 'request_id']);
    assert.match(head, new RegExp(`x-request-id: ${rest.request_id}`, 'i'));
    assert.match(head, /x-content-type-options: nosniff/i);
    assert.ok(!received.includes('evil'), received);
    assert.equal((await send({ method: 'GET', path: '/livez' })).status, 200, 'the service must still answer');
  });
}

test('no request of this file changes a row of the other workspace', tenants.checkForeignRows);
