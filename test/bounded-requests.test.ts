import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { ENDPOINTS } from '../src/app.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { longTest } from './extent.ts';
import { skipUnless } from './needs.ts';
import { startWebService } from './process.ts';
import { sendRaw } from './raw-http.ts';
import { type Ids, nameOf, pathOf, pathParams, propertiesOf, validBody } from './requests.ts';
import { until } from './until.ts';

/** The size of a request bounds its cost, and the size of the answer to an invalid request is bounded too. */
const ANSWER_MAX = 65_536;
const BODY_BYTES = 2 ** 20;

type Schema = TSchema & {
  type?: string;
  pattern?: string;
  maxLength?: number;
  maxItems?: number;
  enum?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
};

/** Returns the paths of all strings and lists of a schema that have no bound. */
function unbounded(schema: Schema, place: string): string[] {
  const isFixed = schema.pattern !== undefined && !/[*+]|\{\d+,\}/.test(schema.pattern.replaceAll('[+-]', ''));
  const isOpenText = schema.type === 'string' && schema.maxLength === undefined && !schema.enum && !isFixed;
  const isOpenList = schema.type === 'array' && schema.maxItems === undefined;
  return [
    ...(isOpenText || isOpenList ? [place] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => unbounded(each, `${place}.${name}`)),
    ...(schema.items ? unbounded(schema.items, `${place}[]`) : []),
    ...(schema.anyOf ?? []).flatMap((each) => unbounded(each, place)),
  ];
}

// Without jobs, whose memory would be measured too.
const { port, service, world } = await startWebService();
const owner = await world.owner();

test('the schema bounds every string and list of a body or a query', () => {
  // The text of a page is measured in bytes, by an option. Path parameters are bounded by the router.
  const found = ENDPOINTS.flatMap(({ method, path, body, query, bodyLimit }) =>
    [
      ...unbounded(body ?? {}, 'body').filter((place) => !(bodyLimit === 'markdown' && place === 'body.markdown')),
      ...unbounded(query ?? {}, 'query'),
    ].map((place) => `${method} ${path} ${place}`),
  );
  assert.deepEqual(found, []);
});

const LISTS = ENDPOINTS.flatMap((endpoint) =>
  Object.entries(propertiesOf(endpoint.body)).flatMap(([name, { type }]) =>
    type === 'array' ? [{ endpoint, name }] : [],
  ),
);

/** Builds a request whose list repeats this item `count` times, about 1 MiB at most. */
async function requestOf(endpoint: Endpoint, name: string, item: string, count: number) {
  const ids = { ...owner, organization_id: owner.workspace_id } as unknown as Ids;
  for (const param of pathParams(endpoint)) ids[param] ??= 'nothing';
  const body = { ...validBody(endpoint, ids), [name]: 'ITEMS' };
  const items = `[${Array.from({ length: count }, () => item).join(',')}]`;
  return {
    method: endpoint.method,
    path: pathOf(endpoint, ids),
    headers: { ...(await credentialFor(endpoint)), 'content-type': 'application/json' },
    body: JSON.stringify(body).replace('"ITEMS"', items),
  };
}

const ORIGIN = 'https://example.com';

/** Returns headers with the owner's key, or with a token of the widget in the path, as used by a page at ORIGIN. */
async function credentialFor({ access, path }: Endpoint): Promise<Record<string, string>> {
  if (access.on !== 'widget') return { authorization: `Bearer ${owner.token}` };
  const of = `/v1/workspaces/${owner.workspace_id}`;
  await owner.patch(`${of}/widget-origins`, { widget_origins: [ORIGIN] });
  const { body } = await owner.post(`${of}/widget-token`, { widget: path.split('/')[3], origin: ORIGIN });
  return { authorization: `Bearer ${body.token}`, origin: ORIGIN };
}

for (const { endpoint, name } of LISTS) {
  const { maxItems } = propertiesOf(endpoint.body)[name] as Schema;
  for (const item of ['0', '{}', `"${'\\u0001'.repeat(12)}"`, `{"filename":0,"byte_size":"","sha256":[]}`]) {
    const most = Math.floor((BODY_BYTES - 1_000) / (item.length + 1));
    for (const count of [most, Math.min(most, maxItems ?? most)]) {
      test(`${nameOf(endpoint)} answers ${count} wrong ${name} (${item.slice(0, 20)}) with at most 50 errors and 64 KiB`, async () => {
        const answer = await sendRaw(world.address, await requestOf(endpoint, name, item, count));
        // The schema allows any text as an item; its meaning is checked later.
        assert.ok([400, 422].includes(answer.status), answer.text.slice(0, 300));
        assert.ok(answer.text.length <= ANSWER_MAX, `${answer.text.length} bytes`);
        if (answer.status === 422) assert.ok(answer.body.detail.length <= 50, `${answer.body.detail.length} errors`);
      });
    }
  }
}

test('a body with too many values is refused before its values are parsed', async () => {
  const body = `{"name":"x","ignored":[${'0,'.repeat(200_000)}0]}`;
  const answer = await owner.send('POST', '/v1/workspaces', { headers: { 'content-type': 'application/json' }, body });
  assert.equal(answer.status, 422);
  assert.deepEqual(answer.body.detail[0].loc, ['body']);
});

test('a body may have 10,000 values more than its endpoint accepts, so that a page can be sent back unchanged', async () => {
  const send = (path: string, count: number) =>
    owner.send('POST', path, {
      headers: { 'content-type': 'application/json' },
      body: `{"markdown":"x","files":[${Array(count).fill('{"filename":"a.md","byte_size":1}').join(',')}]}`,
    });
  const [preview, uploads] = [`/v1/wikis/${owner.wiki_id}/preview`, `/v1/wikis/${owner.wiki_id}/uploads`];
  assert.equal((await send(preview, 4_900)).status, 200);
  assert.deepEqual((await send(preview, 5_100)).body.detail?.[0].loc, ['body'], 'two for each file');
  assert.equal((await send(uploads, 5_100)).status, 413, 'which are files there, and more than an upload takes');
});

longTest('commas, brackets and escapes in a text do not count as values, but values after the text do', async () => {
  const markdown = JSON.stringify(`${'\\", [{'.repeat(60_000)}\\\\`);
  const send = (more: string) =>
    owner.send('POST', `/v1/wikis/${owner.wiki_id}/preview`, {
      headers: { 'content-type': 'application/json' },
      body: `{"markdown":${markdown}${more}}`,
    });
  assert.equal((await send('')).status, 200);
  assert.equal((await send(`,"ignored":[${'0,'.repeat(60_000)}0]`)).status, 422);
  assert.equal((await send(`,"ignored":${'['.repeat(40)}${']'.repeat(40)}`)).status, 400);
});

test('the message of a refusal is bounded, whatever the request quotes', async () => {
  const long = 'x'.repeat(60_000);
  for (const [path, body] of [
    [`/v1/workspaces/${owner.workspace_id}/members/invite`, { email: `${long}@example.com`, role: 'member' }],
    [`/v1/workspaces/${owner.workspace_id}/members/invite`, { email: 'a@example.com', role: long }],
    ['/v1/me/api-keys', { name: 'x', permissions: [long] }],
    [`/v1/wikis/${owner.wiki_id}/uploads`, { files: [{ filename: long, byte_size: 2 ** 40 }] }],
  ] as const) {
    const answer = await owner.post(path, body);
    assert.ok(answer.status >= 400 && answer.status < 500, path);
    assert.ok(JSON.stringify(answer.body).length <= 2_048, path);
  }
});

async function residentMiB(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

test('thirty such requests at once, from clients that never read, do not grow the memory of the service', {
  skip: skipUnless(process.platform === 'linux', 'Memory is read from /proc, which is on Linux only.'),
}, async () => {
  const [upload] = LISTS.filter(({ name }) => name === 'files');
  assert.ok(upload);
  const request = await requestOf(upload.endpoint, 'files', '{}', 300_000);
  const head = [
    `${request.method} ${request.path} HTTP/1.1`,
    'Host: x',
    `Content-Length: ${Buffer.byteLength(request.body)}`,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');
  // Let the heap grow to its usual size first.
  for (let i = 0; i < 5; i += 1) assert.equal((await sendRaw(world.address, request)).status, 422);
  const before = await residentMiB();
  let most = before;
  const sockets: Socket[] = [];
  for (let i = 0; i < 30; i += 1) {
    const socket = connect({ host: '127.0.0.1', port });
    socket.pause();
    socket.write(`${head}\r\n\r\n${request.body}`);
    sockets.push(socket);
  }
  await until(
    'all bodies are sent',
    () => sockets.map(({ writableLength }) => writableLength),
    (left) => left.every((bytes) => bytes === 0),
  );
  for (let i = 0; i < 20; i += 1) {
    assert.equal((await owner.get('/v1/me')).status, 200);
    most = Math.max(most, await residentMiB());
  }
  for (const socket of sockets) socket.destroy();
  assert.ok(most - before < 150, `${Math.round(before)} MiB before, at most ${Math.round(most)} MiB`);
});
