import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { sql } from '../src/platform/db/sql.ts';
import { isIdempotent } from '../src/platform/http/endpoint.ts';
import { StorageUnavailable } from '../src/platform/providers/storage/blobs.ts';
import { cleanUp } from './clean-up.ts';
import { observedServices } from './observed-services.ts';
import { sendRaw } from './raw-http.ts';
import { nameOf, success, validRequest } from './requests.ts';
import { announce, patch } from './resumable.ts';
import { openTenants } from './tenants.ts';
import { until } from './until.ts';
import { makeDatabase, type Owner, openWorld } from './world.ts';

/** Calls during which a write holds a connection and locks, and for how long. */
const DATABASE_URL = await makeDatabase();
const DATA_DIR = await mkdtemp(join(tmpdir(), 'ibid-idempotent-'));
cleanUp(() => rm(DATA_DIR, { recursive: true, force: true }));
const tenants = await openTenants({ DATABASE_URL, DATA_DIR });
const { db } = tenants.world;

/** Delays or failures that a test injects into services. */
interface Fault {
  /** Called before each rendering and each receipt of a file. */
  hold?: (name: string) => Promise<void>;
}
const fault: Fault = {};
const calls: string[] = [];

// Without a worker, whose transactions would be observed too, and with few connections, so that a held one shows.
const watched = await openWorld(
  { ...tenants.env, DATABASE_URL, DATA_DIR, ROLE: 'web', DATABASE_CONNECTIONS: '2' },
  {
    services: (services) =>
      observedServices(
        {
          ...services,
          renderPage: async (...request) => {
            await fault.hold?.('renderPage');
            return services.renderPage(...request);
          },
          blobs: {
            ...services.blobs,
            receive: async (stream) => {
              await fault.hold?.('receive');
              return services.blobs.receive(stream);
            },
          },
        },
        (name) => {
          if (isInTransaction()) calls.push(name);
        },
      ),
  },
);

/** Returns whether the only request in progress has an open transaction. */
function isInTransaction(): boolean {
  const bound = watched.statements.findLast((text) => /^(begin|commit|rollback)/.test(text));
  return bound?.startsWith('begin') === true;
}

for (const endpoint of ENDPOINTS.filter(({ method }) => method !== 'GET')) {
  for (const key of isIdempotent(endpoint) ? [undefined, 'with an Idempotency-Key'] : [undefined]) {
    test(`${nameOf(endpoint)} ${key ?? 'without a key'} calls nothing outside the database in a transaction`, async () => {
      const ids = await tenants.fresh(endpoint, tenants.owner);
      const request = validRequest(endpoint, ids, await tenants.tokenFor(endpoint, tenants.owner));
      if (key) request.headers = { ...request.headers, 'idempotency-key': randomUUID() };
      calls.length = 0;
      const answer = await sendRaw(watched.address, request);
      assert.equal(answer.status, success(endpoint), answer.text);
      assert.deepEqual(calls, []);
    });
  }
}

/** Returns a gate at which calls wait until it is opened. */
function gate() {
  const opened = Promise.withResolvers<void>();
  let waiting = 0;
  return {
    pass: () => {
      waiting += 1;
      return opened.promise;
    },
    waiting: () => waiting,
    open: () => opened.resolve(),
  };
}

const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key });
const atWatched = (owner: Owner) => ({ ...owner, ...watched.as(owner.token, owner.user_id) });

test('slow renderings of requests with a key hold no connection, so another tenant can read', async (t) => {
  const [other, ...owners] = await Promise.all([1, 2, 3, 4].map(async () => atWatched(await tenants.world.owner())));
  assert.ok(other);
  const renders = gate();
  t.after(renders.open);
  fault.hold = renders.pass;
  const writes = owners.map(({ post, wiki_id }) =>
    post(`/v1/wikis/${wiki_id}/pages`, { title: 'Slow', markdown: 'text' }, keyed()),
  );
  // As many as there are connections.
  await until('two pages are rendered', renders.waiting, (count) => count >= 2);
  assert.equal((await other.get(`/v1/wikis/${other.wiki_id}/pages`)).status, 200);
  fault.hold = undefined;
  renders.open();
  assert.deepEqual(
    (await Promise.all(writes)).map(({ status }) => status),
    [201, 201, 201],
  );
});

/** Creates an upload whose bytes have all arrived, but whose file could not be assembled. */
async function unjoinedUpload(owner: Owner, text: string) {
  const upload = await announce(owner, owner.wiki_id, { 'a.md': Buffer.from(text) });
  const [file] = upload.files;
  assert.ok(file);
  const middle = text.length >> 1;
  assert.equal((await patch(owner, file.path, 0, file.content.subarray(0, middle))).status, 204);
  let received = 0;
  // The bytes arrive in the first call of the store; the second call assembles them, and fails.
  fault.hold = async () => {
    received += 1;
    if (received > 1) throw new StorageUnavailable('away');
  };
  assert.equal((await patch(owner, file.path, middle, file.content.subarray(middle))).status, 503);
  fault.hold = undefined;
  return upload;
}

test('the parts of a file are assembled outside any transaction, also with a key', async (t) => {
  const owner = atWatched(await tenants.world.owner());
  const upload = await unjoinedUpload(owner, `# Joined\n\n${randomUUID()}\n`);
  const joins = gate();
  t.after(joins.open);
  fault.hold = joins.pass;
  const completed = owner.post(`${upload.path}/complete`, undefined, keyed());
  await until('the parts are joined', joins.waiting);
  // The other world's worker has transactions too, but they end. A transaction around the gate would stay open.
  await until(
    'no transaction stays open while the parts are joined',
    () =>
      db.query(sql`
        select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`),
    (open) => open.length === 0,
  );
  fault.hold = undefined;
  joins.open();
  const { status, body } = await completed;
  assert.deepEqual([status, body.status], [200, 'queued'], JSON.stringify(body));
});

test('an upload whose bytes differ from the announced bytes fails, with and without a key', async () => {
  const owner = atWatched(await tenants.world.owner());
  for (const headers of [{}, keyed()]) {
    const upload = await unjoinedUpload(owner, `# Promised\n\n${randomUUID()}\n`);
    await db.query(sql`
      update upload_files set promised_sha256 = ${'0'.repeat(64)} where upload_id = ${upload.upload_id}`);
    const refused = await owner.post(`${upload.path}/complete`, undefined, headers);
    assert.equal(refused.body.error, 'checksum_mismatch');
    assert.equal((await owner.get(upload.path)).body.status, 'failed');
  }
});

test('a repetition during the first request gets its answer, and is never refused because of its effect', async (t) => {
  const owner = atWatched(await tenants.world.owner());
  const pages = `/v1/wikis/${owner.wiki_id}/pages`;
  const { body: page } = await owner.post(pages, { title: 'Twice', markdown: 'one' });
  const [first, second] = [gate(), gate()];
  t.after(() => {
    for (const { open } of [first, second]) open();
  });
  const edit = () =>
    owner.send('PATCH', `${pages}/${page.page_id}`, {
      headers: { 'content-type': 'application/json', ...keyed('under-way') },
      body: JSON.stringify({ markdown: 'two', base_revision: 1 }),
    });
  fault.hold = first.pass;
  const began = edit();
  await until('the first is rendered', first.waiting, (count) => count === 1);
  fault.hold = second.pass;
  const repeated = edit();
  await until('the second is rendered', second.waiting, (count) => count === 1);
  fault.hold = undefined;
  first.open();
  const answered = await began;
  assert.deepEqual([answered.status, answered.body.revision], [200, 2], JSON.stringify(answered.body));
  second.open();
  const replayed = await repeated;
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true', JSON.stringify(replayed.body));
  assert.deepEqual(replayed.body, answered.body);
  assert.equal((await owner.get(`${pages}/${page.page_id}`)).body.revision, 2);
});
