import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { ENDPOINTS } from '../src/app.ts';
import { newToken } from '../src/platform/access/token.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { everyNth, inTurns, turnsOf } from './extent.ts';
import type { RawAnswer, RawRequest } from './raw-http.ts';
import {
  type Ids,
  nameOf,
  originOf,
  pathParams,
  propertiesOf,
  requiredOf,
  success,
  validBody,
  validRequest,
  withBody,
  withJson,
} from './requests.ts';
import { openTenants } from './tenants.ts';

/** Answers to a malformed body, query or path for every endpoint, and the order of checks. */
const tenants = await openTenants();
const { fresh, a, b, unknown, owner, stranger, send, tokenFor } = tenants;

const ajv = new Ajv({ strict: false });
const MIB = 2 ** 20;
const never = newToken('key').secret;
const WITH_BODY = ENDPOINTS.filter((endpoint) => endpoint.body);
const WITH_QUERY = ENDPOINTS.filter((endpoint) => endpoint.query);

async function bare(endpoint: Endpoint, ids: Ids = a, token?: string): Promise<RawRequest> {
  const { method, path } = validRequest(endpoint, ids);
  const authorization = `Bearer ${token ?? (await tokenFor(endpoint, owner))}`;
  return { method, path, headers: { authorization, ...originOf(endpoint) } };
}

/** Returns the status for an invalid credential, given the status for a valid one. */
function forDead(endpoint: Endpoint, otherwise: number): number {
  return endpoint.access.on === 'anyone' ? otherwise : 401;
}

function assertInvalid(answer: RawAnswer, loc: (string | number)[], what: string): void {
  assert.equal(answer.status, 422, `${what} must be 422: ${answer.text.slice(0, 300)}`);
  assert.ok(
    answer.body.detail.some(
      (entry: { loc: unknown[] }) => JSON.stringify(entry.loc.slice(0, loc.length)) === JSON.stringify(loc),
    ),
    `${what} must be reported at ${loc.join('.')}: ${answer.text.slice(0, 300)}`,
  );
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

/** Bodies that cannot be decoded: 400. */
const UNDECODABLE: Record<string, string | Buffer> = {
  'half an object': '{',
  'no value': '{"a":}',
  'single quotes': "{'a':1}",
  'a surplus comma': '{"a":1,}',
  'two values': '{}{}',
  'a comment': '{} // x',
  NaN: '{"a":NaN}',
  Infinity: '{"a":-Infinity}',
  'a hexadecimal number': '{"a":0x10}',
  'a leading zero': '{"a":012}',
  'a raw line feed in a string': '{"a":"\n"}',
  spaces: '  ',
  'a byte order mark': '\ufeff{}',
  'not JSON': 'name=x&slug=y',
  'invalid UTF-8': Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0xc3, 0x22, 0x7d]),
  'an overlong encoding': Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]),
  'UTF-16': Buffer.from('{"a":1}', 'utf16le'),
  gzip: gzipSync('{"name":"x"}'),
  'a NUL character': '{"a":"x\\u0000y"}',
  'a raw NUL': '{"a":"x\0y"}',
  'a NUL in a name': '{"x\\u0000y":1}',
  'half a surrogate pair': '{"a":"\\ud800"}',
  'the other half': '{"a":"\\udc00x"}',
  'half a surrogate pair in a name': '{"\\ud800":1}',
  'a depth of 33': `{"a":${nested(32)}}`,
  'a depth of 100,000': nested(100_000),
  'a depth of 100,000 without an end': '{"a":'.repeat(100_000),
  __proto__: '{"__proto__":{"role":"owner"}}',
  '__proto__ escaped': '{"\\u005f_proto__":{"role":"owner"}}',
  '__proto__ inside': '{"a":[{"__proto__":1}]}',
};

/** By field name: a value that every schema accepts and a rule of the endpoint refuses, with the error code. */
const RULE_BREAKERS: Record<string, [unknown, string]> = {
  name: ['   ', 'invalid_name'],
  title: [' \t ', 'invalid_title'],
  slug: ['Not a slug', 'invalid_slug'],
  email: ['a@example.com, b@example.com', 'invalid_email'],
  role: ['root', 'unknown_role'],
  plan_id: ['nothing', 'unknown_plan'],
  membership_id: ['nobody', 'invalid_request'],
  parent_page_id: ['nothing', 'invalid_request'],
  markdown: ['x'.repeat(1.5 * MIB + 1), 'payload_too_large'],
  token: ['nothing', 'not_found'],
  workspace_id: ['nothing', 'not_found'],
  refresh_token: ['nothing', 'unauthorized'],
  attempt: ['nothing', 'unauthorized'],
  callback_url: ['https://elsewhere.example/', 'invalid_request'],
  password: ['a wrong password', 'unauthorized'],
  // Twelve characters that NFKC composes to six.
  new_password: ['e\u0301'.repeat(6), 'invalid_request'],
  widget_origins: [['https://example.com/page'], 'invalid_request'],
  time_zone: ['Europe/Nowhere', 'invalid_request'],
  origin: ['https://not-allowed.example', 'invalid_request'],
  display_name: ['   ', 'invalid_name'],
  site_root: ['/a/../b/', 'invalid_request'],
  home_page_id: ['page_none', 'invalid_request'],
  trash_days: [6, 'invalid_request'],
  revision_days: [29, 'invalid_request'],
  audit_days: [89, 'invalid_request'],
  reason: [' \t ', 'invalid_request'],
  base_revision: [2_000_000_000, 'edit_conflict'],
  files: [[{ filename: 'large.md', byte_size: 2 ** 40 }], 'payload_too_large'],
  grants: [[{ user_id: 'nobody', level: 'read' }], 'invalid_request'],
};

/** Fields without such a rule. An autosave is checked only when it becomes a page. */
const WITHOUT_RULE: Record<string, string[]> = {
  'PUT /v1/wikis/:wiki_id/autosaves/:autosave_id': ['title', 'parent_page_id', 'base_revision'],
  // Any text is a valid query.
  'PUT /v1/wikis/:wiki_id/saved-searches/:saved_search_id': ['query'],
};

/** Returns the expected error code: an unknown secret is 401 if the secret is the credential. */
function codeFor(endpoint: Endpoint, name: string, code: string): string {
  const isCredential =
    endpoint.access.on === 'anyone' && ((name === 'token' && success(endpoint) !== 404) || success(endpoint) === 401);
  return isCredential ? 'unauthorized' : code;
}

/** Texts that have broken parsers, queries and templates. */
const ODD_TEXTS = [
  ' ',
  '%',
  '_',
  '\\',
  "'",
  '"',
  '""',
  '"unclosed',
  "' or 1=1--",
  "'; drop table wikis; --",
  '$1',
  '${7*7}',
  '{{7*7}}',
  '&|!():*<->',
  "a' & b",
  '-',
  '--',
  '-a',
  '- a',
  '!',
  'a & ',
  '<->',
  ':*',
  '\u0001\u0002\u0003',
  '\u2028',
  '\ufeff',
  '\ufffe',
  '\u202e',
  'é\u0301',
  '😀',
  '../..',
  'a\r\nBcc: c@example.com',
  '<script>alert(1)</script>',
  'constructor',
  '__proto__',
  'null',
  'true',
  '0',
  'NaN',
  'ı',
  'ß',
  'K',
  'x'.repeat(256),
  'x'.repeat(100_000),
  '"a" '.repeat(200),
  '-a '.repeat(300),
  "'".repeat(500),
];

const CONTENT_TYPES = [
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'application/json-patch+json',
  'application/jsonp',
  'application/json\ta',
  'application/json a',
  'application',
  'json',
  '*/*',
  'application/*',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/json, text/plain',
  '{}',
  'a'.repeat(2_000),
];

const JSON_TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/json;charset="utf-8"',
  ' application/json',
  'application/json;',
];

const nextNoObject = inTurns(['', 'null', '[]', '[{}]', '"x"', '5', '1e999', 'true'], 1);
const isTurnOfNumber = everyNth(4);
const nextUndecodable = inTurns(Object.entries(UNDECODABLE), 3);
const nextOddTexts = inTurns(ODD_TEXTS, 2);
const nextRefused = turnsOf(3);
const nextNoFiles = turnsOf(4);
const nextContentTypes = inTurns(CONTENT_TYPES, 2);
const nextJsonTypes = inTurns(JSON_TYPES, 1);
/** Whether to send the slow 1 MiB bodies to an endpoint too: every eighth one, or every one if everything is tried. */
const isTurnOfLarge = everyNth(8);

for (const endpoint of WITH_BODY) {
  const properties = propertiesOf(endpoint.body);

  test(`${nameOf(endpoint)} answers 400 to a body that cannot be decoded, but only if the credential is valid`, async () => {
    const request = await bare(endpoint);
    for (const [what, body] of nextUndecodable()) {
      const answer = await send(withJson(request, body), endpoint);
      assert.equal(answer.status, 400, `${what} must be 400: ${answer.text.slice(0, 300)}`);
      assert.equal(answer.body.error, 'invalid_request');
      const dead = await send(withJson(await bare(endpoint, a, never), body), endpoint);
      assert.equal(dead.status, forDead(endpoint, 400), `${what}, for an unknown credential`);
    }
  });

  test(`${nameOf(endpoint)} answers 422 to a missing body, and to a body that is not an object`, async () => {
    const request = await bare(endpoint);
    assertInvalid(await send(request, endpoint), ['body'], 'no body');
    assertInvalid(await send(withBody(request, '', ''), endpoint), ['body'], 'no body and no content type');
    for (const body of nextNoObject()) {
      assertInvalid(await send(withJson(request, body), endpoint), ['body'], `the body ${body}`);
    }
    const dead = await send(withJson(await bare(endpoint, a, never), '[]'), endpoint);
    assert.equal(dead.status, forDead(endpoint, 422));
  });

  for (const name of Object.keys(properties)) {
    test(`${nameOf(endpoint)} refuses a missing ${name} or another type, and changes nothing`, async () => {
      const request = await bare(endpoint);
      const good = validBody(endpoint, a);
      const isValid = ajv.compile(properties[name] ?? {});
      const wrong = [
        null,
        5,
        1.5,
        -1,
        true,
        '',
        [],
        ['a'],
        {},
        { a: 'b' },
        [[]],
        good[name],
        [good[name]],
        ` ${good[name]}`,
        String(good[name]).toUpperCase(),
      ];
      const refused = wrong.filter((candidate) => candidate !== undefined && !isValid(candidate));
      for (const value of nextRefused(refused)) {
        const answer = await send(withJson(request, JSON.stringify({ ...good, [name]: value })), endpoint);
        assertInvalid(answer, ['body', name], `${name} ${JSON.stringify(value)}`);
      }
      const { [name]: _, ...without } = good;
      if (requiredOf(endpoint.body).includes(name)) {
        const answer = await send(withJson(request, JSON.stringify(without)), endpoint);
        assertInvalid(answer, ['body', name], `a missing ${name}`);
        assert.equal(answer.body.detail[0].type, 'missing');
        assert.equal(answer.body.detail[0].msg, 'Field required');
      }
      if (!isTurnOfNumber()) return;
      const text = JSON.stringify({ ...good, [name]: '?' });
      const huge = await send(withJson(request, text.replace('"?"', '1e999')), endpoint);
      assertInvalid(huge, ['body', name], `${name} 1e999`);
      const [first, last] = isValid(5) ? [5, '"x"'] : ['"x"', 5];
      const twice = await send(withJson(request, text.replace('"?"', `${first},"${name}":${last}`)), endpoint);
      assertInvalid(twice, ['body', name], `${name} twice, of which the last one counts`);
    });

    test(`${nameOf(endpoint)} accepts or refuses any text as ${name}, but never fails`, async () => {
      if (![properties[name]?.type].flat().includes('string') && !JSON.stringify(properties[name]).includes('"string"'))
        return;
      const request = await bare(endpoint);
      for (const value of nextOddTexts()) {
        const answer = await send(
          withJson(request, JSON.stringify({ ...validBody(endpoint, a), [name]: value })),
          endpoint,
        );
        // A wrong secret is 401 if it is the credential, and 429 after too many attempts.
        const ofSecrets = endpoint.access.on === 'anyone' ? [401, 429] : [429];
        const wanted = [success(endpoint), 400, 403, 404, 409, 422, ...ofSecrets];
        assert.ok(wanted.includes(answer.status), `${name} ${value.slice(0, 50)}: ${answer.text.slice(0, 300)}`);
      }
    });
  }

  // An endpoint that also accepts a form checks the form itself.
  const isOther = (type: string) => !endpoint.consumes || !type.startsWith('multipart/form-data');

  test(`${nameOf(endpoint)} accepts no other content type for its JSON, in any spelling`, async () => {
    const request = await bare(endpoint);
    const [name = 'x'] = Object.keys(properties);
    const wrong = JSON.stringify({ ...validBody(endpoint, a), [name]: { a: 'b' } });
    for (const type of nextContentTypes().filter(isOther)) {
      const answer = await send(withBody(request, wrong, type), endpoint);
      assert.equal(answer.status, 415, `"${type.slice(0, 50)}" must be 415: ${answer.text.slice(0, 300)}`);
      const dead = await send(withBody(await bare(endpoint, a, never), wrong, type), endpoint);
      assert.equal(dead.status, forDead(endpoint, 415));
    }
    assert.equal((await send(withBody(request, wrong, ''), endpoint)).status, 415, 'a body without a content type');
    for (const type of nextJsonTypes()) {
      assertInvalid(await send(withBody(request, wrong, type), endpoint), ['body', name], `"${type}"`);
    }
  });

  // A body with the text of a page may be as long as the longest page, in any JSON encoding.
  const most = endpoint.bodyLimit === 'markdown' ? 5.5 * MIB : MIB;

  test(`${nameOf(endpoint)} answers 413 to a body of more than ${most / MIB} MiB, with or without Content-Length`, async () => {
    const request = await bare(endpoint);
    const body = JSON.stringify({ ...validBody(endpoint, a), padding: 'x'.repeat(most) });
    const announced = await send(withJson(request, body), endpoint);
    assert.equal(announced.status, 413, announced.text);
    if (!isTurnOfLarge()) return;
    const chunked = await send(
      {
        ...request,
        headers: { ...request.headers, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
        body,
      },
      endpoint,
    );
    assert.equal(chunked.status, 413, chunked.text);
    const dead = await send(withJson(await bare(endpoint, a, never), body), endpoint);
    assert.equal(dead.status, forDead(endpoint, 413));
    const ids = await fresh(endpoint, owner);
    const empty = JSON.stringify({ ...validBody(endpoint, ids), padding: '' });
    const filled = empty.replace('"padding":""', `"padding":"${'x'.repeat(most - Buffer.byteLength(empty))}"`);
    const enough = await send(withJson(await bare(endpoint, ids), filled), endpoint);
    assert.equal(enough.status, success(endpoint), `exactly that size must be accepted: ${enough.text.slice(0, 300)}`);
  });

  test(`${nameOf(endpoint)} ignores unknown fields, and accepts a depth of 32 and a duplicate name`, async () => {
    const ids = await fresh(endpoint, owner);
    const body = JSON.stringify({ ...validBody(endpoint, ids), unknown: true }).replace(
      /\}$/,
      `,"deep":${nested(31)},"constructor":{"prototype":{"x":1}},"toString":5}`,
    );
    const answer = await send(withJson(await bare(endpoint, ids), body), endpoint);
    assert.equal(answer.status, success(endpoint), answer.text);
  });

  test(`${nameOf(endpoint)} checks the schema first, then the object in the path, then its own rules`, async () => {
    // The path of a widget's endpoint names no container; its token does.
    const container = endpoint.access.on === 'widget' ? undefined : pathParams(endpoint)[0];
    const free = WITHOUT_RULE[nameOf(endpoint)] ?? [];
    const broken = Object.entries(RULE_BREAKERS).filter(([name]) => name in properties && !free.includes(name));
    assert.ok(
      broken.length > 0 || Object.values(properties).every((property) => 'enum' in property),
      'add a value that breaks a rule to RULE_BREAKERS',
    );
    for (const [name, [value, code]] of broken) {
      const body = JSON.stringify({ ...validBody(endpoint, a), [name]: value });
      const ruled = await send(withJson(await bare(endpoint, await fresh(endpoint, owner)), body), endpoint);
      assert.equal(ruled.body.error, codeFor(endpoint, name, code), `${name} "${value}": ${ruled.text}`);
      if (!container) continue;
      const foreign = await send(withJson(await bare(endpoint, a, stranger.token), body), endpoint);
      assert.equal(foreign.status, 403, `a stranger must learn nothing of ${name}: ${foreign.text}`);
      const gone = await send(
        withJson(await bare(endpoint, { ...a, [container]: unknown[container] ?? '' }), body),
        endpoint,
      );
      assert.equal(gone.status, 404, `an unknown object must disclose nothing of ${name}: ${gone.text}`);
    }
    if (!container) return;
    for (const ids of [a, b, unknown]) {
      // An empty object is valid if every field is optional.
      const broken = requiredOf(endpoint.body).length > 0 ? '{}' : '[]';
      const answer = await send(withJson(await bare(endpoint, ids, stranger.token), broken), endpoint);
      assert.equal(answer.status, 422, `${broken} must be 422 whatever the path names: ${answer.text}`);
    }
  });
}

const IGNORED: [body: string, type: string][] = [
  ['{', 'application/json'],
  ['x', 'text/plain'],
  ['x', ''],
  ['--x', 'multipart/form-data'],
  ['{"role":5}', 'application/json'],
  ['x'.repeat(70_000), 'a/b'],
];
const nextIgnored = inTurns(IGNORED, 1);

for (const endpoint of ENDPOINTS.filter(({ body, consumes, signedBody }) => !body && !consumes && !signedBody)) {
  test(`${nameOf(endpoint)} ignores any body`, async () => {
    for (const [body, type] of nextIgnored()) {
      const request = await bare(endpoint, await fresh(endpoint, owner));
      const answer = await send(withBody(request, body, type), endpoint);
      assert.equal(answer.status, success(endpoint), `${type}: ${answer.text.slice(0, 300)}`);
    }
  });
}

for (const endpoint of ENDPOINTS.filter(({ consumes }) => consumes === 'multipart')) {
  test(`${nameOf(endpoint)} refuses a body that is not multipart, or has no file`, async () => {
    const request = await bare(endpoint);
    const wrong: [string, string, number][] = [
      ['{}', 'application/json', endpoint.body ? 422 : 415],
      ['x', 'text/plain', 415],
      ['x', '', 415],
      ['x', 'multipart/mixed; boundary=x', 415],
      ['x', 'multipart/form-data', 400],
      ['x', 'multipart/form-data; boundary=', 400],
      ['', 'multipart/form-data; boundary=x', 400],
      ['--x--\r\n', 'multipart/form-data; boundary=x', 400],
      ['garbage', 'multipart/form-data; boundary=x', 400],
      [
        '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nvalue\r\n--x--\r\n',
        'multipart/form-data; boundary=x',
        400,
      ],
      [
        '--x\r\nContent-Disposition: form-data; name="a"; filename="a.md"\r\n\r\nno end',
        'multipart/form-data; boundary=x',
        400,
      ],
      // An unnamed file, which no endpoint receives.
      [
        '--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: application/octet-stream\r\n\r\nno end',
        'multipart/form-data; boundary=x',
        400,
      ],
      ['--x\r\n\r\n\r\n--x--\r\n', 'multipart/form-data; boundary=x', 400],
      ['--x\r\n: : :\r\n\r\n--x--\r\n', 'multipart/form-data; boundary=x', 400],
      [`--x\r\n${'A: b\r\n'.repeat(20_000)}\r\n\r\n--x--\r\n`, 'multipart/form-data; boundary=x', 400],
      [
        '--x\r\nContent-Disposition: form-data; name=""; filename=""\r\n\r\nvalue\r\n--x--\r\n',
        'multipart/form-data; boundary=x',
        400,
      ],
    ];
    for (const [body, type, status] of nextNoFiles(wrong)) {
      const answer = await send(withBody(request, body, type), endpoint);
      assert.equal(answer.status, status, `${type} ${body.slice(0, 80)}: ${answer.text.slice(0, 300)}`);
      assert.equal(
        (await send(withBody(await bare(endpoint, a, never), body, type), endpoint)).status,
        401,
        `${type} ${body.slice(0, 80)}`,
      );
      const foreign = await send(withBody(await bare(endpoint, b), body, type), endpoint);
      assert.equal(
        foreign.status,
        status === 400 ? 403 : status,
        `a body of files is not read before the access check: ${type} ${body.slice(0, 80)}`,
      );
    }
  });
}

const nextQueryTexts = inTurns(
  [...ODD_TEXTS, 'x'.repeat(1_024), 'x'.repeat(1_025), '𝒳'.repeat(1_024), 'x '.repeat(512)],
  6,
);

/**
 * Numbers with equal bounds share a parser: each bound is tried with all texts once, and with a few texts at each
 * endpoint.
 */
const triedNumbers = new Set<string>();

const nextUndecodableQuery = inTurns(
  ['limit=%', 'limit=%zz', 'limit=%ff', 'x=%c0%af', '%ff=1', 'x=%00', 'a%00=1', 'x=%ed%a0%80', 'x=%u0041'],
  2,
);
const nextHarmlessQuery = inTurns(['', '&', '&&', '=', '=x', 'x', 'x=%26%3D', '?', '#', 'a=b=c'], 1);

for (const endpoint of WITH_QUERY) {
  const properties = propertiesOf(endpoint.query);
  const isInteger = (name: string) => properties[name]?.type === 'integer';
  const withQuery = (request: RawRequest, query: string) => ({
    ...request,
    path: `${request.path}${request.path.includes('?') ? '&' : '?'}${query}`,
  });

  for (const name of Object.keys(properties).filter(isInteger)) {
    const { minimum, maximum } = properties[name] as { minimum?: number; maximum?: number };
    test(`${nameOf(endpoint)} accepts only plain digits as ${name}`, async () => {
      const request = await bare(endpoint);
      const bounds = JSON.stringify([name, minimum, maximum]);
      const few = ['', 'x', '1e2', '%00'];
      const all = [
        ...few,
        '%20',
        '50.0',
        '%2050',
        '50%20',
        '%2B5',
        '+5',
        '0x32',
        '0b1',
        'Infinity',
        '-Infinity',
        'NaN',
        '1e400',
        'null',
        'true',
        '5,6',
        '%D9%A5',
        '1_000',
        '--1',
        '[]',
        '%5B1%5D',
      ];
      const noNumber = triedNumbers.has(bounds) ? few : all;
      triedNumbers.add(bounds);
      const outside = [
        minimum !== undefined && [String(minimum - 1), '-1', `-${'9'.repeat(39)}`],
        maximum !== undefined && [String(maximum + 1), '9'.repeat(39)],
      ];
      for (const text of [...noNumber, ...outside.flatMap((texts) => texts || [])]) {
        const answer = await send(withQuery(request, `${name}=${text}`), endpoint);
        if (text === '%00') assert.equal(answer.status, 400, answer.text);
        else assertInvalid(answer, ['query', name], `${name}=${text}`);
        const dead = await send(withQuery(await bare(endpoint, a, never), `${name}=${text}`), endpoint);
        assert.equal(dead.status, forDead(endpoint, answer.status), `${name}=${text}, for an unknown credential`);
        const foreign = await send(withQuery(await bare(endpoint, b), `${name}=${text}`), endpoint);
        assert.equal(foreign.status, answer.status, `${name}=${text} is checked before the path's object`);
      }
      for (const texts of [
        [minimum, minimum],
        [minimum, 'x'],
        ['x', minimum],
      ]) {
        const answer = await send(withQuery(request, texts.map((text) => `${name}=${text}`).join('&')), endpoint);
        assertInvalid(answer, ['query', name], `${name} given twice`);
      }
      const inside = [
        minimum ?? 0,
        maximum ?? '9'.repeat(39),
        maximum ?? '9223372036854775807',
        maximum ?? '9223372036854775808',
        `00${minimum ?? 0}`,
      ];
      for (const text of inside) {
        const answer = await send(withQuery(request, `${name}=${text}`), endpoint);
        assert.equal(answer.status, success(endpoint), `${name}=${text}: ${answer.text}`);
        if (name === 'offset' && Number(text) > 1_000_000)
          assert.deepEqual(answer.body, [], 'there are no records at that offset');
      }
      for (const query of [`${name}[]=x`, `${name.toUpperCase()}=x`, `x${name}=x`]) {
        assert.equal(
          (await send(withQuery(request, query), endpoint)).status,
          success(endpoint),
          `${query} is a different name`,
        );
      }
    });
  }

  for (const name of Object.keys(properties).filter((candidate) => !isInteger(candidate))) {
    test(`${nameOf(endpoint)} accepts exactly the texts that the schema of ${name} allows`, async () => {
      const { method, headers, path } = await bare(endpoint);
      // A search needs a query, whatever filters it has.
      const words = name !== 'query' && /\/search(\/facets|\/view)?$/.test(endpoint.path) ? '?query=word' : '';
      const request = { method, headers: headers ?? {}, path: path.replace(/\?.*/, words) };
      const others = requiredOf(endpoint.query).filter(
        (other) => other !== name && !('default' in (properties[other] ?? {})) && !(other === 'query' && words !== ''),
      );
      assert.deepEqual(others, [], 'give the other required names of this query a value here');
      const isValid = ajv.compile(properties[name] ?? {});
      for (const text of nextQueryTexts()) {
        const allowed: boolean = isValid(text);
        const encoded = encodeURIComponent(text);
        if (encoded.length > 14_000) continue;
        const answer = await send(withQuery(request, `${name}=${encoded}`), endpoint);
        // The schema accepts an unknown secret.
        const unknown = endpoint.errors?.includes('unauthorized') ? 401 : 404;
        // The text may be a current or former slug of the workspace, which other tests rename.
        const isKnown = name === 'slug' && answer.status === 200;
        const wanted = name === 'token' ? unknown : isKnown ? 200 : success(endpoint);
        if (allowed) assert.equal(answer.status, wanted, `${name}=${text.slice(0, 60)}: ${answer.text.slice(0, 300)}`);
        else assertInvalid(answer, ['query', name], `${name}=${text.slice(0, 60)}`);
      }
      assertInvalid(
        await send(withQuery(request, `${name}=word&${name}=word`), endpoint),
        ['query', name],
        'given twice',
      );
      if (requiredOf(endpoint.query).includes(name)) {
        assertInvalid(await send(request, endpoint), ['query', name], 'missing');
        assertInvalid(
          await send(withQuery(request, `${name}[]=word`), endpoint),
          ['query', name],
          'under another name',
        );
      }
    });
  }

  test(`${nameOf(endpoint)} answers 400 to a query that is not UTF-8 or contains a NUL`, async () => {
    const request = await bare(endpoint);
    for (const query of nextUndecodableQuery()) {
      const answer = await send(withQuery(request, query), endpoint);
      assert.equal(answer.status, 400, `${query}: ${answer.text}`);
      assert.equal(answer.body.error, 'invalid_query');
      const dead = await send(withQuery(await bare(endpoint, a, never), query), endpoint);
      assert.equal(dead.status, forDead(endpoint, 400));
    }
    const good = validRequest(endpoint, await fresh(endpoint, owner), await tokenFor(endpoint, owner));
    for (const query of nextHarmlessQuery()) {
      assert.equal((await send(withQuery(good, query), endpoint)).status, success(endpoint), `"${query}" is harmless`);
    }
  });
}

const nextGarbage = inTurns(['%', '%zz', '%ff', '%c0%af', '%ed%a0%80'], 1);

for (const endpoint of ENDPOINTS.filter((candidate) => pathParams(candidate).length > 0)) {
  test(`${nameOf(endpoint)} refuses a path that cannot be decoded`, async () => {
    for (const name of pathParams(endpoint)) {
      const request = validRequest(endpoint, { ...a, [name]: 'PLACE' }, await tokenFor(endpoint, owner));
      for (const garbage of nextGarbage()) {
        const answer = await send({ ...request, path: request.path.replace('PLACE', garbage) }, endpoint);
        assert.equal(answer.status, 400, `${garbage} as ${name}: ${answer.text}`);
      }
      const nul = await send({ ...request, path: request.path.replace('PLACE', 'x%00y') }, endpoint);
      assert.equal(nul.body.error, 'invalid_identifier', nul.text);
      const long = await send({ ...request, path: request.path.replace('PLACE', 'x'.repeat(8_000)) }, endpoint);
      assert.ok([404, 414].includes(long.status), `a segment of 8,000 characters: ${long.text}`);
      assert.equal(
        (
          await send(
            { ...request, headers: { authorization: `Bearer ${never}` }, path: request.path.replace('PLACE', 'x%00y') },
            endpoint,
          )
        ).status,
        forDead(endpoint, 400),
      );
    }
  });
}

test('an error echoes at most 256 characters of an invalid input, and never a secret', async () => {
  const headers = { authorization: `Bearer ${owner.token}` };
  const long = await send({
    method: 'GET',
    path: `/v1/wikis/${a.wiki_id}/pages?${`limit=${'7x'.repeat(500)}&`.repeat(6)}`,
    headers,
  });
  assert.equal(long.status, 422);
  const secret = `hidden-${randomUUID()}`;
  const body = JSON.stringify({ token: secret, nested: { password: secret, client_secret: secret } });
  const kept = await send(withJson({ method: 'POST', path: '/v1/workspaces', headers }, body));
  assert.equal(kept.status, 422);
  assert.ok(!kept.text.includes(secret), `a secret must not be echoed: ${kept.text}`);
  const cut = await send(
    withJson(
      { method: 'POST', path: '/v1/workspaces', headers },
      JSON.stringify({ name: ['x'.repeat(253) + '😀'.repeat(9)] }),
    ),
  );
  assert.ok(
    JSON.stringify(cut.body).isWellFormed() && !/\\ud[89a-f]/i.test(cut.text),
    `an echo does not split a character: ${cut.text}`,
  );
});

test('every kind of name may have 100 characters, and every kind of title 255, but no more', async () => {
  const headers = { authorization: `Bearer ${owner.token}` };
  const name = (text: string) =>
    send(withJson({ method: 'POST', path: '/v1/workspaces', headers }, JSON.stringify({ name: text })));
  const title = (text: string) =>
    send(withJson({ method: 'PATCH', path: `/v1/wikis/${a.wiki_id}`, headers }, JSON.stringify({ title: text })));
  for (const character of ['x', 'é', '😀']) {
    assert.equal((await name(` ${character.repeat(100)} `)).body.name, character.repeat(100));
    assert.equal((await name(character.repeat(101))).body.error, 'invalid_name');
    assert.equal((await title(character.repeat(255))).body.title, character.repeat(255));
    assert.equal((await title(character.repeat(256))).body.error, 'invalid_title');
  }
});

test('a title of any visible characters is stored and returned unchanged', async () => {
  for (const value of ['"', '\\', '</script>', '\u00e1\u0302', '😀'.repeat(50)]) {
    const renamed = await send(
      withJson(
        { method: 'PATCH', path: `/v1/wikis/${a.wiki_id}`, headers: { authorization: `Bearer ${owner.token}` } },
        JSON.stringify({ title: value }),
      ),
    );
    assert.equal(renamed.status, 200, renamed.text);
    assert.equal(renamed.body.title, value, 'a title is stored unchanged');
  }
});

test('no request of this file changes a row of the other workspace', tenants.checkForeignRows);
