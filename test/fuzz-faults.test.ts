import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { sql } from '../src/platform/db/sql.ts';
import { type Endpoint, isIdempotent } from '../src/platform/http/endpoint.ts';
import { everyNth, extent } from './extent.ts';
import { sendBounded, sentText } from './fuzz/bounded-request.ts';
import { FAULTS, type Fault, openDatabaseProxy } from './fuzz/database-proxy.ts';
import { type FuzzedService, openFuzzedService } from './fuzz/fuzzed-service.ts';
import { effectBetween, readRowStates } from './fuzz/row-states.ts';
import { isOver, MINUTES, PATH, seeds } from './fuzz/run-cases.ts';
import { prepareState } from './fuzz/states-before.ts';
import { randomNumbers } from './random-numbers.ts';
import type { RawAnswer, RawRequest } from './raw-http.ts';
import { nameOf, success, validRequest } from './requests.ts';
import { openTenants } from './tenants.ts';
import { until } from './until.ts';
import { openWorld } from './world.ts';

/**
 * Each statement of each endpoint is refused or delayed, or its connection is cut before or after it runs. The answer
 * is 503 or correct, the database is as before or as after the complete request, and no connection is lost. With an
 * Idempotency-Key, a retry then succeeds exactly once.
 */
const SHORT_CASES = extent(40, 12);
/** Endpoints that get every fault even in a short run. The first has a transaction, a job and an audit record. */
const WHOLE = extent(
  ['POST /v1/wikis/:wiki_id/pages', 'POST /v1/workspaces/:workspace_id/transfer', 'POST /v1/auth/sign-out'],
  ['POST /v1/wikis/:wiki_id/pages'],
);
/** A short run also takes every fifth other endpoint. */
const isTurn = everyNth(5);
const isInShort = (endpoint: Endpoint) => isTurn() || WHOLE.includes(nameOf(endpoint));
/** These end the caller's access, so a retry is refused and the stored answer is not replayed. */
const ENDS_ACCESS = [
  'POST /v1/workspaces/:workspace_id/transfer',
  'POST /v1/auth/sign-out',
  'POST /v1/auth/sign-out-everywhere',
];
const DELAY_MS = MINUTES > 0 ? 5_000 : 300;
const CONNECTIONS = 3;

/** Rows that endpoints write before their transaction, by design, and keep if it fails. */
const KEPT: Record<string, RegExp> = {
  // A guess counts even if the answer is lost.
  'POST /v1/auth/password': /^password_guesses (\+1|changed)$/,
  // An attempt is used up before the issuer is asked, so that it is never used twice.
  'POST /v1/auth/openid/complete': /^openid_attempts -1$/,
};

/** Endpoints that stream their answer. A later fault truncates the answer, and clients can detect that. */
const STREAMED = ['POST /v1/me/export'];

/**
 * Prepares requests, in a process without workers. The service on the faulty database keeps its connections to itself.
 */
let helper!: FuzzedService;
const tenants = await openTenants({}, undefined, async (env) => {
  helper = await openFuzzedService(env);
  return helper.world;
});
await helper.restart({ ROLE: 'web' });
const { db } = tenants.world;
const { DATABASE_URL = '', DATA_DIR = '' } = helper.env;
const proxy = await openDatabaseProxy(DATABASE_URL);
const faulty = await openWorld({
  ...tenants.env,
  DATA_DIR,
  DATABASE_URL: proxy.url,
  DATABASE_CONNECTIONS: String(CONNECTIONS),
  ROLE: 'web',
});

/**
 * An endpoint with or without a key, the number of statements of a successful request, and the changes that it makes.
 */
interface Subject {
  endpoint: Endpoint;
  isKeyed: boolean;
  statements: number;
  effect: string;
}

interface Case {
  subject: Subject;
  kind: Fault;
  at: number;
}

/** Deletes leftovers of earlier cases that a request would also change. */
async function forgetCases(): Promise<void> {
  await db.query(sql`delete from password_guesses`);
  await db.query(sql`delete from openid_attempts`);
  await db.query(sql`delete from background_jobs where status = 'queued'`);
}

async function prepare({ endpoint, isKeyed }: Pick<Subject, 'endpoint' | 'isKeyed'>): Promise<RawRequest> {
  await forgetCases();
  // Some requests end a pending change of the e-mail address.
  await db.query(sql`delete from email_changes`);
  const caller = await prepareState(tenants, endpoint);
  const ids = await tenants.fresh(endpoint, caller);
  const request = validRequest(endpoint, ids, await tenants.tokenFor(endpoint, caller));
  return isKeyed ? { ...request, headers: { ...request.headers, 'idempotency-key': randomUUID() } } : request;
}

const send = (request: RawRequest): Promise<RawAnswer> => sendBounded(faulty.address, request, true);

/**
 * Same as `send`, except that a streamed answer may be truncated: it then counts with the status that it began with.
 */
function sendFaulted(endpoint: Endpoint, request: RawRequest): Promise<RawAnswer> {
  return send(request).catch((error: Error) => {
    if (!STREAMED.includes(nameOf(endpoint)) || !error.message.endsWith(': aborted')) throw error;
    return { status: success(endpoint), headers: {}, text: 'cut', body: '' };
  });
}

/** Waits until PostgreSQL has noticed cut connections. Throws if a transaction stays open. */
function untilQuiet(): Promise<unknown> {
  return until(
    'no statement and no transaction is in progress',
    () =>
      db.query(sql`
        select state, query from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and backend_type = 'client backend'`),
    (open) => open.length === 0,
  );
}

/** Whether FUZZ_PATH, a pattern, matches the endpoint's name. A failure prints that name. */
const isChosen = (endpoint: Endpoint) => PATH === undefined || new RegExp(PATH).test(nameOf(endpoint));

async function learn(endpoint: Endpoint, isKeyed: boolean): Promise<Subject> {
  // Send a request before counting statements: the first request of a credential also records its use.
  const warm = await send(await prepare({ endpoint, isKeyed }));
  assert.equal(warm.status, success(endpoint), `${nameOf(endpoint)}: ${warm.text}`);
  const request = await prepare({ endpoint, isKeyed });
  const before = await readRowStates(db);
  proxy.arm();
  const answer = await send(request);
  const { count } = proxy.seen();
  assert.equal(answer.status, success(endpoint), `${nameOf(endpoint)}: ${answer.text}`);
  await untilQuiet();
  const effect = effectBetween(before, await readRowStates(db));
  // Without changes no case could detect a fault. Create the rows that the request changes in
  // test/fuzz/states-before.ts.
  assert.ok(
    effect !== '' || !endpoint.event,
    `${nameOf(endpoint)}: it writes, but the request that is tested changes nothing`,
  );
  return { endpoint, isKeyed, statements: count, effect };
}

async function runFault({ subject, kind, at }: Case): Promise<void> {
  const { endpoint, isKeyed, effect } = subject;
  const what = `${nameOf(endpoint)}${isKeyed ? ' with a key' : ''}, statement ${at}, ${kind}`;
  const request = await prepare(subject);
  await untilQuiet();
  const before = await readRowStates(db);
  proxy.arm({ kind, at, delay_ms: DELAY_MS });
  const answer = await sendFaulted(endpoint, request);
  const { struck } = proxy.seen();
  proxy.arm();
  await untilQuiet();
  const changed = effectBetween(before, await readRowStates(db));
  const told = `${what} → ${answer.status} ${answer.text.slice(0, 300)}`;
  if (!struck) assert.equal(answer.status, success(endpoint), `${told} (there was no such statement)`);
  if (answer.status === 503) {
    const isWhole = ['', effect].includes(changed) || KEPT[nameOf(endpoint)]?.test(changed) === true;
    assert.ok(isWhole, `${told}: what is stored is in between: ${changed}; whole: ${effect}`);
    assert.deepEqual(Object.keys(answer.body), ['error', 'message', 'request_id'], told);
    assert.ok(answer.headers['retry-after'], `503 says when to try again: ${told}`);
  } else {
    assert.equal(answer.status, success(endpoint), told);
    assert.equal(changed, effect, `${told}: it changed something else than without a fault`);
  }
  await repeat(subject, request, before, what);
  await assertNoneLost(what);
}

/** Retries the request: with a key its effect must exist exactly once, and a read must succeed. */
async function repeat(
  { endpoint, isKeyed, effect }: Subject,
  request: RawRequest,
  before: Awaited<ReturnType<typeof readRowStates>>,
  what: string,
): Promise<void> {
  if (!isKeyed && effect !== '') return;
  const answer = await send(request);
  const told = `${what}, sent again → ${answer.status} ${answer.text.slice(0, 300)}`;
  const isEnded = ENDS_ACCESS.includes(nameOf(endpoint)) && [401, 403].includes(answer.status);
  if (!isEnded) assert.equal(answer.status, success(endpoint), told);
  await untilQuiet();
  assert.equal(effectBetween(before, await readRowStates(db)), effect, told);
}

/** Asserts that as many concurrent requests succeed as the pool has connections. */
async function assertNoneLost(what: string): Promise<void> {
  const headers = { authorization: `Bearer ${tenants.owner.token}` };
  const answers = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => send({ method: 'GET', path: '/v1/me', headers })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array.from({ length: CONNECTIONS }, () => 200),
    `${what}: afterwards a connection is missing`,
  );
  assert.ok(proxy.connections() <= CONNECTIONS, `${what}: ${proxy.connections()} connections are open`);
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((item) => ({ item, turn: random() }))
    .sort((one, other) => one.turn - other.turn)
    .map(({ item }) => item);
}

test('a fault at any statement of any endpoint leaves no partial write, no lost connection, and no answer but 503', async (t) => {
  const subjects: Subject[] = [];
  for (const endpoint of ENDPOINTS.filter(
    (one) => success(one) < 400 && isChosen(one) && (MINUTES > 0 || isInShort(one)),
  )) {
    for (const isKeyed of isIdempotent(endpoint) ? [false, true] : [false])
      subjects.push(await learn(endpoint, isKeyed));
  }
  const all = subjects.flatMap((subject) =>
    FAULTS.flatMap((kind) => Array.from({ length: subject.statements }, (_, at): Case => ({ subject, kind, at }))),
  );
  const failures: string[] = [];
  let done = 0;
  const inject = async (cases: readonly Case[], told: string) => {
    for (const one of cases) {
      if (isOver()) return;
      done += 1;
      await runFault(one).catch((error: Error) => {
        failures.push(`${told} ${error.message}`);
        process.stderr.write(`${told} ${error.message}\n`);
      });
    }
  };
  if (MINUTES === 0) {
    const isWhole = ({ subject, kind }: Case) =>
      WHOLE.includes(nameOf(subject.endpoint)) && subject.isKeyed && kind !== 'delayed';
    await inject(all.filter(isWhole), 'always');
  }
  for (const seed of seeds()) {
    t.diagnostic(`seed ${seed}`);
    const mixed = shuffled(all, randomNumbers(seed));
    // Delays go last, so that a run that ends early has covered all other faults.
    const cases = [
      ...mixed.filter(({ kind }) => kind !== 'delayed'),
      ...mixed.filter(({ kind }) => kind === 'delayed'),
    ];
    const told = `--seed=${seed}`;
    await inject(MINUTES > 0 ? cases : [...cases.slice(0, SHORT_CASES), ...cases.slice(-2)], told);
    if (MINUTES > 0) break;
  }
  t.diagnostic(
    `${done} faults of ${all.length}: ${subjects.length} requests of ${ENDPOINTS.length} endpoints; ${sentText()}`,
  );
  assert.deepEqual(failures, []);
  assert.ok(done > 0, 'the time was over before the first fault: give more minutes');
});
