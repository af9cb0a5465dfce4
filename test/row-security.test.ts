import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVICE_ROLE } from '@ibid/postgres-server/roles.ts';
import pg from 'pg';
import { ENDPOINTS } from '../src/app.ts';
import { rolesWith } from '../src/platform/access/roles.ts';
import { openServiceDb } from '../src/platform/db/db.ts';
import { SERVICE } from '../src/platform/db/request-context.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { everyNth, longTest } from './extent.ts';
import { sendRaw } from './raw-http.ts';
import { nameOf, validRequest } from './requests.ts';
import { openTenants, type Tenants } from './tenants.ts';
import { makeDatabase } from './world.ts';

/**
 * The filters that restrict a statement to a workspace or a wiki: a comparison with a value or with a column of another
 * table. Each one is removed on its own, including the filters of the guard.
 */
const FILTER = /\b[\w.]*\b(?:workspace_id|wiki_id)\s*=\s*(?:(\$\d+)|[\w.]*\b(?:workspace_id|wiki_id)\b)/g;

/** Returns the statement's variants with one filter removed. A value that is then unused must keep its type. */
function withoutOneFilter(text: string): string[] {
  // Assignments are not filters.
  const isOfSet = (index: number) =>
    /\bset\s+[^()]*$/.test(
      text
        .slice(0, index)
        .split(/\bwhere\b/)
        .at(-1) ?? '',
    );
  return [...text.matchAll(FILTER)]
    .filter(({ index }) => !isOfSet(index))
    .map(({ 0: filter, 1: value, index }) => {
      const nothing = value ? `(${value}::text is not null)` : 'true';
      return text.slice(0, index) + nothing + text.slice(index + filter.length);
    });
}

interface Broken {
  tenants: Tenants;
  fault: { text: string; instead: string } | undefined;
  tried: Set<string>;
}

async function openWithFault(DATABASE_URL: string): Promise<Broken> {
  const broken: Broken = { tenants: undefined as unknown as Tenants, fault: undefined, tried: new Set() };
  broken.tenants = await openTenants(
    { DATABASE_URL },
    { rewrite: (text) => (broken.fault?.text === text ? broken.fault.instead : text) },
  );
  return broken;
}

/**
 * Removes each filter of the endpoint in turn, and calls it with own and foreign ids. Returns the disclosed data of the
 * other tenant.
 */
async function leaksOf(broken: Broken, endpoint: Endpoint): Promise<{ faults: number; leaks: string[] }> {
  const { tenants } = broken;
  const { world, owner } = tenants;
  const token = await tenants.tokenFor(endpoint, owner);
  const ask = async (foreign: boolean, fault?: Broken['fault']) => {
    const own = await tenants.fresh(endpoint, owner);
    const request = validRequest(endpoint, foreign ? tenants.b : own, token);
    const before = world.statements.length;
    broken.fault = fault;
    const answer = await sendRaw(world.address, request);
    broken.fault = undefined;
    return { leaked: tenants.findLeak(request, answer), sent: world.statements.slice(before) };
  };
  const texts = new Set((await ask(false)).sent);
  const leaks: string[] = [];
  let faults = 0;
  for (const text of texts) {
    for (const instead of withoutOneFilter(text)) {
      // Widgets use the statements of other endpoints, which were tried before.
      if (endpoint.access.on === 'widget' && broken.tried.has(instead)) continue;
      if (!isTurn()) continue;
      broken.tried.add(instead);
      faults += 1;
      for (const foreign of [false, true]) {
        const { leaked } = await ask(foreign, { text, instead });
        if (leaked !== undefined) leaks.push(`${foreign ? 'foreign' : 'own'} ids, ${leaked} seen by:\n${instead}`);
      }
    }
  }
  return { faults, leaks };
}

/** Tries every second filter, or every filter if everything is tried. */
const isTurn = everyNth(2);
const broken = await openWithFault(await makeDatabase());
let faults = 0;

for (const endpoint of ENDPOINTS) {
  test(`${nameOf(endpoint)} shows and changes no foreign row when any of its filters is missing`, async () => {
    const found = await leaksOf(broken, endpoint);
    faults += found.faults;
    assert.deepEqual(found.leaks, [], 'row-level security must hide the rows that the faulty statement selects');
    await broken.tenants.checkForeignRows();
  });
}

longTest('the same faults do show foreign rows if row-level security is off', async (t) => {
  const open = await openWithFault(await makeDatabase());
  const { db } = open.tenants.world;
  const tables = await db.query<{ name: string }>(
    sql`select relname as name from pg_class where relrowsecurity and relnamespace = 'public'::regnamespace`,
  );
  for (const { name } of tables) await db.query(raw(`alter table ${name} disable row level security`));
  const leaking = [];
  for (const endpoint of ENDPOINTS.filter(({ method }) => method === 'GET')) {
    const { leaks } = await leaksOf(open, endpoint);
    if (leaks.length > 0) leaking.push(nameOf(endpoint));
  }
  t.diagnostic(
    `${faults} faults; without row-level security ${leaking.length} reading endpoints disclose foreign rows`,
  );
  assert.ok(
    faults > 200 && leaking.length > 10,
    `without row-level security some faults must leak, or this test proves nothing`,
  );
});

test('the service owns no table, and its role has only rights on rows', async () => {
  const { db } = broken.tenants.world;
  const tables = await db.query<{ owner: string }>(sql`
    select pg_get_userbyid(relowner) as owner from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`);
  assert.ok(tables.every(({ owner }) => owner !== SERVICE_ROLE));
  const [role] = await db.query(sql`
    select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin from pg_roles where rolname = ${SERVICE_ROLE}`);
  assert.deepEqual(Object.values(role ?? {}), [false, false, false, false, false]);
});

test('every security definer function has a fixed search_path with one schema', async () => {
  const functions = await broken.tenants.world.db.query<{ name: string; settings: string[] | null }>(sql`
    select proname as name, proconfig as settings from pg_proc
    where prosecdef and pronamespace = 'public'::regnamespace order by 1`);
  const path = /^search_path=public, pg_temp$/;
  const open = functions.filter(({ settings }) => !settings?.some((setting) => path.test(setting)));
  assert.deepEqual(
    open.map(({ name }) => name),
    [],
    'set its search_path in the migration that creates it',
  );
  assert.ok(functions.length > 10, 'the functions must be found');
});

/**
 * The security definer functions that read pages, or what belongs to pages, past row-level security, and why none of them
 * tells a person of a page that is hidden from them.
 */
const READ_PAGES: Record<string, string> = {
  actual_usage: 'counts of a whole workspace',
  add_usage: 'counts of a whole workspace',
  ancestors: 'ids, of which the statement shows those that the caller sees',
  bits_of: 'which restrictions admit a user',
  caller_attachments: 'files that the caller added',
  caller_autosaves: 'texts of the caller',
  caller_revisions: 'texts of the caller, if they still see the page',
  caller_stars: 'ids of pages that the caller starred',
  caller_uploads: 'uploads of the caller',
  copy_source: 'returns an id to settle_sources',
  correct_usage: 'counts of a whole workspace',
  free_slug: 'whether a path is taken, which a writer finds out anyway',
  hidden_link_target: 'an id that is stored, and shown to readers who see the page',
  ids_in_use: 'whether ids that nobody can guess exist',
  is_closed_place: 'whether an upload may write where its person could write before',
  job_creator: 'the user who asked for a job',
  job_version: 'a number that changes',
  merge_usage: 'counts of a whole workspace',
  merge_users: 'whether an account has written anything',
  name_source: 'returns nothing',
  leaves_acl: 'whether a move changes who sees a page',
  next_copy: 'a number that is stored, and shown to nobody',
  page_count: 'whether a wiki has pages, so that no import meets hidden ones',
  page_facts: 'facts for a cache, counted for each caller by what they see',
  page_title: 'asks whether the caller sees the page',
  pages_not_open: 'numbers for a cache, of which each caller is shown what they see',
  purge_replaced_revisions: 'runs in a job, and returns counts',
  purge_revisions: 'runs in a job, and returns counts',
  recent_pages: 'asks whether the caller sees the page',
  search_backlog: 'counts of the whole service',
  set_request_context: 'which restrictions admit the caller',
  settle_acls: 'returns ids to triggers',
  settle_sources: 'returns nothing',
  sources_not_open: 'numbers for a cache, of which each caller is shown what they see',
  taken_paths: 'whether a path is taken, which a writer finds out anyway',
  unmanaged_acls: 'how many restrictions are in the way of a move or deletion',
  usage_and_limits: 'counts of a whole workspace',
  usage_of_all: 'counts of whole workspaces, for operators',
  wikis_to_index: 'ids of wikis, for jobs',
  wikis_with_expired_uploads: 'ids of wikis, for jobs',
  wikis_with_failed_files: 'ids of wikis, for jobs',
  wikis_with_old_trash: 'ids of wikis, for jobs',
  wikis_with_revisions_to_pack: 'ids of wikis, for jobs',
  wikis_with_staged_imports: 'ids of wikis, for jobs',
  wikis_with_trash_to_purge: 'ids of wikis, for jobs',
};

const OF_PAGES =
  /\b(?:pages|revisions|page_(?:texts|bases|paths|links|tags|sources|acls|grants)|sources|source_\w+|attachments|uploads|upload_files|search_\w+|exports|imports|templates|starred_pages|autosaves|compiled_files|staged_\w+|subject_bits)\b/;

test('every security definer function that reads pages says why it tells nobody of a hidden page', async () => {
  const functions = await broken.tenants.world.db.query<{ name: string; text: string }>(sql`
    select proname as name, prosrc as text from pg_proc
    where prosecdef and pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype order by 1`);
  const found = functions.filter(({ text }) => OF_PAGES.test(text)).map(({ name }) => name);
  assert.deepEqual(found, Object.keys(READ_PAGES).sort(), 'let a new function ask bits_of(), and add it to READ_PAGES');
});

test('the database and the roles agree on who sees drafts', async () => {
  const [row] = await broken.tenants.world.db.query<{ text: string }>(sql`
    select prosrc as text from pg_proc where proname = 'set_request_context'`);
  const roles = /role in \(([^)]*)\) and \(granted is null or 'pages:write'/.exec(row?.text ?? '')?.[1];
  assert.deepEqual(roles?.replaceAll("'", '').split(', ').sort(), rolesWith('pages:write').sort());
});

test('the service cannot change or delete audit records, create or drop tables, or read without a request context', async () => {
  const connection = { connectionString: String(process.env.IBID_TEST_DATABASE_URL || process.env.DATABASE_URL) };
  const [here] = await broken.tenants.world.db.query<{ name: string }>(sql`select current_database() as name`);
  const url = new URL(connection.connectionString);
  url.pathname = `/${here?.name}`;
  const service = openServiceDb({ connection: { connectionString: url.href }, connections: 1 });
  try {
    const { query } = service.in(SERVICE);
    for (const statement of [
      `update audit_events set actor_id = 'nobody'`,
      'delete from audit_events',
      'truncate audit_events',
      'drop table audit_events',
      'create table anything (a int)',
      'alter table pages disable row level security',
      'drop policy of_the_wiki on pages',
      `update signing_keys set secret = ''`,
    ]) {
      await assert.rejects(query(raw(statement)), { code: '42501' }, statement);
    }
    for (const table of ['workspaces', 'wikis', 'pages', 'revisions', 'sources', 'api_keys', 'audit_events']) {
      assert.deepEqual(await query(raw(`select 1 from ${table}`)), [], `${table} must show nothing without a context`);
    }
  } finally {
    await service.close();
  }
});

test('a request context ends with its transaction: the next statement on the connection cannot use it', async () => {
  const { world, a, owner } = broken.tenants;
  const [here] = await world.db.query<{ name: string }>(sql`select current_database() as name`);
  const url = new URL(String(process.env.IBID_TEST_DATABASE_URL || process.env.DATABASE_URL));
  url.pathname = `/${here?.name}`;
  const client = new pg.Client({ connectionString: url.href, options: `-c role=${SERVICE_ROLE}` });
  await client.connect();
  try {
    const [key] = await world.db.query<{ hash: Buffer }>(sql`
      select secret_hash as hash from api_keys where user_id = ${owner.user_id} and workspace_id is null limit 1`);
    const count = async () => (await client.query('select count(*)::int as pages from pages')).rows[0].pages;
    await client.query('begin');
    await client.query(`select set_request_context('key', $1, null, null, null, $2, null, null)`, [
      key?.hash,
      a.wiki_id,
    ]);
    assert.ok((await count()) > 0, 'a member sees the pages of the wiki of the context');
    await client.query('commit');
    assert.equal(await count(), 0);
  } finally {
    await client.end();
  }
});
