import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { sha256 } from '../src/core/secrets.ts';
import { openDb } from '../src/db/db.ts';
import { sql } from '../src/db/sql.ts';
import { browserCookieName } from '../src/http/browser-cookie.ts';
import { pauseAllJobs } from '../src/jobs/pause-jobs.ts';
import { mergePending } from '../src/search/index/merge-pending.ts';
import { cleanUp } from './clean-up.ts';
import { longTest } from './extent.ts';
import { skipUnless } from './needs.ts';
import { growIdempotencyKeys, growTables } from './plans.ts';
import { sendRaw } from './raw-http.ts';
import { aboveBudget, observePlans, overruns, type RequestCost, readIn, withoutAutovacuum } from './request-costs.ts';
import { existingParams, type Ids, nameOf, PUBLIC_URL, success, validRequest } from './requests.ts';
import { signedInClient } from './signed-in.ts';
import { openTenants } from './tenants.ts';
import { estimatedByHand, growingColumns, pretendTenants, wideReads } from './wide-reads.ts';
import { makeDatabase, openOwner, openWorld } from './world.ts';

/**
 * The number of statements of an endpoint's second call: one, which decides access and does the work. Those that need
 * more are listed, begin and commit included; raise a number only with a reason, because each is a round trip.
 */
const MORE_THAN_ONE: Record<string, number> = {
  // Without a payment provider there is no such endpoint.
  'POST /v1/webhooks/stripe': 0,
  // Reads whether the key is bound to a workspace; begin, the lock on the user, the workspace, commit.
  'POST /v1/workspaces': 5,
  // The guard before the mail server is asked; begin, the lock on the workspace, what is there, an invitation past its
  // time, the new one, its job, commit.
  'POST /v1/workspaces/:workspace_id/members/invite': 8,
  // begin, the lock on the workspace, the present roles, the new one, commit.
  'PATCH /v1/workspaces/:workspace_id/members/:membership_id': 5,
  // begin, the lock on the workspace, the current member, the change, commit.
  'POST /v1/workspaces/:workspace_id/members/:membership_id/deactivate': 5,
  'POST /v1/workspaces/:workspace_id/members/:membership_id/reactivate': 5,
  'DELETE /v1/workspaces/:workspace_id/members/:membership_id': 5,
  'POST /v1/workspaces/:workspace_id/invitations/:invitation_id/revoke': 5,
  'POST /v1/workspaces/:workspace_id/invitations/:invitation_id/link': 5,
  // begin, the address, the user and the session, commit.
  'POST /v1/auth/invitation': 4,
  // begin, the lock on the user, the accounts, commit.
  'POST /v1/me/connection': 4,
  // The guard before the mail server is asked; the same, and the job.
  'POST /v1/workspaces/:workspace_id/invitations/:invitation_id/resend': 7,
  // As a member's, and a look whether the workspace is there before the body's member is looked for.
  'POST /v1/workspaces/:workspace_id/transfer': 6,
  // begin, the lock on the user, the lock on the invitation's workspace, the facts, the membership, commit.
  'POST /v1/invitations/accept': 6,
  // The same, and a look whether the address is the caller's, which shows the workspace.
  'POST /v1/me/invitations/:invitation_id/accept': 7,
  // Reads the credential's permissions before it creates a key that has no more.
  'POST /v1/workspaces/:workspace_id/api-keys': 2,
  'POST /v1/me/api-keys': 2,
  // The guard before the bytes are stored, the bytes, the reference to them.
  'PUT /v1/me/avatar': 3,
  'PUT /v1/workspaces/:workspace_id/logo': 3,
  // begin, the lock on the links of the address, the link, the user and the session, commit.
  'POST /v1/auth/email/complete': 5,
  // Counts the guess, reads the hash, and writes the session after comparing it.
  'POST /v1/auth/password': 3,
  // begin, the lock on the user, the record, commit; the user, eleven lists, of which those of texts are asked until there is no
  // more, and of each of two workspaces the records and the calls.
  'POST /v1/me/export': 24,
  // begin, the lock on the user, the address, which is another one, rollback.
  'POST /v1/me/deletion': 4,
  // The facts, before the mail server is asked; begin, the lock on the user, the request, commit.
  'POST /v1/me/email-change': 5,
  // begin, the lock on the request, the link, which there is not, rollback.
  'POST /v1/auth/email-change': 4,
  // begin, the lock on the workspace, its name, which is another one, rollback.
  'POST /v1/workspaces/:workspace_id/deletion': 4,
  // begin, the lock on the workspace, the slug that the wiki had, the wiki, commit.
  'POST /v1/workspaces/:workspace_id/deleted-wikis/:wiki_id/restore': 5,
  // What is not found is looked for, and the credential checked.
  'GET /v1/workspaces/lookup': 2,
  'POST /v1/me/deleted-workspaces/restore': 2,
  // Takes the attempt, and writes the session after asking the issuer.
  'POST /v1/auth/openid/complete': 2,
  // Reads the current hash before it computes the new one.
  'POST /v1/me/password': 2,
  // The parent, before the text is rendered; begin, the lock on the wiki, a free position, the page, pending links to
  // it, the page as it is read, commit.
  // Under the lock of the wiki, in which uploads give pages their sources and the bytes of old ones are given up.
  'DELETE /v1/wikis/:wiki_id/sources/:source_id': 4,
  'POST /v1/wikis/:wiki_id/uploads/:upload_id/retry': 4,
  'POST /v1/wikis/:wiki_id/pages': 8,
  // The template, and what a new page needs.
  'POST /v1/wikis/:wiki_id/templates/:page_id/pages': 9,
  // The current page, before the text is rendered; for a new title begin, the lock on the wiki, the page again, the
  // write, pending links to this title, the page as it is read, commit.
  'PATCH /v1/wikis/:wiki_id/pages/:page_id': 8,
  // begin, the lock on the wiki, the page with its descendants, the links to them, commit.
  'DELETE /v1/wikis/:wiki_id/pages/:page_id': 5,
  // begin, the lock on the wiki, the page and its parent, the write, pending links, the page as it is read, commit.
  'POST /v1/wikis/:wiki_id/pages/:page_id/restore': 7,
  // Refuses before a byte is read, tracks each file before it is stored, and writes when all bytes are there.
  'POST /v1/wikis/:wiki_id/uploads': 3,
  'POST /v1/wikis/:wiki_id/pages/:page_id/attachments': 3,
  // What the index has for the words; the pages or sources of the best, as far as they may be seen.
  // Where few are found, the words that contain those of the query are read in between.
  'GET /v1/wikis/:wiki_id/pages/search': 3,
  'GET /v1/wikis/:wiki_id/pages/search/facets': 3,
  'GET /v1/wikis/:wiki_id/pages/search/view': 3,
  'GET /v1/wikis/:wiki_id/sources/search': 2,
  // Refuses before a byte is read, tracks the file before it is stored, looks whether there are pages where it is the
  // archive of a wiki, and writes.
  'POST /v1/wikis/:wiki_id/imports': 3,
  // Which file the bytes are of, and when they are durable that they count; what is a whole file is tracked between.
  'PATCH /v1/wikis/:wiki_id/uploads/:upload_id/files/:file_id': 2,
  // The source's text; of its pages, twenty at a time, what they were made from and what they show.
  'GET /v1/wikis/:wiki_id/sources/:source_id/coverage': 2,
  'GET /v1/wikis/:wiki_id/sources/:source_id/verification': 2,
  // The titles that were begun; their pages, as far as they may be seen.
  'GET /v1/wikis/:wiki_id/suggest': 2,
  // The old revision, the page, the write.
  'POST /v1/wikis/:wiki_id/pages/:page_id/revisions/:revision/restore': 3,
  // The text of the page, what the index has of its words, and the pages that are like it.
  'GET /v1/wikis/:wiki_id/pages/:page_id/related': 3,
};

/** One statement where nothing waits to be merged, since the process has what the first would read. */
const FROM_MEMORY = ['GET /v1/wikis/:wiki_id/pages/search', 'GET /v1/wikis/:wiki_id/sources/search'];

/** What the path of an endpoint begins with that is served to a widget, too. */
const CONTAINERS = ['workspaces/:workspace_id', 'organizations/:organization_id', 'me'];

/** A widget's request is that of its endpoint; then the service looks whether the page's origin may read the answer. */
function expectedStatements(name: string): number {
  const [, method, rest = ''] = /^(\S+) \/v1\/widgets\/\w+(.*)$/.exec(name) ?? [];
  if (method === undefined) return MORE_THAN_ONE[name] ?? 1;
  const numbers = CONTAINERS.map((container) => MORE_THAN_ONE[`${method} /v1/${container}${rest}`] ?? 1);
  return Math.max(...numbers) + 1;
}

// The second service has no worker, whose queries would be counted too.
const DATABASE_URL = await makeDatabase();
const DATA_DIR = await mkdtemp(join(tmpdir(), 'ibid-statements-'));
cleanUp(() => rm(DATA_DIR, { recursive: true, force: true }));
const owner = openOwner(DATABASE_URL);
await withoutAutovacuum(owner);
const tenants = await openTenants({ DATABASE_URL, DATA_DIR });
// What jobs make of the uploads of some requests would be read by others, or not.
await pauseAllJobs(tenants.world.db.query, true);
// The use of a key is recorded once a minute, by another statement.
await tenants.world.db.query(sql`update api_keys set last_used_at = now() + interval '1 hour'`);
const plans = await observePlans(DATABASE_URL);
const counted = await openWorld({ ...tenants.env, DATABASE_URL: plans?.url ?? DATABASE_URL, DATA_DIR, ROLE: 'web' });
const costs = new Map<string, RequestCost>();

/** Answers what a request of this name does, and notes what it costs. */
async function measured<T>(
  name: string,
  send: () => Promise<T>,
  bodyOf: (answer: T) => string,
  sent = counted.statements,
): Promise<T> {
  // Each write adds up what is not merged yet.
  await tenants.world.db.query(sql`select merge_usage(1000000)`);
  const before = sent.length;
  plans?.take();
  const answer = await send();
  const statements = sent.length - before;
  costs.set(name, { statements, ...readIn(plans?.take() ?? []), bytes: Buffer.byteLength(bodyOf(answer)) });
  return answer;
}

/**
 * Takes old versions out of the sessions. Another transaction may have kept them from being reused, autovacuum is off, and each
 * request reads all pages of a table this small. Statistics would change the plans.
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
  test(`${nameOf(endpoint)} sends no more than ${expectedStatements(nameOf(endpoint))} statement(s) on its second call`, async () => {
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
    // PostgreSQL may drop the catalogs that a connection has cached, for what tests in other databases do; they are read once.
    if (overruns(nameOf(endpoint), costs.get(nameOf(endpoint)) ?? NOTHING).length > 0) {
      // The session of the first measurement would make later lists of sessions longer.
      if (token !== tenants.owner.token)
        await tenants.world.db.query(sql`delete from sessions where access_hash = ${sha256(token)}`);
      answer = await measure();
    }
    assert.equal(answer.status, success(endpoint), answer.text);
    const sent = counted.statements.slice(before);
    const expected = expectedStatements(nameOf(endpoint));
    assert.equal(
      sent.length,
      FROM_MEMORY.includes(nameOf(endpoint)) && sent.length === 1 ? 1 : expected,
      `if this is intended, correct MORE_THAN_ONE in this file. Sent were:\n${sent.map((text) => text.trim().replace(/\s+/g, ' ').slice(0, 200)).join('\n')}`,
    );
  });
}

for (const endpoint of ENDPOINTS.filter(({ access }) => access.on === 'workspace' || access.on === 'wiki')) {
  test(`${nameOf(endpoint)} sends the same statements for foreign and for missing objects`, async () => {
    // The same statements take the same time, so timing does not distinguish the cases.
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

test('an edit of only the text reads the current page, and writes', async () => {
  const client = counted.as(tenants.owner.token);
  const pages = `/v1/wikis/${tenants.a.wiki_id}/pages`;
  const { body: page } = await client.post(pages, { title: 'Edited', markdown: 'one' });
  const before = counted.statements.length;
  const edit = (body: object) => client.patch(`${pages}/${page.page_id}`, body);
  const edited = await measured('an edit of 3 KB', () => edit({ markdown: TEXT, base_revision: 1 }), bodyOf);
  assert.deepEqual([edited.status, counted.statements.length - before], [200, 2]);
  const move = { parent_page_id: tenants.a.page_id };
  assert.equal((await measured('a move of a page', () => edit(move), bodyOf)).status, 200);
});

/** A browser in which the owner has signed in, and the address of the wiki there. */
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

test('a page in the browser is what the user may see, the page, and what surrounds it, whoever wrote it how often', async () => {
  const open = await openBrowser();
  const client = counted.as(tenants.owner.token);
  const wiki = `/v1/wikis/${tenants.a.wiki_id}`;
  const markdown = '---\ntags: [counted]\n---\nText';
  const { body: page } = await client.post(`${wiki}/pages`, { title: 'Surrounded', markdown });
  const below = { title: 'Below', markdown: '[up](../surrounded)', parent_page_id: page.page_id };
  assert.equal((await client.post(`${wiki}/pages`, below)).status, 201);
  const read = () => open(page.path);
  await read();
  const before = counted.statements.length;
  const { status, body } = await measured('a page in the browser', read, (answer) => answer.body);
  assert.deepEqual([status, counted.statements.length - before], [200, 2]);
  for (const part of ['counted', 'Subpages', 'Linked from']) assert.ok(body.includes(part), part);
});

test('a write with an Idempotency-Key is the lookup of its answer, begin, the lock on the key, the write, the answer, commit', async () => {
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
  // What waits is read before.
  assert.deepEqual([sent[1], sent.at(-1)], ['begin', 'commit']);
  assert.deepEqual(sent.filter((text) => text === 'begin').length, 1);
});

test('a page of results is what the user may see, and what was found, with its counts and the tree', async () => {
  const open = await openBrowser();
  const db = openOwner(DATABASE_URL);
  const client = counted.as(tenants.owner.token);
  // A page of results with a next one, beside which no sources are looked for.
  for (let i = 0; i < 21; i += 1) {
    const page = { title: `Heddle ${i}`, markdown: 'A heddle of wire.' };
    assert.equal((await client.post(`/v1/wikis/${tenants.a.wiki_id}/pages`, page)).status, 201);
  }
  while ((await mergePending(db, tenants.a.wiki_id ?? '', 'page', 'wait')) > 0);
  const search = () => open('-/search?query=heddle');
  for (let i = 0; i < 3; i += 1) await search();
  const before = counted.statements.length;
  const { status, body } = await measured('a page of results in the browser', search, (answer) => answer.body);
  assert.deepEqual([status, counted.statements.length - before], [200, 2]);
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
  // No other queries are sent to this database: there is no worker.
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

test('every endpoint in the table exists', () => {
  const names = new Set(ENDPOINTS.map(nameOf));
  assert.deepEqual(
    Object.keys(MORE_THAN_ONE).filter((name) => !names.has(name)),
    [],
  );
});

/** What a statement may read wholly, by a part of its text, each with the reason; the rest of its plan is looked at all the same. */
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
  'no statement of a request reads a table, or all that a tenant has in it, for a few rows, however many tenants there are',
  async () => {
    const { owner, a } = tenants;
    // Not through a connection that explains what it runs.
    const db = openOwner(DATABASE_URL);
    const markdown = '[[Ordinary]], [[Nowhere]], [a link](ordinary)';
    const made = await counted
      .as(owner.token)
      .post(`/v1/wikis/${a.wiki_id}/pages`, { title: 'Linked', markdown }, { 'idempotency-key': 'linked' });
    assert.equal(made.status, 201);
    assert.deepEqual(await growingColumns(db), await estimatedByHand(db));
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

/** The text of a statement behind the guard's steps, in one line. */
function withoutGuard(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^.*? limit 1\), /, '');
}
