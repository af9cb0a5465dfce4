import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { pino } from 'pino';
import { ENDPOINTS } from '../src/app.ts';
import { Bytes, Download } from '../src/platform/http/bytes.ts';
import { EventStream } from '../src/platform/http/event-stream.ts';
import { replySchema } from '../src/platform/http/handler/reply-schema.ts';
import { nameOf } from './requests.ts';
import { type Client, type Owner, openWorld } from './world.ts';

/** A field that a statement omits is an error, never an empty text or the default that openapi.json describes. */

const JSON_ENDPOINTS = ENDPOINTS.filter(
  ({ status, reply }) => status !== 204 && reply !== Bytes && reply !== Download && reply !== EventStream,
);

interface Schema {
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/**
 * Returns the path of each required field in an example: of the record itself, and of records in it and in its lists.
 */
function requiredFields({ properties = {}, required = [], items }: Schema, value: unknown): (string | number)[][] {
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => requiredFields(items ?? {}, item).map((way) => [i, ...way]));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => [
    ...(required.includes(name) ? [[name]] : []),
    ...requiredFields(properties[name] ?? {}, field).map((way) => [name, ...way]),
  ]);
}

function without(record: unknown, way: (string | number)[]): unknown {
  const copy = structuredClone(record);
  // The path comes from the example, so it exists.
  const owner = way.slice(0, -1).reduce((part: any, name) => part[name], copy as any);
  delete owner[way.at(-1) ?? ''];
  return copy;
}

/** The text that is removed from each statement during a test. */
const fault = { column: '', hits: 0 };
const lines: string[] = [];
const world = await openWorld(
  {},
  {
    log: pino({ level: 'error', base: undefined }, { write: (line: string) => lines.push(line) }),
    rewrite: (text) => {
      if (fault.column === '' || !text.includes(fault.column)) return text;
      fault.hits += 1;
      return text.replaceAll(fault.column, '');
    },
  },
);
const owner = await world.owner();
const page = (await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'Setup', markdown: 'One.' })).body;
const ofWorkspace = `/v1/workspaces/${owner.workspace_id}`;
const ofWiki = `/v1/wikis/${owner.wiki_id}`;
await owner.post(`${ofWorkspace}/api-keys`, { name: 'Script' });

/** Columns of statements, each with requests whose replies contain it. */
const COLUMNS: [column: string, ...requests: ((client: Owner) => ReturnType<Client['get']>)[]][] = [
  [
    ', w.description',
    ({ get }) => get(ofWiki),
    ({ get }) => get(`${ofWorkspace}/wikis`),
    ({ get }) => get('/v1/overview'),
    ({ post }) => post('/v1/onboarding'),
    ({ post }) => post(`${ofWorkspace}/wikis`, { title: 'Another' }),
    ({ patch }) => patch(ofWiki, { title: 'Renamed' }),
  ],
  [', w.slug', ({ get }) => get('/v1/workspaces'), ({ post }) => post('/v1/workspaces', { name: 'Acme' })],
  [', u.email', ({ get }) => get('/v1/me'), ({ get }) => get(`${ofWorkspace}/members`)],
  [', k.obfuscated_value', ({ get }) => get(`${ofWorkspace}/api-keys`)],
  [
    ', p.description',
    ({ get }) => get(`${ofWiki}/pages`),
    ({ get }) => get(`${ofWiki}/pages/${page.page_id}`),
    ({ get }) => get(`${ofWiki}/pages/path/${page.path}`),
  ],
  [', p.stale', ({ get }) => get(`${ofWiki}/pages/${page.page_id}`)],
  [', r.created_by', ({ get }) => get(`${ofWiki}/pages/${page.page_id}/revisions`)],
  [', e.address', ({ get }) => get(`${ofWorkspace}/audit-events`)],
];

test('no endpoint sends a reply that lacks a required field', async () => {
  const app = Fastify();
  let reply: unknown;
  for (const [i, endpoint] of JSON_ENDPOINTS.entries()) {
    app.get(`/${i}`, { schema: { response: { 200: replySchema(endpoint.reply) } } }, async () => reply);
  }
  let fields = 0;
  for (const [i, endpoint] of JSON_ENDPOINTS.entries()) {
    const example = endpoint.example.reply;
    reply = example;
    assert.equal((await app.inject(`/${i}`)).statusCode, 200, nameOf(endpoint));
    const schema: Schema = endpoint.reply.anyOf?.[0] ?? endpoint.reply;
    const ways = requiredFields(schema, example);
    if (Object.keys(schema.properties ?? schema.items ?? {}).length > 0) {
      assert.ok(ways.length > 0, `${nameOf(endpoint)}: its example must show a record`);
    }
    for (const way of ways) {
      reply = without(example, way);
      const answer = await app.inject(`/${i}`);
      assert.equal(answer.statusCode, 500, `${nameOf(endpoint)} without ${way.join('.')}: ${answer.body}`);
    }
    fields += ways.length;
  }
  await app.close();
  assert.ok(fields > 500, `${fields} fields`);
});

test('a reply that lacks a column of its statement is 500 and logged', async () => {
  for (const [column, ...requests] of COLUMNS) {
    for (const request of requests) {
      const good = await request(owner);
      assert.ok(good.status < 300, `${column}: ${JSON.stringify(good.body)}`);
      lines.length = 0;
      Object.assign(fault, { column, hits: 0 });
      const answer = await request(owner);
      fault.column = '';
      assert.ok(fault.hits > 0, `no statement of ${request} has "${column}"`);
      assert.equal(answer.status, 500, `${request} without "${column}": ${JSON.stringify(answer.body)}`);
      assert.ok(
        lines.some((line) => line.includes(answer.body.request_id)),
        'the failure must be in the log',
      );
    }
  }
});

test('a reply with several possible records is not sent without a column either', async () => {
  const form = () => {
    const body = new FormData();
    body.append('files', new Blob(['# A\n']), 'a.md');
    return { body };
  };
  assert.equal((await owner.send('POST', `${ofWiki}/uploads`, form())).status, 201);
  Object.assign(fault, { column: ', u.summary', hits: 0 });
  const answer = await owner.send('POST', `${ofWiki}/uploads`, form());
  fault.column = '';
  assert.deepEqual([answer.status, fault.hits > 0], [500, true], JSON.stringify(answer.body));
});
