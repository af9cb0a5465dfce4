import assert from 'node:assert/strict';
import { type ErrorCode, STATUS_OF } from '../src/platform/core/errors.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { describeApi } from '../src/platform/http/openapi/document.ts';
import type { RawAnswer, RawRequest } from './raw-http.ts';

const HEADERS: Record<string, RegExp> = {
  // A client may cache a file, but must revalidate it each time.
  'cache-control': /^(?:no-store|private, no-cache)$/,
  vary: /\bauthorization\b/,
  'content-security-policy': /^default-src 'none'/,
  'referrer-policy': /^no-referrer$/,
  'strict-transport-security': /^max-age=\d+/,
  'x-content-type-options': /^nosniff$/,
};

const KEPT = /^private, max-age=31536000, immutable$/;
/** The logo of a workspace, which every page shows. */
const LOGO = /^private, max-age=300$/;

/** Texts that disclose the internals of the service to a client. */
const INSIDE =
  /\.[jt]s:\d|\bat [\w.<>]+ \(|node_modules|node:|\/(work|tmp|home|usr|src)\/|\b(select|insert|update|delete) .*\b(from|into|set)\b|postgres|psql|sqlstate|relation "|syntax error|fastify|\bajv\b|typebox|undici|busboy|\bjose\b|undefined|\[object/i;
const INSIDE_CODE = /\bE[A-Z]{5,}\b|\b(FST|ERR|HPE)_/;

const STATUSES_OF_HTTP = new Set([400, 404, 405, 413, 414, 415, 417, 431]);

/** Asserts the rules that every answer of the service must follow. */
export function checkAnswer(request: RawRequest, answer: RawAnswer): void {
  const what = `${request.method} ${request.path.slice(0, 200)} → ${answer.status} ${answer.text.slice(0, 500)}`;
  const { status, headers } = answer;
  assert.ok(status < 500, `no request may make the service fail; this one did: ${what}`);
  // The content at a secret address never changes.
  const isKept = headers['cross-origin-resource-policy'] === 'cross-origin' && (status < 300 || status === 304);
  const isLogo = LOGO.test(String(headers['cache-control'])) && /\/v1\/workspaces\/[^/]+\/logo\b/.test(pathOf(request));
  const kept = { ...(isKept && { 'cache-control': KEPT }), ...(isLogo && { 'cache-control': LOGO }) };
  for (const [name, form] of Object.entries({ ...HEADERS, ...kept })) {
    assert.match(String(headers[name]), form, `every answer carries ${name}: ${what}`);
  }
  for (const name of ['server', 'x-powered-by'])
    assert.equal(headers[name], undefined, `${name} discloses too much: ${what}`);
  const given = request.headers?.['x-request-id'];
  if (typeof given === 'string' && /^[A-Za-z0-9._-]{8,64}$/.test(given))
    assert.equal(headers['x-request-id'], given, what);
  else
    assert.match(String(headers['x-request-id']), /^req_[0-9a-z]{26}$/, `every answer carries X-Request-Id: ${what}`);
  assert.equal(
    headers['www-authenticate'],
    status === 401 ? 'Bearer' : undefined,
    `WWW-Authenticate comes with 401: ${what}`,
  );
  if (status >= 400 && request.method !== 'HEAD') checkEnvelope(request, answer, what);
}

function checkEnvelope(request: RawRequest, { status, headers, body }: RawAnswer, what: string): void {
  assert.match(String(headers['content-type']), /^application\/json/, `an error is JSON: ${what}`);
  const hasDetail = status === 422 || status === 405 || body.detail === 'Not Found';
  const keys = hasDetail ? ['detail', 'error', 'message', 'request_id'] : ['error', 'message', 'request_id'];
  assert.deepEqual(Object.keys(body).toSorted(), keys, `the envelope has only these fields: ${what}`);
  assert.equal(
    STATUS_OF[body.error as ErrorCode],
    status,
    `the code must be one of STATUS_OF with this status: ${what}`,
  );
  assert.equal(body.request_id, headers['x-request-id'], `request_id is X-Request-Id: ${what}`);
  assert.ok(typeof body.message === 'string' && body.message.length > 0, `a message says what is wrong: ${what}`);
  assert.ok(!tellsInside(withoutSent(body.message, request)), `a message must not disclose internals: ${what}`);
  if (status === 405) {
    assert.equal(body.detail, 'Method Not Allowed', what);
    assert.ok(headers.allow, `405 lists the allowed methods: ${what}`);
  }
  if (status === 422) checkDetail(body.detail, what);
}

function checkDetail(detail: unknown, what: string): void {
  assert.ok(Array.isArray(detail) && detail.length > 0, `422 lists the errors: ${what}`);
  for (const entry of detail) {
    const fields = Object.keys(entry)
      .filter((field) => field !== 'ctx')
      .toSorted();
    assert.deepEqual(fields, ['input', 'loc', 'msg', 'type'], `an entry of detail has these fields: ${what}`);
    assert.match(entry.type, /^[a-z_]+$/, what);
    assert.ok(typeof entry.msg === 'string' && !tellsInside(entry.msg), what);
    assert.ok(['body', 'query', 'path', 'header'].includes(entry.loc[0]), `loc begins with where it is: ${what}`);
    assert.ok(
      JSON.stringify(entry.input ?? '').length <= 520,
      `at most 256 characters of an input are echoed: ${what}`,
    );
  }
}

/** Removes a quoted part from a message if the client has sent that text. */
function withoutSent(message: string, { body }: RawRequest): string {
  return message.replace(/"(.*)"/s, (quoted, text) =>
    String(body).includes(JSON.stringify(text).slice(1, -1)) ? '' : quoted,
  );
}

function tellsInside(text: string): boolean {
  return INSIDE.test(text) || INSIDE_CODE.test(text);
}

function declaredStatuses(endpoint: Endpoint): Set<number> {
  let declared = declaredOf.get(endpoint);
  if (!declared) declaredOf.set(endpoint, (declared = readDeclared(endpoint)));
  return declared;
}

const declaredOf = new WeakMap<Endpoint, Set<number>>();

function readDeclared(endpoint: Endpoint): Set<number> {
  const [methods] = Object.values(describeApi([endpoint]).paths);
  const operation = methods?.[endpoint.method.toLowerCase()] as { responses: Record<string, unknown> };
  return new Set(Object.keys(operation.responses).map(Number));
}

/** Asserts that the endpoint declares the status and code of its answer. */
export function checkDeclared(endpoint: Endpoint, answer: RawAnswer): void {
  const { status, body } = answer;
  if (STATUSES_OF_HTTP.has(status) && (body.detail !== undefined || status === 414)) return;
  assert.ok(
    declaredStatuses(endpoint).has(status),
    `${endpoint.method} ${endpoint.path} answers ${status} ${body.error}, which openapi.json does not declare: add the code to its errors`,
  );
}

/** Decodes the path like a server; returns it unchanged if its encoding is invalid. */
function pathOf({ path }: RawRequest): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
