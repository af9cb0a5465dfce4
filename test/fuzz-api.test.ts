import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv, type ValidateFunction } from 'ajv';
import { ENDPOINTS } from '../src/app.ts';
import type { Permission } from '../src/platform/access/roles.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { extent } from './extent.ts';
import { API, type Caller, type FuzzedRequest, fuzzedRequests } from './fuzz/api-requests.ts';
import { sendBounded, sentText } from './fuzz/bounded-request.ts';
import { type FuzzedService, openFuzzedService } from './fuzz/fuzzed-service.ts';
import { MINUTES, runCases } from './fuzz/run-cases.ts';
import { checkAnswer } from './leak-patterns.ts';
import type { RawAnswer, RawRequest } from './raw-http.ts';
import { type Ids, nameOf } from './requests.ts';
import { openTenants } from './tenants.ts';

/** Requests made from openapi.json: valid, nearly valid and hostile, one to six at once. */
const CASES = MINUTES > 0 ? 2_000 : extent(250, 80);
/** Maximum memory of the service's process, after any number of requests. */
const MEMORY_MAX_MB = 1_500;

const ENDPOINT_OF = new Map<string, Endpoint>(
  ENDPOINTS.map((endpoint) => [nameOf(endpoint).replace(/[:*](\w+)/g, '{$1}'), endpoint]),
);
let service!: FuzzedService;
const tenants = await openTenants({}, undefined, async (env) => {
  service = await openFuzzedService(env);
  return service.world;
});
const { world, a, b, unknown, owner, roles, stranger, inactive } = tenants;
const reading = await tenants.key(owner.user_id, { permissions: ['pages:read'] satisfies Permission[] });
const TOKENS: Partial<Record<Caller, string>> = {
  admin: roles.admin.token,
  member: roles.member.token,
  viewer: roles.viewer.token,
  stranger: stranger.token,
  inactive: inactive.token,
  'reading key': reading,
  garbage: 'ibid_x',
};

async function rawOf(fuzzed: FuzzedRequest): Promise<RawRequest> {
  // With another method it may be another endpoint, such as the deletion of the wiki that all cases share.
  const [, template] = fuzzed.operation.split(' ');
  const endpoint = ENDPOINT_OF.get(`${fuzzed.method} ${template}`) ?? ENDPOINT_OF.get(fuzzed.operation);
  assert.ok(endpoint, `openapi.json has ${fuzzed.operation}, the list of endpoints has not`);
  const own = fuzzed.path.includes('§own') ? await tenants.fresh(endpoint, owner) : a;
  const idsOf: Record<string, Ids> = { own, foreign: b, unknown };
  const fill = (text: string, encode: (id: string) => string) =>
    text.replace(/§(\w+)\.(\w+)§/g, (_, whose: string, name: string) => encode(idsOf[whose]?.[name] ?? 'word'));
  const token =
    fuzzed.caller === 'right'
      ? await tenants.tokenFor(endpoint, owner)
      : fuzzed.caller === 'widget'
        ? await tenants.widgetToken(owner, 'profile')
        : TOKENS[fuzzed.caller];
  const path = fill(fuzzed.path, (id) => id.split('/').map(encodeURIComponent).join('/'));
  const body = fuzzed.body === undefined ? undefined : Buffer.from(fill(fuzzed.body, String), 'latin1');
  return {
    method: fuzzed.method,
    path,
    headers: {
      ...fuzzed.headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-length': String(body.length) }),
    },
    ...(body && { body }),
  };
}

const ajv = new Ajv({ strict: false });
ajv.addSchema({ $id: 'api', components: API.components });
const validators = new Map<string, ValidateFunction | undefined>();

/** Returns the validator of a JSON answer, if openapi.json declares one. */
function validatorOf(operation: string, status: number): ValidateFunction | undefined {
  const name = `${status} ${operation}`;
  if (!validators.has(name)) {
    const [method = '', path = ''] = operation.split(' ');
    const responses: Record<string, { $ref?: string }> = API.paths[path]?.[method.toLowerCase()]?.responses ?? {};
    const given = responses[status];
    const reply = given?.$ref ? API.components.responses[given.$ref.split('/').at(-1) ?? ''] : given;
    const media = (reply as { content?: Record<string, { schema: object }> } | undefined)?.content?.[
      'application/json'
    ];
    const schema = media && JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"api#/'));
    validators.set(name, schema && ajv.compile(schema));
  }
  return validators.get(name);
}

function assertDeclared(fuzzed: FuzzedRequest, answer: RawAnswer): void {
  // With another spelling or method, another endpoint may answer, or no endpoint at all.
  const method = fuzzed.operation.split(' ')[0];
  if (
    fuzzed.method !== method ||
    !/^\/v1\/[^?]*$/.test(fuzzed.path) ||
    /%|\.|\/\/|;|\*|~/.test(fuzzed.path.replace(/§\S*?§/g, ''))
  )
    return;
  if (!String(answer.headers['content-type']).startsWith('application/json') || answer.status === 304) return;
  const isValid = validatorOf(fuzzed.operation, answer.status);
  if (!isValid) return;
  assert.ok(
    isValid(answer.body),
    `${fuzzed.operation} → ${answer.status} does not match its schema: ${ajv.errorsText(isValid.errors)}: ${answer.text.slice(0, 300)}`,
  );
}

/**
 * Ids and texts of autosaves and saved searches. Their authors choose them, so an id may also exist in another
 * workspace.
 */
const chosenTexts = new Set<string>();
/** Operations that return chosen texts; the audit log contains the ids of saved searches. */
const ANSWERS_CHOSEN = /\/(?:autosaves|saved-searches|audit-events|me\/export)\b/;

/** Whether a page of A may show the path of a page of B: a case has written a link to it. */
let isPathSent = false;

/** Decodes a part of an address; returns it unchanged if its encoding is invalid, which the service refuses. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function runRequest(fuzzed: FuzzedRequest, request: RawRequest): Promise<void> {
  const [, chosen] =
    /\/(?:autosaves|saved-searches)\/([^/?]*)/.exec(request.method === 'PUT' ? request.path : '') ?? [];
  if (chosen !== undefined) chosenTexts.add(chosen).add(decoded(chosen)).add(String(request.body));
  const { reply } = ENDPOINT_OF.get(fuzzed.operation) ?? {};
  const isFile = reply !== undefined && !('type' in reply || 'anyOf' in reply || '$ref' in reply);
  const answer = await sendBounded(world.address, request, isFile);
  // A program that accepts HTML gets the web application's answer if the address is not in the API.
  const isWeb = /\bcookie\b/.test(String(answer.headers.vary));
  if (!isWeb && answer.status !== 304) checkAnswer(request, answer);
  assert.ok(
    answer.status < 500,
    `${request.method} ${request.path.slice(0, 200)} → ${answer.status} ${answer.text.slice(0, 500)}`,
  );
  assertDeclared(fuzzed, answer);
  const known = ANSWERS_CHOSEN.test(fuzzed.operation) ? chosenTexts : [];
  const whole = { ...request, body: [String(request.body), JSON.stringify(request.headers), ...known].join(' ') };
  isPathSent ||= whole.body.includes(b.page_path);
  const text = isPathSent ? answer.text.replaceAll(b.page_path, '') : answer.text;
  const leak = tenants.findLeak(whole, { ...answer, text });
  const at = answer.text.indexOf(leak ?? '');
  assert.equal(
    leak,
    undefined,
    `${request.path} disclosed data of another workspace: ${answer.text.slice(Math.max(0, at - 300), at + 300)}`,
  );
}

/** Deletes members and invitations that cases have created: lists without pages would otherwise grow. */
async function removeCreated(): Promise<void> {
  const { workspace_id } = a;
  const kept = [owner, stranger, inactive, ...Object.values(roles)].map(({ user_id }) => user_id);
  // A case may have made a new member the owner.
  await world.db.query(sql`
    update memberships set role = 'owner', status = 'active'
    where workspace_id = ${workspace_id} and user_id = ${owner.user_id}`);
  await world.db.query(sql`
    delete from memberships where workspace_id = ${workspace_id} and membership_id <> ${a.membership_id}
      and not (user_id = any (${kept}::text[]))`);
  await world.db.query(sql`
    delete from invitations where workspace_id = ${workspace_id} and invitation_id <> ${a.invitation_id}`);
}

/** Requests that may end the session of another request in the same case. */
const ENDS_SESSIONS = /sign-out|session|password|deletion/;

/**
 * Returns whether the error is a truncated archive of a person's data: the archive breaks off when its session ends.
 */
function isCutExport(error: unknown, { operation }: FuzzedRequest, requests: readonly FuzzedRequest[]): boolean {
  return (
    operation === 'POST /v1/me/export' &&
    /: aborted$/.test((error as Error).message) &&
    requests.some((other) => ENDS_SESSIONS.test(other.operation))
  );
}

test('no request made from openapi.json fails, discloses data or stops the service', async (t) => {
  await runCases(t, {
    cases: CASES,
    arbitrary: fuzzedRequests(),
    async check(requests) {
      // Prepare them in sequence: a new sign-in link invalidates the previous one.
      const prepared: [FuzzedRequest, RawRequest][] = [];
      for (const fuzzed of requests) prepared.push([fuzzed, await rawOf(fuzzed)]);
      const results = await Promise.allSettled(prepared.map(([fuzzed, request]) => runRequest(fuzzed, request)));
      await service.assertAlive();
      const failed = results.find(
        (result, i) =>
          result.status === 'rejected' && !isCutExport(result.reason, requests[i] as FuzzedRequest, requests),
      );
      if (failed?.status === 'rejected') {
        const log = service.takeLog();
        if (log) (failed.reason as Error).message += `\n${log.slice(-2_000)}`;
        throw failed.reason;
      }
    },
    async afterSeed() {
      await removeCreated();
      assert.ok(service.memoryMb() < MEMORY_MAX_MB, `the service takes ${service.memoryMb()} MB`);
    },
  });
  t.diagnostic(sentText());
  t.diagnostic(`memory of the service at the end: ${Math.round(service.memoryMb())} MB`);
});

test('no request of this file changes a row of the other workspace', tenants.checkForeignRows);
