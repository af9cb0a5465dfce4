import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { permissionOf } from '../src/platform/access/access-rule.ts';
import { ROLES, type RoleSlug, rolesWith } from '../src/platform/access/roles.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { turnsOf } from './extent.ts';
import { credentialKinds } from './matrix-actors.ts';
import { type Ids, nameOf, validRequest, withBody } from './requests.ts';
import { type Level, lift, restrict } from './restrict.ts';
import { openTenants } from './tenants.ts';

/**
 * The answer to every role with every grant, at every endpoint whose path names a page or something of a page. Rules
 * predict each answer from the answer for a page without a restriction.
 */
const tenants = await openTenants({ DATABASE_CONNECTIONS: '4' });
const { world, a, roles } = tenants;
const { db } = world;
const people = ROLES.map(({ slug }) => ({ ...roles[slug], role: slug, letter: slug }));

/** A level of every person, `none`, or `ended` for a grant that was taken back. */
type Grant = Level | 'none' | 'ended';
const GRANTS: Grant[] = ['none', 'ended', 'read', 'comment', 'write', 'manage'];

/** Grants of the restriction of the page, and of the restriction of the page above; undefined without a restriction. */
interface Situation {
  own?: Grant;
  above?: Grant;
}

const SITUATIONS: Situation[] = [
  ...GRANTS.map((own) => ({ own })),
  ...GRANTS.map((above) => ({ above })),
  { above: 'none', own: 'manage' },
  { above: 'manage', own: 'none' },
  { above: 'read', own: 'write' },
  { above: 'write', own: 'read' },
  { above: 'read', own: 'manage' },
  { above: 'ended', own: 'manage' },
];

/** Changes of work in progress, which has no page yet, and of restrictions have tests of their own. */
const ENDPOINTS_OF_PAGES = ENDPOINTS.filter(
  ({ method, path, access }) =>
    access.on === 'wiki' &&
    /[:*](?:page_id|page_path|attachment_id|source_id|upload_id|job_id)\b/.test(path) &&
    !(/\/(?:uploads|jobs)\//.test(path) && !['GET', 'OPTIONS'].includes(method)) &&
    !path.endsWith('/access'),
);

const isOf = (grant: Grant, levels: Grant[]) => levels.includes(grant);
const reads = (grant: Grant) => isOf(grant, ['read', 'comment', 'write', 'manage']);
const writes = (grant: Grant) => isOf(grant, ['write', 'manage']);

/** Returns the answer to a person whose role allows the request, given the answer for an open page. */
function expected(endpoint: Endpoint, role: RoleSlug, { own, above }: Situation, open: string): string {
  const { access, path, method } = endpoint;
  const nearest = own ?? above ?? 'manage';
  if (!reads(nearest) || (above !== undefined && !reads(above))) return '404 not_found';
  if (access.on !== 'wiki' || access.readsPage || !['pages:write', 'uploads:create'].includes(access.permission)) {
    return open;
  }
  // The upload made both pages, and the owner made the upload.
  if (path.includes('/:upload_id')) {
    return role === 'owner' || [own, above].every((grant) => grant === undefined || writes(grant))
      ? open
      : '403 forbidden';
  }
  if (!writes(nearest)) return '403 forbidden';
  const isWhole = /\/pages\/:page_id(?:\/restore)?$/.test(path) && (method === 'DELETE' || method === 'POST');
  return isWhole && own !== undefined && own !== 'manage' ? '403 forbidden' : open;
}

/** Grants a level to every person, in a new restriction of a page. */
async function close(page_id: string, grant: Grant): Promise<void> {
  const { wiki_id } = a;
  const level = grant === 'none' ? undefined : grant === 'ended' ? 'manage' : grant;
  await restrict(
    db,
    { wiki_id, page_id },
    level ? Object.fromEntries(people.map(({ user_id }) => [user_id, level])) : {},
  );
  if (grant !== 'ended') return;
  await db.query(sql`
    delete from page_grants g using page_acls r
    where r.wiki_id = ${wiki_id} and r.page_id = ${page_id} and g.wiki_id = r.wiki_id and g.acl_no = r.acl_no`);
}

async function above(page_id: string): Promise<string> {
  const [page] = await db.query<{ parent_page_id: string }>(sql`
    select parent_page_id from pages where wiki_id = ${a.wiki_id} and page_id = ${page_id}`);
  return page?.parent_page_id ?? '';
}

const folder = await above(a.page_id);

/** Brings what a request names into a situation: the objects of the tenant are there already. */
async function place(ids: Ids, { own }: Situation): Promise<void> {
  const { wiki_id, page_id, source_id } = ids;
  if (page_id !== a.page_id) {
    await db.query(sql`
      update pages p set parent_page_id = o.page_id, parent_path = o.path, path = o.path || '/' || p.slug from pages o
      where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and o.wiki_id = p.wiki_id and o.page_id = ${folder}`);
    if (own) await close(page_id, own);
  }
  if (source_id !== a.source_id) {
    await db.query(sql`
      update sources s set acl_nos = o.acl_nos from sources o
      where s.wiki_id = ${wiki_id} and s.source_id = ${source_id} and o.wiki_id = s.wiki_id and o.source_id = ${a.source_id}`);
  }
}

const kinds = credentialKinds(tenants).filter(({ name }) =>
  ['personal key', 'session', 'workspace key'].includes(name),
);
const nextKinds = turnsOf(1);
const tokens = new Map<string, Promise<string>>();
const open = new Map<string, string>();
let cells = 0;

async function answerOf(
  endpoint: Endpoint,
  role: RoleSlug,
  kind: (typeof kinds)[number],
  situation: Situation | undefined,
): Promise<string> {
  const person = people.find((one) => one.role === role) ?? assert.fail(role);
  const ids = await tenants.fresh(endpoint, person);
  if (situation) await place(ids, situation);
  const key = `${role} ${kind.name}`;
  const token = tokens.get(key) ?? kind.make(person, permissionOf(endpoint.access), a.workspace_id);
  tokens.set(key, token);
  let request = validRequest(endpoint, ids, await token);
  // An upload without a file passes the guard and then fails.
  if (endpoint.consumes === 'multipart') request = withBody(request, '--x--\r\n', 'multipart/form-data; boundary=x');
  const { status, body } = await tenants.send(request, endpoint);
  return status < 400 ? String(status) : `${status} ${body.error}`;
}

for (const endpoint of ENDPOINTS_OF_PAGES) {
  for (const { role } of people) {
    open.set(`${nameOf(endpoint)} ${role}`, await answerOf(endpoint, role, kinds[0] ?? assert.fail(), undefined));
  }
}

for (const situation of SITUATIONS) {
  const name = [
    situation.own && `of the page: ${situation.own}`,
    situation.above && `of the page above: ${situation.above}`,
  ]
    .filter(Boolean)
    .join(', ');
  test(`with these grants each role gets the answer that the rules predict: ${name}`, async () => {
    if (situation.above) await close(folder, situation.above);
    if (situation.own) await close(a.page_id, situation.own);
    const wrong: string[] = [];
    for (const endpoint of ENDPOINTS_OF_PAGES) {
      const allowed = rolesWith(permissionOf(endpoint.access) || assert.fail());
      for (const { role } of people) {
        const unrestricted = open.get(`${nameOf(endpoint)} ${role}`) ?? '';
        const wanted = allowed.includes(role) ? expected(endpoint, role, situation, unrestricted) : '403 forbidden';
        for (const kind of nextKinds(kinds)) {
          const answer = await answerOf(endpoint, role, kind, situation);
          const who = `${nameOf(endpoint)}, ${role} with ${kind.name}`;
          if (answer !== wanted)
            wrong.push(`${who}: ${answer} instead of ${wanted}; ${unrestricted} without a restriction`);
          cells += 1;
        }
      }
    }
    for (const page_id of [folder, a.page_id]) await lift(db, { wiki_id: a.wiki_id, page_id });
    assert.deepEqual(wrong, []);
  });
}

test('every situation, role and endpoint was tried', () => {
  assert.equal(cells % (SITUATIONS.length * people.length * ENDPOINTS_OF_PAGES.length), 0);
  assert.ok(cells >= 4_000, `${cells} cells`);
});
