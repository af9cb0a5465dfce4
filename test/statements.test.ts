import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { sha256 } from '../src/platform/core/secrets.ts';
import { openDb } from '../src/platform/db/db.ts';
import { sql } from '../src/platform/db/sql.ts';
import { browserCookieName } from '../src/platform/http/browser-cookie.ts';
import { pauseAllJobs } from '../src/platform/jobs/pause-jobs.ts';
import { mergePending } from '../src/wiki/search/index/merge-pending.ts';
import { cleanUp } from './clean-up.ts';
import { longTest } from './extent.ts';
import { skipUnless } from './needs.ts';
import { growIdempotencyKeys, growTables } from './plans.ts';
import { sendRaw } from './raw-http.ts';
import {
  aboveBudget,
  observePlans,
  overruns,
  type RequestCost,
  readIn,
  statementsOf,
  withoutAutovacuum,
} from './request-costs.ts';
import { existingParams, type Ids, nameOf, PUBLIC_URL, success, validRequest } from './requests.ts';
import { signedInClient } from './signed-in.ts';
import { openTenants } from './tenants.ts';
import { pretendTenants, wideReads } from './wide-reads.ts';
import { makeDatabase, openOwner, openWorld } from './world.ts';

/** Searches need one statement if no postings are pending, since the process caches the result of the first one. */
const FROM_MEMORY = ['GET /v1/wikis/:wiki_id/pages/search', 'GET /v1/wikis/:wiki_id/sources/search'];

// The second service has no worker, whose statements would be counted too.
const DATABASE_URL = await makeDatabase();
const DATA_DIR = await mkdtemp(join(tmpdir(), 'ibid-statements-'));
cleanUp(() => rm(DATA_DIR, { recursive: true, force: true }));
const owner = openOwner(DATABASE_URL);
await withoutAutovacuum(owner);
const tenants = await openTenants({ DATABASE_URL, DATA_DIR });
// Jobs would process the uploads of some requests before other requests read them, or not.
await pauseAllJobs(tenants.world.db.query, true);
// The use of a key is recorded once a minute, in a separate statement.
await tenants.world.db.query(sql`update api_keys set last_used_at = now() + interval '1 hour'`);
const plans = await observePlans(DATABASE_URL);
const counted = await openWorld({ ...tenants.env, DATABASE_URL: plans?.url ?? DATABASE_URL, DATA_DIR, ROLE: 'web' });
const costs = new Map<string, RequestCost>();

/** Sends a request, records its cost under this name and returns its answer. */
async function measured<T>(
  name: string,
  send: () => Promise<T>,
  bodyOf: (answer: T) => string,
  sent = counted.statements,
): Promise<T> {
  // Each write sums the pending usage deltas.
  await tenants.world.db.query(sql`select merge_usage(1000000)`);
  const before = sent.length;
  plans?.take();
  const answer = await send();
  const statements = sent.length - before;
  costs.set(name, { statements, ...readIn(plans?.take() ?? []), bytes: Buffer.byteLength(bodyOf(answer)) });
  return answer;
}

/**
 * As `measured`, and once more if the request costs too much: tests in other databases may make PostgreSQL invalidate a
 * connection's catalog cache, which is then filled. `restore` undoes a request that changes something.
 */
async function measuredAgain<T>(
  name: string,
  send: () => Promise<T>,
  bodyOf: (answer: T) => string,
  restore: () => Promise<unknown> = async () => undefined,
): Promise<T> {
  const answer = await measured(name, send, bodyOf);
  if (overruns(name, costs.get(name) ?? NOTHING).length === 0) return answer;
  await restore();
  return measured(name, send, bodyOf);
}

/**
 * Removes dead row versions from the sessions: another transaction may have kept them alive, autovacuum is off, and
 * requests scan all blocks of a table this small. Clears statistics, which would change the plans.
 */
async function compactSessions() {
  const [sessions] = await owner.query<{ pages: number }>(
    sql`select pg_relation_size('sessions')::int / 8192 as pages`,
  );
  if ((sessions?.pages ?? 0) <= 3) return;
  await owner.query(sql`vacuum full sessions`);
  await owner.query(sql`select pg_clear_relation_stats('public', 'sessions')`);
}

const NOTHING: RequestCost = { statements: 0, rows: 0, buffers: 0, bytes: 0 };

for (const endpoint of ENDPOINTS) {
  test(`${nameOf(endpoint)} sends the number of statements in its budget on its second call`, async () => {
    let token = '';
    const request = async () => {
      token = await tenants.tokenFor(endpoint, tenants.owner);
      return validRequest(endpoint, await tenants.fresh(endpoint, tenants.owner), token);
    };
    await compactSessions();
    // The first call in a workspace records the use of the key and its user's current workspace.
    await sendRaw(counted.address, await request());
    const measure = async () => {
      const again = await request();
      before = counted.statements.length;
      return measured(
        nameOf(endpoint),
        () => sendRaw(counted.address, again),
        ({ text }) => text,
      );
    };
    let before = 0;
    let answer = await measure();
    // Tests in other databases may make PostgreSQL invalidate a connection's catalog cache. Measure again, since the
    // cache is then filled.
    if (overruns(nameOf(endpoint), costs.get(nameOf(endpoint)) ?? NOTHING).length > 0) {
      // The session of the first measurement would make later lists of sessions longer.
      if (token !== tenants.owner.token)
        await tenants.world.db.query(sql`delete from sessions where access_hash = ${sha256(token)}`);
      // So would the page of the first measurement lengthen the list of the trash.
      if (nameOf(endpoint) === 'DELETE /v1/wikis/:wiki_id/pages/:page_id') await purgeLastTrashed();
      answer = await measure();
    }
    assert.equal(answer.status, success(endpoint), answer.text);
    const sent = counted.statements.slice(before);
    // Each statement is a round trip. A single one decides access and does the work.
    const expected = statementsOf(nameOf(endpoint)) ?? sent.length;
    assert.equal(
      sent.length,
      FROM_MEMORY.includes(nameOf(endpoint)) && sent.length === 1 ? 1 : expected,
      `if this is intended, run \`npm run accept\`, and say in the commit why. Sent were:\n${sent.map((text) => text.trim().replace(/\s+/g, ' ').slice(0, 200)).join('\n')}`,
    );
  });
}

async function purgeLastTrashed(): Promise<void> {
  await tenants.world.db.query(sql`
    delete from pages where page_id = (
      select p.page_id from pages p where p.wiki_id = ${tenants.a.wiki_id} and p.trashed_at is not null
      order by p.trashed_at desc limit 1)`);
}

for (const endpoint of ENDPOINTS.filter(({ access }) => access.on === 'workspace' || access.on === 'wiki')) {
  test(`${nameOf(endpoint)} sends the same statements for foreign and for missing objects`, async () => {
    // Equal statements take equal time, so timing does not distinguish the cases.
    const asked = async (ids: Ids) => {
      const token = await tenants.tokenFor(endpoint, tenants.owner);
      const before = counted.statements.length;
      const { status } = await sendRaw(counted.address, validRequest(endpoint, ids, token));
      return { status, statements: counted.statements.slice(before) };
    };
    const [container = '', ...children] = existingParams(endpoint);
    const { a, b, unknown } = tenants;
    const [foreign, missing] = [await asked(b), await asked({ ...b, [container]: unknown[container] ?? '' })];
    assert.deepEqual([foreign.status, missing.status], [403, 404]);
    assert.deepEqual(foreign.statements, missing.statements, 'foreign, and missing');
    for (const child of children) {
      const [foreign, missing] = [
        await asked({ ...a, [child]: b[child] ?? '' }),
        await asked({ ...a, [child]: unknown[child] ?? '' }),
      ];
      assert.deepEqual(foreign, missing, `a ${child} foreign, and missing`);
    }
  });
}

const TEXT = '# Loom\n\nA loom has warp, weft and shuttle. [Setup](setup.md)\n\n'.repeat(50);
const bodyOf = ({ body }: { body: unknown }) => JSON.stringify(body);

test('an edit of only the text takes two statements: it reads the current page, and writes', async () => {
  const client = counted.as(tenants.owner.token);
  const pages = `/v1/wikis/${tenants.a.wiki_id}/pages`;
  const { body: page } = await client.post(pages, { title: 'Edited', markdown: 'one' });
  const edit = (body: object) => client.patch(`${pages}/${page.page_id}`, body);
  let revision = 1;
  const write = (markdown: string) => edit({ markdown, base_revision: revision++ });
  const edited = await measuredAgain(
    'an edit of 3 KB',
    () => write(TEXT),
    bodyOf,
    () => write('one'),
  );
  assert.deepEqual([edited.status, costs.get('an edit of 3 KB')?.statements], [200, 2]);
  const moveTo = (parent_page_id: string) => edit({ parent_page_id });
  const moved = await measuredAgain(
    'a move of a page',
    () => moveTo(tenants.a.page_id),
    bodyOf,
    () => moveTo(''),
  );
  assert.equal(moved.status, 200);
});

/** Opens a browser session of the owner. Returns a function that requests pages of the wiki. */
async function openBrowser() {
  const { body: session } = await (await signedInClient(counted, tenants.owner.user_id)).post('/v1/auth/browser');
  const { body: overview } = await counted.as(tenants.owner.token).get('/v1/overview');
  const { slug, organization_id } = overview.wikis.find(
    ({ wiki_id }: { wiki_id: string }) => wiki_id === tenants.a.wiki_id,
  );
  const workspace = overview.session.organizations.find(
    (it: { organization_id: string }) => it.organization_id === organization_id,
  );
  const headers = { accept: 'text/html', cookie: `${browserCookieName(PUBLIC_URL)}=${session.browser_secret}` };
  return (path: string) => counted.anonymous.send('GET', `/${workspace.slug}/${slug}/${path}`, { headers });
}

test("a page in the browser takes two statements: the user's access, and the page with its surroundings", async () => {
  const open = await openBrowser();
  const client = counted.as(tenants.owner.token);
  const wiki = `/v1/wikis/${tenants.a.wiki_id}`;
  const markdown = '---\ntags: [counted]\n---\nText';
  const { body: page } = await client.post(`${wiki}/pages`, { title: 'Surrounded', markdown });
  const below = { title: 'Below', markdown: '[up](../surrounded)', parent_page_id: page.page_id };
  assert.equal((await client.post(`${wiki}/pages`, below)).status, 201);
  const read = () => open(page.path);
  await read();
  const { status, body } = await measuredAgain('a page in the browser', read, (answer) => answer.body);
  assert.deepEqual([status, costs.get('a page in the browser')?.statements], [200, 2]);
  for (const part of ['counted', 'Subpages', 'Linked from']) assert.ok(body.includes(part), part);
});

test('a write with an Idempotency-Key takes six statements, and its replay one', async () => {
  const client = counted.as(tenants.owner.token);
  const rename = () =>
    client.send('PATCH', `/v1/wikis/${tenants.a.wiki_id}`, {
      headers: { 'content-type': 'application/json', 'idempotency-key': 'counted' },
      body: JSON.stringify({ title: 'Counted' }),
    });
  const before = counted.statements.length;
  assert.equal((await rename()).status, 200);
  assert.equal(counted.statements.length - before, 6);
  assert.equal((await rename()).headers.get('idempotency-replayed'), 'true');
  assert.equal(counted.statements.length - before, 7);
});

test('a merge of an edited page into the index of its wiki is one transaction', async () => {
  const { wiki_id = '' } = tenants.a;
  const sent: string[] = [];
  const connection = { connectionString: plans?.url ?? DATABASE_URL };
  const db = openDb({ connection, connections: 1, observe: (text) => void sent.push(text) });
  cleanUp(() => db.close());
  const client = counted.as(tenants.owner.token);
  const { body: page } = await client.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Merged', markdown: TEXT });
  const merge = () => mergePending(db, wiki_id, 'page', 'wait');
  while ((await merge()) > 0);
  const edit = { markdown: `${TEXT}\n\nBobbin.`, base_revision: 1 };
  assert.equal((await client.patch(`/v1/wikis/${wiki_id}/pages/${page.page_id}`, edit)).status, 200);
  sent.length = 0;
  assert.equal(await measured('a merge of an edited page', merge, () => '', sent), 1);
  // Pending documents are read before the transaction.
  assert.deepEqual([sent[1], sent.at(-1)], ['begin', 'commit']);
  assert.deepEqual(sent.filter((text) => text === 'begin').length, 1);
});

test("a page of results takes two statements: the user's access, and the hits with their counts and the tree", async () => {
  const open = await openBrowser();
  const db = openOwner(DATABASE_URL);
  const client = counted.as(tenants.owner.token);
  // Enough pages for a second page of results. Then no sources are searched in addition.
  for (let i = 0; i < 21; i += 1) {
    const page = { title: `Heddle ${i}`, markdown: 'A heddle of wire.' };
    assert.equal((await client.post(`/v1/wikis/${tenants.a.wiki_id}/pages`, page)).status, 201);
  }
  while ((await mergePending(db, tenants.a.wiki_id ?? '', 'page', 'wait')) > 0);
  const search = () => open('-/search?query=heddle');
  for (let i = 0; i < 3; i += 1) await search();
  const { status, body } = await measuredAgain('a page of results in the browser', search, (answer) => answer.body);
  assert.deepEqual([status, costs.get('a page of results in the browser')?.statements], [200, 2]);
  for (const part of ['21 pages', 'Heddle 1', 'More']) assert.ok(body.includes(part), part);
});

const NOT_EXPLAINED =
  'rows and buffers cannot be measured: the PostgreSQL of DATABASE_URL does not let its administrator log in';
const isMeasured = { skip: skipUnless(plans !== undefined, NOT_EXPLAINED) };

test('no request costs more than its budget in bench/budgets.json', isMeasured, async () => {
  await plans?.end();
  assert.deepEqual(
    await aboveBudget(costs),
    [],
    'if this is intended, run `npm run accept`, read what it changes in bench/budgets.json, and say in the commit why',
  );
});

test('a refused write keeps its connection, with its prepared statements', async () => {
  // Without a worker, no other statements are sent to this database.
  const world = await openWorld({ ROLE: 'web' });
  const connections = async () => {
    const rows = await world.db.query<{ pid: number }>(sql`
      select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`);
    return rows.map(({ pid }) => pid);
  };
  const [one, other] = [await world.owner(), await world.owner()];
  const rename = async () => (await one.patch(`/v1/wikis/${other.wiki_id}`, { title: 'Taken over' })).status;
  assert.equal(await rename(), 403);
  const before = await connections();
  for (let i = 0; i < 20; i += 1) assert.equal(await rename(), 403);
  const made = (await connections()).filter((pid) => !before.includes(pid));
  assert.deepEqual(made, [], 'a refusal closed a connection, and another one was opened');
});

/**
 * Full reads that a statement, identified by a part of its text, may do, each with the reason. The rest of its plan is
 * still checked.
 */
const MAY_READ: [text: string, what: string, why: string][] = [
  ['string_agg(entry', 'pages', 'the tree has all pages of the wiki'],
  ['update wikis w set workspace_id = null', 'jobs', 'the jobs of a wiki that is deleted are cancelled'],
  ['t.trashed_at is not null offset 0', 'pages', 'broken links look for those to the trash of the wiki'],
  [
    'where o.no not in',
    'pages',
    'hits that are not looked at are counted without those of the trash and the drafts of the wiki',
  ],
  [
    "json_build_array(d.document_no, p.trashed_at is null and p.status = 'draft')",
    'pages',
    'those that are hidden from some are read where the tree is another one',
  ],
  ['exists (select from users)', 'users', 'it ends at the first row'],
  ['as active', 'memberships', 'seats are counted'],
  ['as active', 'invitations', 'seats are counted'],
  ["i.state = 'pending'", 'invitations', 'those that are pending are listed, or looked through for one past its time'],
  [
    'position(u.word in v.words)',
    'search_vocabulary',
    'words are looked for within others, in a bounded number of blocks',
  ],
  ['obfuscated_value', 'api_keys', 'a workspace has a few keys'],
  ['as members', 'memberships', 'all members are listed'],
];

longTest(
  'no statement of a request reads a whole table, or all rows of a tenant, to find a few, for any number of tenants',
  async () => {
    const { owner, a } = tenants;
    // Use a connection without auto_explain.
    const db = openOwner(DATABASE_URL);
    const markdown = '[[Ordinary]], [[Nowhere]], [a link](ordinary)';
    const made = await counted
      .as(owner.token)
      .post(`/v1/wikis/${a.wiki_id}/pages`, { title: 'Linked', markdown }, { 'idempotency-key': 'linked' });
    assert.equal(made.status, 201);
    // So that there is a block of words to copy.
    await db.query(sql`update search_wikis set loose_words = null where wiki_id = ${a.wiki_id}`);
    await mergePending(db, a.wiki_id ?? '', 'page', 'wait');
    await growTables(db, a.wiki_id ?? '');
    await growIdempotencyKeys(db);
    const readers: string[] = [];
    for (const count of [1, 3, 10_000]) {
      await pretendTenants(db, count);
      const texts = [...new Set(counted.statements)].filter((text) => !/^(?:begin|commit|rollback)/.test(text));
      for (const [text, reads] of await wideReads(db, texts)) {
        const may = MAY_READ.filter(([piece]) => text.includes(piece)).map(([, what]) => what);
        const found = reads.filter(({ table }) => !may.includes(table));
        if (found.length > 0) readers.push(`${count} tenants: ${JSON.stringify(found)} of ${withoutGuard(text)}`);
      }
    }
    assert.deepEqual(readers, []);
  },
);

/** Returns the text of a statement after the guard's CTEs, in one line. */
function withoutGuard(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^.*? limit 1\), /, '');
}
