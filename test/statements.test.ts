import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { sql } from '../src/db/sql.ts';
import { growIdempotencyKeys, growTables, wholeTablesRead } from './plans.ts';
import { sendRaw } from './raw-http.ts';
import { type Ids, nameOf, pathParams, success, validRequest } from './requests.ts';
import { openTenants } from './tenants.ts';
import { makeDatabase, openWorld } from './world.ts';

/**
 * What an endpoint sends when it is called again: one statement, which decides who may and does the work. Those that
 * need more are written out, begin and commit counted; raise a number only with a reason, for each is a round trip.
 */
const MORE_THAN_ONE: Record<string, number> = {
  // Looks whether the key is bound to a workspace before it makes one.
  'POST /v1/workspaces': 2,
  // The guard before the mail server is asked; begin, the lock on the workspace, what is there, an invitation past its
  // time, the new one, its job, commit.
  'POST /v1/workspaces/:workspace_id/members/invite': 8,
  // begin, the lock on the workspace, the present roles, the new one, commit.
  'PATCH /v1/workspaces/:workspace_id/members/:membership_id': 5,
  // begin, the lock on the workspace, the member as they are, the change, commit.
  'POST /v1/workspaces/:workspace_id/members/:membership_id/deactivate': 5,
  'POST /v1/workspaces/:workspace_id/members/:membership_id/reactivate': 5,
  'DELETE /v1/workspaces/:workspace_id/members/:membership_id': 5,
  'POST /v1/workspaces/:workspace_id/invitations/:invitation_id/revoke': 5,
  // The guard before the mail server is asked; the same, and the job.
  'POST /v1/workspaces/:workspace_id/invitations/:invitation_id/resend': 7,
  // As a member's, and a look whether the workspace is there before the body's member is looked for.
  'POST /v1/workspaces/:workspace_id/transfer': 6,
  // begin, the lock on the user, the lock on the invitation's workspace, the facts, the membership, commit.
  'POST /v1/invitations/accept': 6,
  // Looks what the credential may before it makes a key that may no more.
  'POST /v1/workspaces/:workspace_id/api-keys': 2,
  'POST /v1/me/api-keys': 2,
  // Nothing of it is in the database.
  'GET /v1/auth/methods': 0,
  // begin, the link, the user and the session, commit.
  'POST /v1/auth/email/complete': 4,
  // Counts the guess, reads the hash, and writes the session when it was compared.
  'POST /v1/auth/password': 3,
  // Takes the attempt, and writes the session when the issuer was asked.
  'POST /v1/auth/openid/complete': 2,
  // Reads the present hash before it computes the new one.
  'POST /v1/me/password': 2,
  // What its parent is, before the text is rendered; begin, the lock on the wiki, a free place, the page, links that
  // waited for it, the page as it is read, commit.
  'POST /v1/wikis/:wiki_id/pages': 8,
  // The page as it is, before the text is rendered; for a new title begin, the lock on the wiki, the page again, the
  // write, links that waited for this title, the page as it is read, commit.
  'PATCH /v1/wikis/:wiki_id/pages/:page_id': 8,
  // begin, the lock on the wiki, the page with those below it, commit.
  'DELETE /v1/wikis/:wiki_id/pages/:page_id': 4,
  // begin, the lock on the wiki, the page and the one above, the write, links that waited, the page as it is read, commit.
  'POST /v1/wikis/:wiki_id/pages/:page_id/restore': 7,
  // Refuses before a byte is read, tracks each file before it is stored, and writes when all bytes are there.
  'POST /v1/wikis/:wiki_id/uploads': 3,
  'POST /v1/wikis/:wiki_id/pages/:page_id/attachments': 3,
  // What the index has for the words; the pages or sources of the best, as far as they may be seen.
  'GET /v1/wikis/:wiki_id/pages/search': 2,
  'GET /v1/wikis/:wiki_id/sources/search': 2,
  // Refuses before a byte is read, tracks the file before it is stored, looks whether there are pages where it is the
  // archive of a wiki, and writes.
  'POST /v1/wikis/:wiki_id/imports': 3,
  // Which file the bytes are of, that it is to be stored, and when they are durable that they count.
  'PATCH /v1/wikis/:wiki_id/uploads/:upload_id/files/:file_id': 3,
  // The titles that were begun; their pages, as far as they may be seen.
  'GET /v1/wikis/:wiki_id/suggest': 2,
  // The old state, the page, the write.
  'POST /v1/wikis/:wiki_id/pages/:page_id/revisions/:revision/restore': 3,
};

const wanted = (name: string) => MORE_THAN_ONE[name] ?? 1;

// The second service has no worker, whose looks for work would be counted too.
const DATABASE_URL = await makeDatabase();
const DATA_DIR = await mkdtemp(join(tmpdir(), 'ibid-statements-'));
after(() => rm(DATA_DIR, { recursive: true, force: true }));
const tenants = await openTenants({ DATABASE_URL, DATA_DIR });
const counted = await openWorld({ ...tenants.env, DATABASE_URL, DATA_DIR, ROLE: 'web' });

for (const endpoint of ENDPOINTS) {
  test(`${nameOf(endpoint)} sends no more than ${wanted(nameOf(endpoint))} statement(s) when it is called again`, async () => {
    const request = async () =>
      validRequest(
        endpoint,
        await tenants.fresh(endpoint, tenants.owner),
        await tenants.tokenFor(endpoint, tenants.owner),
      );
    // The first call of a workspace notes that the key was used and where its person is now.
    await sendRaw(counted.address, await request());
    const again = await request();
    const before = counted.statements.length;
    const answer = await sendRaw(counted.address, again);
    assert.equal(answer.status, success(endpoint), answer.text);
    const sent = counted.statements.slice(before);
    assert.equal(
      sent.length,
      wanted(nameOf(endpoint)),
      `if that is meant, correct MORE_THAN_ONE in this file. Sent were:\n${sent.map((text) => text.trim().replace(/\s+/g, ' ').slice(0, 200)).join('\n')}`,
    );
  });
}

for (const endpoint of ENDPOINTS.filter(({ access }) => access.on === 'workspace' || access.on === 'wiki')) {
  test(`${nameOf(endpoint)} asks the database the same for what belongs to others and for what is not there`, async () => {
    // What is asked the same takes the same time, so that no clock tells the one from the other.
    const asked = async (ids: Ids) => {
      const token = await tenants.tokenFor(endpoint, tenants.owner);
      const before = counted.statements.length;
      const { status } = await sendRaw(counted.address, validRequest(endpoint, ids, token));
      return { status, statements: counted.statements.slice(before) };
    };
    const [container = '', ...children] = pathParams(endpoint);
    const { a, b, unknown } = tenants;
    const [foreign, missing] = [await asked(b), await asked({ ...b, [container]: unknown[container] ?? '' })];
    assert.deepEqual([foreign.status, missing.status], [403, 404]);
    assert.deepEqual(foreign.statements, missing.statements, 'of another workspace, and of none');
    for (const child of children) {
      const [theirs, nobodys] = [
        await asked({ ...a, [child]: b[child] ?? '' }),
        await asked({ ...a, [child]: unknown[child] ?? '' }),
      ];
      assert.deepEqual(theirs, nobodys, `a ${child} of another workspace, and of none`);
    }
  });
}

test('an edit of a text alone is the page as it was, and the write', async () => {
  const client = counted.as(tenants.owner.token);
  const pages = `/v1/wikis/${tenants.a.wiki_id}/pages`;
  const { body } = await client.post(pages, { title: 'Edited', markdown: 'one' });
  const before = counted.statements.length;
  const edited = await client.patch(`${pages}/${body.page_id}`, { markdown: 'two', base_revision: 1 });
  assert.deepEqual([edited.status, counted.statements.length - before], [200, 2]);
});

test('a write with an Idempotency-Key is the look for its answer, begin, the lock on the key, the write, the answer, commit', async () => {
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

test('a write that is refused keeps its connection, on which everything is prepared', async () => {
  // Nobody else asks this database: there is no worker.
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
  assert.deepEqual(made, [], 'a connection was given up for a refusal, and another one made');
});

test('every endpoint in the table exists', () => {
  const names = new Set(ENDPOINTS.map(nameOf));
  assert.deepEqual(
    Object.keys(MORE_THAN_ONE).filter((name) => !names.has(name)),
    [],
  );
});

/** What may read all of a wiki's pages, by a piece of its text. */
const OF_MANY_PAGES = [
  // The tree is all of them.
  'json_agg(entry)',
  // What moves with the page above it may be many pages, and many more that link to them.
  'below as (',
  // Ranking looks at all that matches.
  'hits as (',
];

test('no statement of a request reads a whole table for the sake of a few rows, however large the wiki', async () => {
  const { owner, a } = tenants;
  const markdown = '[[Ordinary]], [[Nowhere]], [a link](ordinary)';
  const made = await counted
    .as(owner.token)
    .post(`/v1/wikis/${a.wiki_id}/pages`, { title: 'Linked', markdown }, { 'idempotency-key': 'linked' });
  assert.equal(made.status, 201);
  await growTables(tenants.world.db, a.wiki_id ?? '');
  await growIdempotencyKeys(tenants.world.db);
  const readers: string[] = [];
  for (const text of new Set(counted.statements)) {
    if (/^(?:begin|commit|rollback)/.test(text)) continue;
    if (OF_MANY_PAGES.some((piece) => text.includes(piece))) continue;
    const tables = await wholeTablesRead(tenants.world.db, text);
    if (tables.length > 0)
      readers.push(
        `${tables}: ${text
          .trim()
          .replace(/\s+/g, ' ')
          .replace(/^.*?any \(c.granted\)\)\)\), /, '')}`,
      );
  }
  assert.deepEqual(readers, []);
});
