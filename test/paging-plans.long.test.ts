import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { sha256 } from '../src/platform/core/secrets.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { growLists } from './grown-lists.ts';
import { nextOf } from './list-all.ts';
import { cursorName, fillLists, LISTS } from './lists.ts';
import { readBy } from './plans.ts';
import { nameOf, PUBLIC_URL, pathOf } from './requests.ts';
import { openTenants } from './tenants.ts';

/** Enough records that reading all of them stands out against reading one page. */
const RECORDS = 3_000;
const LIMIT = 50;

/**
 * Lists that stay short, each with the reason. For the few rows of the average tenant, sorting is faster than walking
 * an index.
 */
const SHORT: Record<string, string> = {
  'GET /v1/me/sessions': 'a person is signed in at a few places',
  'GET /v1/me/api-keys': 'a person has a few keys',
  'GET /v1/workspaces/:workspace_id/api-keys': 'a workspace has a few keys',
  'GET /v1/widgets/profile/sessions': 'a person is signed in at a few places',
  'GET /v1/widgets/developers/api-keys': 'a workspace has a few keys',
  'GET /v1/workspaces/:workspace_id/wikis': 'a workspace has a few wikis',
  'GET /v1/wikis/:wiki_id/autosaves': 'a person has at most 100',
  'GET /v1/wikis/:wiki_id/saved-searches': 'a person has at most 50',
  'GET /v1/wikis/:wiki_id/starred-pages': 'a person has at most 100',
  'GET /v1/wikis/:wiki_id/templates': 'a wiki has a few templates',
};

/** Lists that sum the postings of words for each page. src/wiki/pages/search.test.ts covers their reads. */
const BY_RANK = ['GET /v1/wikis/:wiki_id/pages/search', 'GET /v1/wikis/:wiki_id/sources/search'];

/** Lists whose first page reads all records, each with the reason. Later pages read only the rest. */
const READ_WHOLE: Record<string, string> = {
  'GET /v1/wikis/:wiki_id/pages/:page_id/citations':
    'what a page still shows of a source is found by reading its text; a page has few sources',
  'GET /v1/wikis/:wiki_id/broken-links':
    'those that lead to pages in the trash are found by walking the trash, which is emptied after 30 days',
};

let sent: { text: string; values: readonly unknown[] }[] = [];
const tenants = await openTenants({}, { observe: (text, values) => sent.push({ text, values }) });
const { world, owner, b } = tenants;
const ids = await fillLists(tenants);
await growLists(world.db, b, 'less', RECORDS);
await growLists(world.db, ids, 'more', RECORDS);

for (const endpoint of LISTS) {
  const name = nameOf(endpoint);
  if (name in SHORT || BY_RANK.includes(name)) continue;
  test(`${name} reads as much for the last page as for the first, by cursor`, async () => {
    const token = await tenants.tokenFor(endpoint, owner);
    const pathWith = (query: Record<string, string>) => pathOfList(endpoint, query);
    const ask = (path: string) => askedBy(token, path);
    const cursors: string[] = [];
    for (let path: string | undefined = pathWith({ limit: '500' }); path !== undefined; ) {
      const { answer } = await ask(path);
      path = nextOf(answer.headers.get('link'));
      const cursor = path && new URL(path, 'http://x').searchParams.get(cursorName(endpoint));
      if (cursor) cursors.push(cursor);
    }
    assert.ok(cursors.length >= RECORDS / 500, 'growLists() makes it long');
    const setContext = contextOf(endpoint, token);
    const first = await readBy(world.db, setContext, (await ask(pathWith({ limit: String(LIMIT) }))).statement);
    const { answer, statement } = await ask(
      pathWith({ limit: String(LIMIT), [cursorName(endpoint)]: cursors.at(-2) ?? '' }),
    );
    assert.equal(answer.body.length, LIMIT);
    const last = await readBy(world.db, setContext, statement);
    assert.ok(last.rows <= first.rows + 2, `rows: ${first.rows}, then ${last.rows}`);
    assert.ok(last.blocks <= 1.5 * first.blocks + 10, `blocks: ${first.blocks}, then ${last.blocks}`);
    if (name in READ_WHOLE) return;
    assert.ok(first.rows < 6 * LIMIT, `the first page reads ${first.rows} rows`);
  });
}

test('the first page of a list reads no index entries of an equally large tenant', async () => {
  // Statistics of a service with two tenants. These tables have an index on the id alone.
  for (const table of ['pages', 'attachments']) {
    await world.db.query(sql`alter table ${raw(table)} alter column wiki_id set (n_distinct = 2)`);
    await world.db.query(sql`analyze ${raw(table)}`);
  }
  const read: Record<string, number> = {};
  for (const endpoint of LISTS) {
    const name = nameOf(endpoint);
    if (name in SHORT || name in READ_WHOLE || BY_RANK.includes(name)) continue;
    const token = await tenants.tokenFor(endpoint, owner);
    const { statement } = await askedBy(token, pathOfList(endpoint, { limit: String(LIMIT) }));
    const { rows } = await readBy(world.db, contextOf(endpoint, token), statement);
    if (rows >= 6 * LIMIT) read[name] = rows;
  }
  assert.deepEqual(read, {});
});

test('the recently changed pages of a wiki or of a workspace are read without its other pages', async () => {
  const [{ wikis }] = (await world.db.query<{ wikis: number }>(
    sql`select count(*)::int as wikis from wikis where workspace_id = ${ids.workspace_id}`,
  )) as [{ wikis: number }];
  const lists = ENDPOINTS.filter(({ path }) => path.endsWith('/recent-pages'));
  for (const endpoint of lists) {
    const token = await tenants.tokenFor(endpoint, owner);
    const { answer, statement } = await askedBy(token, `${pathOf(endpoint, ids)}?limit=10`);
    assert.equal(answer.body.length, 10);
    const { rows, blocks } = await readBy(world.db, contextOf(endpoint, token), statement);
    const most = endpoint.access.on === 'workspace' ? { rows: 40, blocks: 8 * wikis + 500 } : { rows: 40, blocks: 150 };
    // Rows that a function reads do not show in the plan, but their blocks do.
    assert.ok(rows <= most.rows, `${nameOf(endpoint)} reads ${rows} rows`);
    assert.ok(blocks <= most.blocks, `${nameOf(endpoint)} reads ${blocks} blocks`);
  }
  assert.equal(lists.length, 2);
});

test('a page of the members reads as much at the end as at the beginning, and does not count seats', async () => {
  const path = `/v1/workspaces/${ids.workspace_id}/members`;
  await world.db.query(sql`
    with more as (
      insert into users (user_id, email, display_name) select 'user_more' || n, n || '@more.example', 'More' from generate_series(1, ${RECORDS}::int) n
      returning user_id
    )
    insert into memberships (membership_id, workspace_id, user_id, role)
    select 'mem_' || user_id, ${ids.workspace_id}, user_id, 'viewer' from more`);
  // Pending invitations are counted, and listed with the first page. A workspace may have a thousand of them.
  await world.db.query(sql`update invitations set state = 'revoked' where workspace_id = ${ids.workspace_id}`);
  await world.db.query(sql`vacuum analyze users, memberships, invitations`);
  const endpoint = ENDPOINTS.find((it) => nameOf(it) === 'GET /v1/workspaces/:workspace_id/members');
  assert.ok(endpoint);
  const token = await tenants.tokenFor(endpoint, owner);
  const read = async (query: string) => {
    const { answer, statement } = await askedBy(token, `${path}?${query}`);
    return { answer, read: await readBy(world.db, contextOf(endpoint, token), statement) };
  };
  let next: string | undefined = `${path}?limit=500`;
  for (let part = 0; part < RECORDS / 500 - 1; part += 1)
    next = nextOf((await askedBy(token, next ?? '')).answer.headers.get('link'));
  const cursor = new URL(next ?? '', 'http://x').searchParams.get('after');
  const first = await read(`limit=${LIMIT}`);
  const last = await read(`limit=${LIMIT}&after=${cursor}`);
  assert.deepEqual([first.answer.body.members.length, last.answer.body.members.length], [LIMIT, LIMIT]);
  assert.ok(first.read.rows < 6 * LIMIT, `${first.read.rows} rows`);
  assert.ok(last.read.rows <= first.read.rows + 2, `${last.read.rows} rows`);
  const one = await read(`user_id=${last.answer.body.members[0].user_id}`);
  assert.ok(one.answer.body.members.length === 1 && one.read.rows < LIMIT, `${one.read.rows} rows`);
});

test('the audit log between two times reads only the events between them, of all types or of a single type', async () => {
  await world.db.query(sql`
    update audit_events e set created_at = now() - interval '30 days' + n * interval '1 minute'
    from (select event_id, row_number() over (order by event_id) as n from audit_events where workspace_id = ${ids.workspace_id}) o
    where o.event_id = e.event_id`);
  await world.db.query(sql`vacuum analyze audit_events`);
  const endpoint = ENDPOINTS.find((it) => nameOf(it) === 'GET /v1/workspaces/:workspace_id/audit-events');
  assert.ok(endpoint);
  const token = await tenants.tokenFor(endpoint, owner);
  const days = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
  const between = `after=${days(29)}&before=${days(28.98)}`;
  for (const query of [
    between,
    `${between}&order=newest`,
    `${between}&type=page.created`,
    'after=2020-01-01T00:00:00Z&before=2020-01-02T00:00:00Z',
  ]) {
    const { statement } = await askedBy(token, `${pathOf(endpoint, ids)}?${query}`);
    const { rows } = await readBy(world.db, contextOf(endpoint, token), statement);
    assert.ok(rows < 3 * LIMIT, `${query} reads ${rows} rows`);
  }
});

function pathOfList(endpoint: Endpoint, query: Record<string, string>): string {
  const own: Record<string, string> = nameOf(endpoint).endsWith('/branches') ? { page_id: ids.page_id } : {};
  return `${pathOf(endpoint, ids)}?${new URLSearchParams({ ...own, ...query })}`;
}

async function askedBy(token: string, path: string) {
  sent = [];
  const answer = await world.as(token).get(path, path.startsWith('/v1/widgets/') ? { origin: PUBLIC_URL } : {});
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  // The guard records the use of a credential in a separate statement, and a worker polls for jobs.
  const [statement, ...more] = sent.filter(({ text }) => text.includes(' as _record_use'));
  assert.ok(statement && more.length === 0, `${path}: ${[statement, ...more].map((one) => one?.text).join('\n\n')}`);
  return { answer, statement };
}

/** Returns the statement that sets the request context for row-level security, like the service does. */
function contextOf({ access, path }: Endpoint, token: string) {
  if (access.on === 'widget') {
    const { user_id } = owner;
    const { workspace_id } = ids;
    return sql`select set_request_context('widget', null, ${user_id}, ${workspace_id}, ${workspace_id}, null, null, null)`;
  }
  const who = access.on === 'caller' && access.session ? 'session' : 'key';
  const workspace_id = path.includes(':workspace_id') ? ids.workspace_id : null;
  const wiki_id = path.includes(':wiki_id') ? ids.wiki_id : null;
  return sql`select set_request_context(${who}, ${sha256(token)}::bytea, null, null, ${workspace_id}, ${wiki_id}, null, null)`;
}
