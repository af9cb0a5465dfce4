import { readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import fc from 'fast-check';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { hostileText, hostileValue } from './hostile-values.ts';

/** A request that is not sent yet. Placeholders such as `§own.wiki_id§` stand for ids. */
export interface FuzzedRequest {
  /** As in openapi.json: `PATCH /v1/wikis/{wiki_id}`. */
  operation: string;
  caller: Caller;
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Bytes as Latin-1. */
  body: string | undefined;
}

const CALLERS = [
  'right',
  'admin',
  'member',
  'viewer',
  'stranger',
  'inactive',
  'reading key',
  'widget',
  'none',
  'garbage',
] as const;
export type Caller = (typeof CALLERS)[number];

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

interface Operation {
  parameters?: { name: string; in: string; schema: Schema }[];
  responses: Record<string, { $ref?: string }>;
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
}

export const API = JSON.parse(readFileSync(new URL('openapi.json', PACKAGE), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
  };
};

const OPERATIONS = Object.entries(API.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

export function fuzzedRequests(): fc.Arbitrary<FuzzedRequest[]> {
  return fc.array(fc.oneof(...OPERATIONS.map(({ method, path, operation }) => requestTo(method, path, operation))), {
    minLength: 1,
    maxLength: 6,
  });
}

function requestTo(method: string, path: string, operation: Operation): fc.Arbitrary<FuzzedRequest> {
  const parameters = operation.parameters ?? [];
  const named = (where: string) => parameters.filter((parameter) => parameter.in === where);
  const values = Object.fromEntries(named('path').map(({ name }) => [name, pathValue(name)]));
  const queries = named('query').map(({ name, schema }) =>
    fc.option(fc.tuple(fc.constant(name), mostly(8, valuesOf(name, schema), hostileText)), { freq: 1 }),
  );
  return fc
    .record({
      caller: mostly(6, fc.constant<Caller>('right'), fc.constantFrom(...CALLERS)),
      ids: fc.record(values),
      query: fc.tuple(...queries),
      more: mostly(
        12,
        fc.constant(''),
        fc
          .tuple(hostileText, hostileText)
          .map((pair) => `&${new URLSearchParams([pair.map((text) => text.slice(0, 2_000)) as [string, string]])}`),
      ),
      body: bodyOf(operation),
      key: mostly(4, fc.constant(undefined), fc.constantFrom('one', 'two', 'three', '', 'x'.repeat(256), 'é')),
      headers: mostly(8, fc.constant({}), oddHeaders),
      spelling: mostly(
        15,
        fc.constant((text: string) => text),
        fc.constantFrom(...SPELLINGS),
      ),
      verb: mostly(40, fc.constant(method), fc.constantFrom(...METHODS.filter((name) => name !== 'CONNECT'))),
    })
    .map(({ caller, ids, query, more, body, key, headers, spelling, verb }) => {
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => (ids as Record<string, string>)[name] ?? '');
      const search = query.flatMap((pair) =>
        pair ? [`${pair[0]}=${idsUnescaped(encode(String(pair[1]).slice(0, 4_000)))}`] : [],
      );
      return {
        operation: `${method} ${path}`,
        caller,
        method: verb,
        path: `${spelling(filled)}${search.length > 0 || more ? '?' : ''}${search.join('&')}${more}`,
        headers: {
          ...(body && body.type !== '' && { 'content-type': body.type }),
          ...body?.headers,
          ...(key !== undefined && key !== '' && { 'idempotency-key': key }),
          ...headers,
        },
        body: body?.text,
      };
    });
}

/** Generates `usual` in `weight` of `weight + 1` cases. */
function mostly<T, U>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<U>): fc.Arbitrary<T | U> {
  return fc.oneof<fc.MaybeWeightedArbitrary<T | U>[]>({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
}

function pathValue(name: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(`§own.${name}§`) },
    { weight: 3, arbitrary: fc.constant(`§foreign.${name}§`) },
    { weight: 1, arbitrary: fc.constant(`§unknown.${name}§`) },
    { weight: 1, arbitrary: hostileText.map((text) => encode(text.slice(0, 1_500))) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('..', '.', '%2e%2e', '%2f', '%', '%ff', '%00', '', '*', '~', '%c0%af', 'a;b=c'),
    },
  );
}

function idsUnescaped(text: string): string {
  return text.replace(/%C2%A7([a-z]+\.[a-z_]+)%C2%A7/g, '§$1§');
}

/** Percent-encodes a text. A lone surrogate, which has no encoding, becomes bytes that are not UTF-8. */
function encode(text: string): string {
  return Array.from(text, (character) => (character.isWellFormed() ? encodeURIComponent(character) : '%ed%a0%80')).join(
    '',
  );
}

const SPELLINGS: ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.replace('/v1', '/v1/.'),
  (path) => path.replace('/v1', '/x/../v1'),
  (path) => path.replace('/v1', '/V1'),
  (path) => path.replace('/v1', '/v1//'),
  (path) => path.replace('wikis', 'wik%69s'),
  (path) => `${path};a=b`,
  (path) => `${path}%00`,
  (path) => `${path}?`,
  (path) => `http://other.example${path}`,
  (path) => `${path}.json`,
];

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.constantFrom<Record<string, string>>(
  { accept: 'text/html' },
  { accept: '*/*;q=0, text/markdown' },
  { accept: 'x'.repeat(4_000) },
  { 'accept-encoding': 'gzip;q=2, br, ,,' },
  { 'if-none-match': '*' },
  { 'if-match': '"1"' },
  { 'if-match': 'W/"x", "1"' },
  { range: 'bytes=0-0' },
  { range: 'bytes=-1,5-2,999999999999999999999-' },
  { 'last-event-id': '9'.repeat(100) },
  { cookie: 'ibid=x; ibid=y; a' },
  { origin: 'null', 'sec-fetch-site': 'cross-site' },
  { host: 'evil.example:99999' },
  { 'x-forwarded-for': '::1, 1.2.3.4, x', forwarded: 'for=_x' },
  { 'x-request-id': `${'a'.repeat(300)}` },
  { 'content-encoding': 'gzip' },
  { 'x-http-method-override': 'DELETE' },
  { expect: '100-continue' },
  { 'tus-resumable': '0.2.2', 'upload-offset': '-1' },
  { 'upload-checksum': 'sha256 x' },
);

interface Body {
  type: string;
  text: string;
  headers?: Record<string, string>;
}

function bodyOf({ requestBody }: Operation): fc.Arbitrary<Body | undefined> {
  const kinds = Object.entries(requestBody?.content ?? {}).map(([type, { schema, example }]) => {
    if (type === 'multipart/form-data') return multipart;
    if (type !== 'application/json') return bytes;
    return jsonText(schema, example);
  });
  if (kinds.length === 0) return mostly(10, fc.constant(undefined), jsonText({}, {}));
  return mostly(15, fc.oneof(...kinds), fc.constant(undefined));
}

function jsonText(schema: Schema, example: unknown): fc.Arbitrary<Body> {
  const value = fc.oneof(
    { weight: 3, arbitrary: withExample(schema, example) },
    { weight: 4, arbitrary: valuesOf('', schema) },
    { weight: 1, arbitrary: hostileValue },
  );
  const type = mostly(
    15,
    fc.constant('application/json'),
    fc.constantFrom(
      '',
      'text/plain',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'application/x-www-form-urlencoded',
      'x',
      'application/json, text/html',
    ),
  );
  const change = mostly(
    10,
    fc.constant((text: string) => text),
    fc.constantFrom(...JSON_CHANGES),
  );
  return fc
    .record({ value, type, change })
    .map((it) => ({ type: it.type, text: it.change(latin1(JSON.stringify(it.value) ?? '')) }));
}

/** Returns the UTF-8 bytes of a text, one character each. */
function latin1(text: string): string {
  return Buffer.from(text.replaceAll('§', '\x01')).toString('latin1').replaceAll('\x01', '§');
}

const JSON_CHANGES: ((text: string) => string)[] = [
  (text) => text.slice(0, -1),
  (text) => `${text}}`,
  (text) => `\xef\xbb\xbf${text}`,
  (text) => text.replace('{', '{"title":"a","title":{},"slug":null,'),
  (text) => text.replace('{', '{"__proto__":{"role":"owner"},'),
  (text) => text.replace(/"[^"]*"}/, '1e999}'),
  (text) => text.replace('"', '"\xff\xfe'),
  (text) => text.replace('}', ',}'),
  () => '['.repeat(100_000),
  () => '{"a":'.repeat(50_000),
  () => `"${'x'.repeat(900_000)}"`,
  () => `{"files":[${Array.from({ length: 5_000 }, () => '{}').join(',')}]}`,
  () => `{"permissions":[${Array.from({ length: 5_000 }, (_, i) => i).join(',')}]}`,
  () => '\0'.repeat(1_000),
  () => ' ',
];

/** Generates the example with some of its fields replaced or left out. */
function withExample(schema: Schema, example: unknown): fc.Arbitrary<unknown> {
  if (typeof example !== 'object' || example === null) return valuesOf('', schema);
  const { properties = {} } = resolve(schema);
  const fields = Object.entries(example).map(([name, value]) => {
    const usual = name.endsWith('_id') ? fc.constant(`§own.${name}§`) : fc.constant(value);
    return [
      name,
      mostly(10, usual, fc.oneof(valuesOf(name, properties[name] ?? {}), fc.constant(undefined), hostileValue)),
    ];
  });
  return fc.record(Object.fromEntries(fields));
}

const MULTIPART_ENDS = ['\r\n--B--\r\n', '\r\n--B--\r\n', '\r\n--B--\r\n', '', '\r\n--B\r\n', '\r\n--C--\r\n'];
const FILENAMES = [
  'a.md',
  'a.md',
  'a.txt',
  'x.pdf',
  'x.docx',
  'x.zip',
  '../../x.md',
  '/etc/passwd',
  '',
  'x'.repeat(500),
  'a\\b.md',
  'CON',
  '.md',
  'a%00.md',
  'ä.html',
  'a/b/c.csv',
];

const multipart: fc.Arbitrary<Body> = fc
  .record({
    parts: fc.array(
      fc.record({
        field: mostly(8, fc.constantFrom('files', 'file'), fc.constantFrom('', 'x', '__proto__')),
        name: fc.constantFrom(...FILENAMES),
        content: fc.oneof(
          fc.constant('# Text\n\nOf it.\n'),
          fc.string({ maxLength: 50 }),
          fc.nat(30_000).map((n) => 'y'.repeat(n)),
          fc.constant('PK\x03\x04 no archive'),
          fc.constant('%PDF-1.4 no document'),
        ),
        header: mostly(
          10,
          fc.constant('Content-Type: text/plain'),
          fc.constantFrom(
            `X: ${'y'.repeat(20_000)}`,
            'no header',
            'Content-Type: ;;;',
            'Content-Transfer-Encoding: base64',
          ),
        ),
      }),
      { maxLength: 4 },
    ),
    end: fc.constantFrom(...MULTIPART_ENDS),
    type: mostly(
      12,
      fc.constant('multipart/form-data; boundary=B'),
      fc.constantFrom(
        'multipart/form-data',
        'multipart/form-data; boundary=',
        `multipart/form-data; boundary=${'B'.repeat(200)}`,
        'multipart/mixed; boundary=B',
      ),
    ),
  })
  .map(({ parts, end, type }) => ({
    type,
    text:
      parts
        .map(({ field, name, content, header }) =>
          latin1(
            `--B\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\n${header}\r\n\r\n${content}`,
          ),
        )
        .join('\r\n') + end,
  }));

const bytes: fc.Arbitrary<Body> = fc
  .record({
    text: fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.nat(5_000).map((n) => 'z'.repeat(n)),
    ),
    offset: fc.constantFrom('0', '0', '0', '1', '-1', 'x', '1e3', '9'.repeat(30)),
  })
  .map(({ text, offset }) => ({
    type: 'application/offset+octet-stream',
    text: latin1(text),
    headers: { 'tus-resumable': '1.0.0', 'upload-offset': offset },
  }));

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (API.components.schemas[name] ?? {});
}

/** Generates values of this schema; one field in ten gets a value that may violate it. */
function valuesOf(name: string, given: Schema): fc.Arbitrary<unknown> {
  const schema = resolve(given);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return mostly(10, fc.constantFrom(...schema.enum), hostileValue);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valuesOf(name, one)));
  switch (schema.type) {
    case 'string':
      return mostly(4, textOf(name), hostileText);
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1_000, 1_000_000) }),
        fc.constantFrom((schema.minimum ?? 0) - 1, (schema.maximum ?? 10) + 1, 2 ** 53, 0.5, -0),
      );
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valuesOf(name, schema.items ?? {}), { maxLength: 5 });
    case 'object':
      return mostly(
        10,
        fc.record(
          Object.fromEntries(
            Object.entries(schema.properties ?? {}).map(([field, one]) => [
              field,
              mostly(10, valuesOf(field, one), hostileValue),
            ]),
          ),
          { requiredKeys: schema.required ?? [] },
        ),
        fc.constant({}),
      );
    default:
      return mostly(2, fc.constant(undefined), hostileValue);
  }
}

function textOf(name: string): fc.Arbitrary<string> {
  if (name.endsWith('_id'))
    return fc.constantFrom(
      `§own.${name}§`,
      `§own.${name}§`,
      `§foreign.${name}§`,
      `§unknown.${name}§`,
      `§foreign.page_id§`,
    );
  if (name === 'email') return fc.nat(1_000).map((n) => `person-${n}@example.com`);
  if (name === 'markdown')
    return fc.constantFrom(
      '# Title\n\nText with [[Setup]] and [a link](setup).\n',
      '',
      '- a\n- b\n',
      '| a |\n|---|\n| b |\n',
      '[[§foreign.page_path§]]',
    );
  if (name === 'slug') return fc.nat(1_000_000).map((n) => `slug-${n}`);
  if (/origin/.test(name)) return fc.constantFrom('https://app.example', 'https://b.example:8443');
  if (name === 'after' || name === 'cursor' || name === 'before')
    return fc.constantFrom('2020-01-01T00:00:00Z', 'eyJ4IjoxfQ', '§own.page_id§');
  return fc.constantFrom('word', 'Setup', 'the word of it', '§own.page_path§');
}
