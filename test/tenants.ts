import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { lostText } from '@ibid/documents/formats/losses.ts';
import { TABLES } from '../src/app.ts';
import type { Widget } from '../src/platform/access/roles.ts';
import { type Permission, ROLES, type RoleSlug } from '../src/platform/access/roles.ts';
import { newToken } from '../src/platform/access/token.ts';
import { openWidgetTokens, type WidgetTokens } from '../src/platform/access/widget-token.ts';
import { newId } from '../src/platform/core/ids.ts';
import { QUOTA_NAMES } from '../src/platform/core/quotas.ts';
import { newLinkSecret } from '../src/platform/core/secrets.ts';
import type { Db } from '../src/platform/db/db.ts';
import { raw, type Sql, sql } from '../src/platform/db/sql.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import type { Table } from '../src/platform/tables/define-table.ts';
import { mergePending } from '../src/wiki/search/index/merge-pending.ts';
import { ended } from './archives.ts';
import { cleanUp } from './clean-up.ts';
import { checkAnswer, checkDeclared } from './leak-patterns.ts';
import { startSignInProvider } from './openid-sign-in.ts';
import { png } from './pictures.ts';
import { type RawAnswer, type RawRequest, sendRaw } from './raw-http.ts';
import { type Ids, nameOf, PUBLIC_URL, pathParams, propertiesOf } from './requests.ts';
import { restrict } from './restrict.ts';
import { sendUntilAnswered } from './send-again.ts';
import { freshSecrets, signInOptions } from './sign-in-secrets.ts';
import { signedInClient } from './signed-in.ts';
import { type Client, type Hooks, type Owner, openWorld, type World } from './world.ts';

/** A caller: a user, for whom widget tokens can be made, and the credential that they send. */
export interface Actor {
  name: string;
  user_id: string;
  token: string;
}

export interface Tenants {
  world: World;
  env: Record<string, string>;
  /** Ids of the tenant that requests name, one for each path parameter. */
  a: Ids;
  /** Ids of the tenant whose data no other tenant's user may ever see or change. */
  b: Ids;
  /** Well-formed ids of no object. */
  unknown: Ids;
  /**
   * Returns A's ids for one successful request. Creates every object that the request can use up (a member, an
   * invitation, a key), and makes the owner owner again.
   */
  fresh(endpoint: Endpoint, actor: Actor): Promise<Ids>;
  elsewhere: string;
  owner: Actor;
  roles: Record<RoleSlug, Actor>;
  /** A valid credential without any membership. */
  stranger: Actor;
  /** A deactivated owner of A. */
  inactive: Actor;
  /**
   * Creates a key with these rights: all permissions if `permissions` is missing, a personal key if `workspace_id` is.
   */
  key(
    user_id: string,
    rights: { permissions?: Permission[]; workspace_id?: string; dead?: 'revoked' | 'expired' },
  ): Promise<string>;
  /** Returns the actor's credential for this endpoint: the key, a widget token, or the token of a new session. */
  tokenFor(endpoint: Endpoint, actor: Actor, workspace_id?: string): Promise<string>;
  widgetToken(actor: Actor, widget: Widget, workspace_id?: string): Promise<string>;
  /** Sends a request of any user outside B, and checks the rules for every answer. */
  send(request: RawRequest, endpoint?: Endpoint): Promise<RawAnswer>;
  /** Returns the part of an answer that discloses data of B, unless the request contained it. */
  findLeak(request: RawRequest, answer: RawAnswer): string | undefined;
  /** Asserts that no row of B has changed since the tests began. */
  checkForeignRows(): Promise<void>;
}

/**
 * Opens two tenants with objects of every kind, and callers of every kind. `more` and `hooks` as in openWorld. `open`:
 * starts the service, by default in this process.
 */
export async function openTenants(
  more: Record<string, string> = {},
  hooks?: Hooks,
  open: (env: Record<string, string>, hooks?: Hooks) => Promise<World> = openWorld,
): Promise<Tenants> {
  const provider = await startSignInProvider(`${PUBLIC_URL}/sign-in/callback`);
  cleanUp(() => provider.stop());
  // The callers of all kinds create more than a workspace may have.
  const WORKSPACE_LIMITS = QUOTA_NAMES.map((name) => `${name}=unlimited`).join(',');
  const env = { ...signInOptions(provider), WORKSPACE_LIMITS, ...more };
  const world = await open(env, hooks);
  const { db } = world;
  const canary = `canary${randomBytes(6).toString('hex')}`;
  const [ownerA, ownerB] = [await world.owner(), await world.owner(`${canary}@example.com`)];
  const a = await fill(world, ownerA, 'ordinary', 1);
  const b = await fill(world, ownerB, canary, 700_000_001);
  await plantCanary(db, b, canary);
  const owner = { name: 'owner', user_id: ownerA.user_id, token: String(ownerA.token) };
  const actor = (name: string, client: Client): Actor => ({
    name,
    user_id: client.user_id,
    token: String(client.token),
  });
  const roles = { owner } as Record<RoleSlug, Actor>;
  for (const { slug } of ROLES) {
    if (slug !== 'owner') roles[slug] = actor(slug, await world.member(ownerA.workspace_id, slug));
  }
  const tokens = await openWidgetTokens(db.query, PUBLIC_URL);
  const secrets = [canary, ...Object.values(b)];
  for (const { wiki_id } of [a, b]) await mergeIndex(db, wiki_id);
  const before = await hashesOf(db, b);
  const findLeak = (request: RawRequest, answer: RawAnswer) => {
    const seen = JSON.stringify(answer.headers) + answer.text;
    const sent = request.path + String(request.body ?? '');
    return secrets.find((secret) => seen.includes(secret) && !sent.includes(secret));
  };

  return {
    world,
    env,
    a,
    b,
    unknown: unknownIds(a),
    fresh: async (endpoint, caller) => ({
      ...(await freshIds(world, a, owner, endpoint, caller)),
      ...(await freshSecrets(world, provider, endpoint, caller, a.workspace_id)),
    }),
    elsewhere: (await ownerA.post('/v1/workspaces', { name: 'Elsewhere' })).body.workspace_id,
    owner,
    roles,
    stranger: actor('stranger', await world.person()),
    inactive: actor('inactive owner', await world.member(ownerA.workspace_id, 'owner', 'inactive')),
    key: (user_id, rights) => insertKey(db, user_id, rights),
    async tokenFor({ access }, asker, workspace_id = a.workspace_id) {
      if (access.on === 'widget') return sign(db, tokens, asker, access.widget, workspace_id);
      const needsSession = (access.on === 'caller' || access.on === 'workspace') && access.session;
      if (!needsSession) return asker.token;
      return (await signedInClient(world, asker.user_id)).tokens.access_token;
    },
    widgetToken: (asker, widget, workspace_id = a.workspace_id) => sign(db, tokens, asker, widget, workspace_id),
    async send(request, endpoint) {
      // Public endpoints count attempts at secrets, which some tests check, so their requests are not retried.
      const isCounted = endpoint?.access.on === 'anyone';
      const once = () => sendRaw(world.address, request);
      const answer = await (isCounted ? once() : sendUntilAnswered(once));
      checkAnswer(request, answer);
      if (endpoint) checkDeclared(endpoint, answer);
      assert.equal(
        findLeak(request, answer),
        undefined,
        `${request.method} ${request.path} disclosed data of another workspace`,
      );
      return answer;
    },
    findLeak,
    async checkForeignRows() {
      assert.deepEqual(await hashesOf(db, b), before, 'rows of a workspace that no request may change have changed');
    },
  };
}

/**
 * Creates a wiki with pages and sources, a member as the target of requests, an invitation and a key. Returns their ids
 * by the names of path parameters. `revision`: the number of the page's first revision, which differs between tenants.
 */
async function fill(world: World, owner: Owner, word: string, revision: number): Promise<Ids> {
  const { workspace_id, wiki_id } = owner;
  const target = await world.member(workspace_id, 'member');
  const invited = await owner.post(`/v1/workspaces/${workspace_id}/members/invite`, {
    email: `${word}@invited.example`,
    role: 'viewer',
  });
  const uploaded = await world.upload(owner, wiki_id, {
    [`${word}/setup.md`]: `# Setup word ${word}\n\nThe word ${word} is here. A loom has warp, weft and shuttle.\n`,
    [`${word}/README.md`]: `# ${word}\n\nSee [setup](setup.md).\n`,
  });
  assert.equal(
    uploaded.body.status,
    'completed',
    `the upload of a tenant must succeed: ${JSON.stringify(uploaded.body)}`,
  );
  await insertKey(world.db, owner.user_id, { workspace_id });
  const [row] = await world.db.query<Pick<Ids, 'page_id' | 'page_path' | 'source_id' | 'job_id' | 'key_id'>>(sql`
    select p.page_id, p.path as page_path, c.source_id, j.job_id, k.key_id
    from pages p join page_sources c using (wiki_id, page_id) join jobs j using (wiki_id), api_keys k
    where wiki_id = ${wiki_id} and p.path like '%/%' and k.workspace_id = ${workspace_id}`);
  assert.ok(row, 'an upload must make a page with a source');
  const pages = `/v1/wikis/${wiki_id}/pages`;
  const child = { title: word, markdown: `See [it](nothing-yet).\n`, parent_page_id: row.page_id };
  const { body: left } = await owner.post(pages, child);
  await addGoneFile(world.db, left.page_id, `${word}/gone.md`);
  await owner.post(pages, {
    title: `Tagged ${word}`,
    markdown: `---\ntags: [${word}]\n---\nA loom has warp, weft and shuttle.\n`,
  });
  const { body: deleted } = await owner.post(pages, child);
  await owner.patch(`${pages}/${deleted.page_id}`, { slug: 'moved' });
  await owner.send('DELETE', `${pages}/${deleted.page_id}`);
  await addRevision(world.db, wiki_id, row.page_id, revision);
  await addLosses(world.db, wiki_id, word);
  await addTemplate(world.db, wiki_id, row.page_id);
  await addStar(world.db, owner.user_id, wiki_id, row.page_id);
  await addLoggedCalls(world.db, workspace_id, word);
  await moveToTrash(world.db, await freshWiki(world.db, workspace_id, owner.user_id, `Deleted ${word}`));
  const ids = {
    ...row,
    revision: String(revision),
    export_id: await exportWiki(owner, wiki_id),
    attachment_id: await attach(world, owner, wiki_id, row.page_id, `Attached ${word}`),
    avatar_id: await addAvatar(world, owner),
    autosave_id: await addAutosave(world.db, owner.user_id, wiki_id, row.page_id, word),
    saved_search_id: await addSavedSearch(world.db, owner.user_id, wiki_id, word),
    from_revision: String(revision),
    to_revision: String(revision + 1),
    workspace_id,
    organization_id: workspace_id,
    wiki_id,
    upload_id: uploaded.body.upload_id,
    file_id: await fileIdOf(world.db, uploaded.body.upload_id),
    membership_id: target.membership_id,
    invitation_id: invited.body.invitation_id,
    user_id: owner.user_id,
    session_id: (await signedInClient(world, owner.user_id)).tokens.session_id,
    token: randomBytes(32).toString('base64url'),
  };
  return { ...ids, ...(await addRows(world.db, ids, word)) };
}

/** Tables whose rows `addRows` creates, because no other code here does. */
export const PLAIN_TABLES = new Set<Table>();

/** Adds a row to each table whose id is missing from `ids`. Returns the new ids. */
async function addRows(db: Db, ids: Ids, word: string): Promise<Record<string, string>> {
  const made: Record<string, string> = {};
  for (const table of TABLES) {
    if (table.of === 'service' || !table.id || !table.prefix || table.id in ids) continue;
    PLAIN_TABLES.add(table);
    made[table.id] = await addRow(db, table, ids, word);
  }
  return made;
}

/** Adds a row with `word` in each text and returns its id. Throws an Error for a column without a known value. */
export async function addRow(db: Db, { name, id = '', prefix = '' }: Table, ids: Ids, word: string): Promise<string> {
  const columns = await db.query<{ column: string; type: string }>(sql`
    select column_name as column, data_type as type from information_schema.columns
    where table_schema = 'public' and table_name = ${name} and is_nullable = 'NO' and column_default is null and is_generated = 'NEVER'`);
  const byType: Record<string, unknown> = {
    text: word,
    integer: 1,
    bigint: 1,
    boolean: true,
    jsonb: {},
    bytea: '\\x00',
  };
  const now = new Date().toISOString();
  const row: Record<string, unknown> = { [id]: newId(prefix) };
  for (const { column, type } of columns) {
    const person = column.endsWith('_by') ? ids.user_id : undefined;
    row[column] ??= ids[column] ?? person ?? (type.startsWith('timestamp') ? now : byType[type]);
    if (row[column] === undefined)
      throw new Error(`add a row of ${name} to fill() of test/tenants.ts: ${column} is ${type}`);
  }
  const all = raw(Object.keys(row).join(', '));
  await db.query(sql`
    insert into ${raw(name)} (${all}) select ${all} from jsonb_populate_record(null::${raw(name)}, ${JSON.stringify(row)}::jsonb)`);
  return String(row[id]);
}

async function fileIdOf(db: Db, upload_id: string): Promise<string> {
  const [file] = await db.query<{ file_id: string }>(sql`
    select file_id from upload_files where upload_id = ${upload_id} and file_no = 0`);
  return file?.file_id ?? '';
}

/** Adds a second revision to a page, with a longer text; the first one gets this number. */
async function addRevision(db: Db, wiki_id: string, page_id: string, first: number): Promise<void> {
  await db.query(sql`
    update revisions set revision = ${first} where wiki_id = ${wiki_id} and page_id = ${page_id}`);
  await db.query(sql`
    insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
    select wiki_id, page_id, revision + 1, title, markdown || 'And more.', html, outline, created_by
    from revisions where wiki_id = ${wiki_id} and page_id = ${page_id}`);
  await db.query(sql`
    update pages set revision = ${first + 1} where wiki_id = ${wiki_id} and page_id = ${page_id}`);
}

/** Records for each source of a wiki that its text lacks a part of the file. */
export async function addLosses(db: Db, wiki_id: string, word: string): Promise<void> {
  const losses = JSON.stringify([lostText('comment', `lost ${word}`)]);
  await db.query(sql`
    update sources set losses = ${losses}::jsonb, loss_count = 1, losses_to_review = 1 where wiki_id = ${wiki_id}`);
}

/** Marks the file of a page as gone. */
export async function addGoneFile(db: Db, page_id: string, filename: string): Promise<void> {
  await db.query(sql`update pages set stale = true, gone_file = ${filename} where page_id = ${page_id}`);
}

async function exportWiki(owner: Owner, wiki_id: string): Promise<string> {
  const { body } = await owner.post(`/v1/wikis/${wiki_id}/exports`);
  const job = await ended(owner, wiki_id, body.job_id);
  assert.equal(job.status, 'completed', job.error);
  return job.job_id;
}

async function addLoggedCalls(db: Db, workspace_id: string, word: string): Promise<void> {
  await db.query(sql`
    insert into request_log (workspace_id, call_id, request_id, method, path, status, error, duration_ms, credential_kind, credential_id, created_at)
    select ${workspace_id}, 'req_' || n, ${word} || n, 'GET', '/v1/overview', 200, '', 1, 'key', ${word}, now()
    from generate_series(1, 5) n`);
}

export async function addTemplate(db: Db, wiki_id: string, page_id: string): Promise<void> {
  await db.query(sql`
    insert into templates (wiki_id, page_id, created_by)
    select wiki_id, page_id, created_by from pages where wiki_id = ${wiki_id} and page_id = ${page_id}`);
}

async function addStar(db: Db, user_id: string, wiki_id: string, page_id: string): Promise<void> {
  // A user may star 100 pages. Delete stars of earlier requests.
  await db.query(sql`
    delete from starred_pages where wiki_id = ${wiki_id} and user_id = ${user_id} and page_id in (
      select page_id from starred_pages where wiki_id = ${wiki_id} and user_id = ${user_id} order by created_at desc offset 40)`);
  await db.query(sql`
    insert into starred_pages (wiki_id, user_id, page_id) values (${wiki_id}, ${user_id}, ${page_id})`);
}

/** Adds an autosave of this user, and returns its id. */
async function addAutosave(db: Db, user_id: string, wiki_id: string, page_id: string, word: string): Promise<string> {
  const autosave_id = randomBytes(12).toString('hex');
  await db.query(sql`
    insert into autosaves (wiki_id, user_id, autosave_id, page_id, title, markdown, base_revision)
    values (${wiki_id}, ${user_id}, ${autosave_id}, ${page_id}, ${word}, ${`Unsaved ${word}`}, 1)`);
  // A user may have 100 autosaves. Delete autosaves of earlier requests.
  await db.query(sql`
    delete from autosaves where wiki_id = ${wiki_id} and user_id = ${user_id} and title = 'fresh' and autosave_id in (
      select autosave_id from autosaves where wiki_id = ${wiki_id} and user_id = ${user_id} and title = 'fresh'
      order by created_at desc offset 40)`);
  return autosave_id;
}

/** Adds a saved search of this user, and returns its id. */
async function addSavedSearch(db: Db, user_id: string, wiki_id: string, word: string): Promise<string> {
  const saved_search_id = randomBytes(12).toString('hex');
  // A user may have 50 saved searches. Delete searches of earlier requests.
  await db.query(sql`
    delete from saved_searches where wiki_id = ${wiki_id} and user_id = ${user_id} and saved_search_id in (
      select saved_search_id from saved_searches
      where wiki_id = ${wiki_id} and user_id = ${user_id} and name like 'Search fresh %' order by created_at desc offset 20)`);
  await db.query(sql`
    insert into saved_searches (wiki_id, user_id, saved_search_id, name, query, sort)
    values (${wiki_id}, ${user_id}, ${saved_search_id}, ${`Search ${word} ${saved_search_id}`}, ${word}, 'relevance')`);
  return saved_search_id;
}

/** Attaches a text to a page and returns the attachment's id. */
async function attach(
  world: World,
  by: { token?: string | undefined },
  wiki_id: string,
  page_id: string,
  text: string,
) {
  const body = new FormData();
  body.append('file', new Blob([text]), 'note.txt');
  const path = `/v1/wikis/${wiki_id}/pages/${page_id}/attachments`;
  const attached = await world.as(by.token).send('POST', path, { body });
  assert.equal(attached.status, 201, attached.body.message);
  return String(attached.body.attachment_id);
}

/** Adds a picture of a user whom no request changes. Returns the secret of its address. */
async function addAvatar(world: World, by: { token?: string | undefined }): Promise<string> {
  const sent = { body: new Uint8Array(png()), headers: { 'content-type': 'image/png' } };
  const set = await world.as(by.token).send('PUT', '/v1/me/avatar', sent);
  assert.equal(set.status, 200, set.body.message);
  const { user_id } = set.body;
  const secret = String(set.body.avatar_url).split('/').at(-1) ?? '';
  const picture = raw('avatar_sha256, avatar_type, avatar_bytes');
  await world.db.query(sql`update users set avatar_id = null where user_id = ${user_id}`);
  await world.db.query(sql`
    insert into users (user_id, email, display_name, avatar_id, ${picture})
    select ${newId('user')}, 'pictured@example.com', 'Pictured', ${secret}, ${picture} from users where user_id = ${user_id}`);
  return secret;
}

/** Returns whether a successful request to this endpoint changes its object or its caller. */
function changesState({ method, path }: Endpoint): boolean {
  return (
    method === 'DELETE' ||
    (method === 'PATCH' && path.includes('/pages/')) ||
    /\/(restore|keep)$/.test(path) ||
    /\/(complete|cancel|retry)$/.test(path) ||
    (method === 'PATCH' && path.includes('/files/')) ||
    /\/(revoke|transfer|lookup|accept)$/.test(path) ||
    (method === 'PUT' && /\/(templates|starred-pages)\/:page_id$/.test(path)) ||
    path.endsWith('/access') ||
    // Each caller has their own objects.
    /\/:(autosave|saved_search)_id$/.test(path)
  );
}

async function freshIds(world: World, a: Ids, owner: Actor, endpoint: Endpoint, asker: Actor): Promise<Ids> {
  if (!changesState(endpoint)) return a;
  const { db } = world;
  const { workspace_id } = a;
  await db.query(sql`
    update memberships set role = 'owner'
    where workspace_id = ${workspace_id} and user_id = ${owner.user_id} and role <> 'owner'`);
  const names = namesIn(endpoint);
  const personal = endpoint.access.on === 'caller';
  const membership_id = names.has('membership_id') ? await freshMember(db, workspace_id) : a.membership_id;
  const key_id = names.has('key_id')
    ? await freshKey(db, personal ? asker : owner, personal ? null : workspace_id)
    : a.key_id;
  // The caller accepts an invitation to a workspace that they are not in.
  const offered = names.has('token') || (personal && names.has('invitation_id')) ? await freshOffer(db, asker) : {};
  const invited = names.has('invitation_id') && !personal ? { invitation_id: await freshInvitation(db, a, owner) } : {};
  const isOfPage = /\/(?:pages|templates|starred-pages)\/:page_id/.test(endpoint.path);
  const isDeleted = endpoint.path.includes('/deleted-wikis/');
  const isAccess = endpoint.path.endsWith('/access');
  const isFresh = isDeleted || nameOf(endpoint) === 'DELETE /v1/wikis/:wiki_id';
  // Members who may create wikis restore their own wikis.
  const creator = (isDeleted && asker.user_id) || owner.user_id;
  const wiki_id = isFresh
    ? await freshWiki(db, workspace_id, creator)
    : isAccess
      ? await closedWiki(db, a, creator)
      : a.wiki_id;
  if (isDeleted) await moveToTrash(db, wiki_id);
  const page_id = isOfPage ? await freshPage(db, { ...a, wiki_id }, owner, endpoint) : a.page_id;
  if (isAccess && endpoint.method === 'DELETE')
    await restrict(db, { wiki_id, page_id }, { [asker.user_id || owner.user_id]: 'manage' });
  if (endpoint.path.includes('/templates/') && endpoint.method !== 'PUT') await addTemplate(db, a.wiki_id, page_id);
  if (endpoint.method === 'DELETE' && endpoint.path.includes('/starred-pages/'))
    await addStar(db, asker.user_id || owner.user_id, a.wiki_id, page_id);
  const attachment_id = endpoint.path.includes(':attachment_id') ? await freshAttachment(db, a) : a.attachment_id;
  const work = /\/(uploads|jobs)\//.test(endpoint.path) ? await freshWork(db, a, owner, endpoint) : {};
  const source_id =
    endpoint.method === 'DELETE' && endpoint.path.includes(':source_id') ? await freshSource(db, a) : a.source_id;
  const autosave_id = endpoint.path.includes(':autosave_id')
    ? await addAutosave(db, asker.user_id || owner.user_id, a.wiki_id, a.page_id, 'fresh')
    : a.autosave_id;
  const saved_search_id = endpoint.path.includes(':saved_search_id')
    ? await addSavedSearch(db, asker.user_id || owner.user_id, a.wiki_id, 'fresh')
    : a.saved_search_id;
  const own = { autosave_id, saved_search_id };
  const plain: Record<string, string> = {};
  for (const table of PLAIN_TABLES) {
    if (!table.id || !names.has(table.id)) continue;
    plain[table.id] = await addRow(db, table, { ...a, user_id: asker.user_id || owner.user_id }, 'fresh');
  }
  const made = { membership_id, key_id, ...offered, ...invited, ...own, ...work, ...plain };
  return { ...a, ...made, wiki_id, page_id, attachment_id, source_id };
}

/** Returns the names in the path, the query and the body of a request to the endpoint. */
function namesIn(endpoint: Endpoint): Set<string> {
  return new Set([
    ...pathParams(endpoint),
    ...Object.keys(propertiesOf(endpoint.query)),
    ...Object.keys(propertiesOf(endpoint.body)),
  ]);
}

/** Adds a user who is a viewer of the workspace. Returns the id of the membership. */
async function freshMember(db: Db, workspace_id: string): Promise<string> {
  const [user_id, membership_id] = [newId('user'), newId('mem')];
  await db.query(sql`
    with spare as (
      insert into users (user_id, email, email_verified, display_name)
      values (${user_id}, ${`${user_id}@example.com`}, true, 'spare')
    )
    insert into memberships (membership_id, workspace_id, user_id, role)
    values (${membership_id}, ${workspace_id}, ${user_id}, 'viewer')`);
  return membership_id;
}

async function freshKey(db: Db, { user_id }: Actor, workspace_id: string | null): Promise<string> {
  const [key_id, { hash, obfuscated }] = [newId('key'), newToken('key')];
  await db.query(sql`
    insert into api_keys (key_id, workspace_id, user_id, name, secret_hash, obfuscated_value)
    values (${key_id}, ${workspace_id}, ${user_id}, 'test', ${hash}, ${obfuscated})`);
  return key_id;
}

async function freshInvitation(db: Db, { workspace_id }: Ids, owner: Actor): Promise<string> {
  const invitation_id = newId('inv');
  await db.query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    values (${invitation_id}, ${workspace_id}, ${`${invitation_id}@example.com`}, 'viewer', ${randomBytes(32)}::bytea,
      ${owner.user_id}, now() + interval '1 day')`);
  return invitation_id;
}

/** Adds an invitation of this user to a new workspace. Returns its id and the secret of its link. */
async function freshOffer(db: Db, { user_id }: Actor): Promise<{ invitation_id: string; token: string }> {
  const { secret, hash } = newLinkSecret();
  const [workspace_id, host, invitation_id] = [newId('org'), newId('user'), newId('inv')];
  await db.query(sql`
    with host as (
      insert into users (user_id, email, email_verified, display_name)
      values (${host}, ${`${host}@example.com`}, true, 'host')
    ), workspace as (
      insert into workspaces (workspace_id, name, slug, created_by)
      values (${workspace_id}, 'host', ${workspace_id.replace('_', '-')}, ${host})
    ), membership as (
      insert into memberships (membership_id, workspace_id, user_id, role)
      values (${newId('mem')}, ${workspace_id}, ${host}, 'owner')
    )
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    select ${invitation_id}, ${workspace_id}, email, 'viewer', ${hash}, ${host}, now() + interval '1 day'
    from users where user_id = ${user_id}`);
  return { invitation_id, token: secret };
}

/**
 * Adds a page at its first revision. For a restore from the trash the page is in the trash; for a restore of the first
 * revision it is at its second.
 */
async function freshPage(db: Db, { wiki_id, revision }: Ids, owner: Actor, endpoint: Endpoint): Promise<string> {
  const page_id = newId('page');
  const isTrashed = endpoint.path.endsWith(':page_id/restore');
  await db.query(sql`
    with page as (
      insert into pages (wiki_id, page_id, path, slug, title, origin, revision, word_count, created_by, updated_by, trashed_at,
        trashed_with, gone_file)
      select ${wiki_id}, id, s, s, 'Fresh', 'authored', 1, 1, ${owner.user_id}, ${owner.user_id},
        case when ${isTrashed} then now() end, case when ${isTrashed} then id end, ${endpoint.path.endsWith('/keep') ? 'fresh.md' : null}::text
      from (select ${page_id}::text as id, ${page_id.replace('_', '-')}::text as s) given
      returning *
    )
    insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
    select wiki_id, page_id, 1, title, 'Fresh', '<p>Fresh</p>', '[]', created_by from page`);
  if (endpoint.path.includes('/revisions/')) await addRevision(db, wiki_id, page_id, Number(revision));
  return page_id;
}

/** Adds an empty wiki to this workspace. */
export async function freshWiki(db: Db, workspace_id: string, created_by: string, title = 'Fresh'): Promise<string> {
  const wiki_id = newId('wiki');
  await db.query(sql`
    insert into wikis (wiki_id, workspace_id, slug, title, created_by)
    values (${wiki_id}, ${workspace_id}, ${wiki_id.slice(-20)}, ${title}, ${created_by})`);
  return wiki_id;
}

const closedWikis = new WeakMap<Ids, Promise<string>>();

/**
 * Returns the wiki of the tenant for requests that restrict pages. Once a page was restricted, every request to a wiki
 * takes more work.
 */
function closedWiki(db: Db, a: Ids, created_by: string): Promise<string> {
  const made = closedWikis.get(a) ?? freshWiki(db, a.workspace_id, created_by);
  closedWikis.set(a, made);
  return made;
}

/** Moves a wiki to the trash, unless a legal hold, which a fuzzer may have set, forbids it. */
async function moveToTrash(db: Db, wiki_id: string): Promise<void> {
  await db.query(sql`
    update wikis k set workspace_id = null, deleted_from = k.workspace_id, deleted_at = now() from workspaces w
    where k.wiki_id = ${wiki_id} and w.workspace_id = k.workspace_id and w.held_since is null`);
}

/**
 * Adds an upload of one file: waiting for its bytes, complete with a job that is not due soon, or failed. Its content
 * does not exist, so no page is made of it.
 */
async function freshWork(db: Db, { wiki_id }: Ids, owner: Actor, { path }: Endpoint): Promise<Partial<Ids>> {
  const ids = { upload_id: newId('upload'), file_id: newId('file'), job_id: newId('job') };
  const isOpen = /\/(files\/|complete$)/.test(path.replace(':file_id', ''));
  const status = isOpen ? 'uploading' : path.endsWith('/retry') ? 'failed' : 'queued';
  const sha256 = path.includes('/files/') ? '' : randomBytes(32).toString('hex');
  await db.query(sql`
    with upload as (
      insert into uploads (wiki_id, upload_id, status, finished_at, created_by)
      values (${wiki_id}, ${ids.upload_id}, ${status}, case when ${status} = 'failed' then now() end, ${owner.user_id})
      returning *
    ), file as (
      insert into upload_files (wiki_id, upload_id, file_no, file_id, filename, content_type, byte_size, sha256)
      select wiki_id, upload_id, 0, ${ids.file_id}, 'fresh.md', '', 1000, ${sha256} from upload
    )
    insert into jobs (wiki_id, job_id, upload_id, kind, run_after)
    select wiki_id, ${ids.job_id}, upload_id, 'ingest', now() + interval '1 day' from upload where status = 'queued'`);
  return ids;
}

/** Copies the existing attachment, with a hash of bytes that no request reads. */
async function freshAttachment(db: Db, { attachment_id }: Ids): Promise<string> {
  const id = newId('attachment');
  await db.query(sql`
    insert into attachments (wiki_id, attachment_id, page_id, filename, content_type, byte_size, sha256, created_by)
    select wiki_id, ${id}, page_id, filename, content_type, byte_size, ${randomBytes(32).toString('hex')}, created_by
    from attachments where attachment_id = ${attachment_id}`);
  return id;
}

/** Copies the existing source, with a hash of bytes that no request reads. */
async function freshSource(db: Db, { source_id }: Ids): Promise<string> {
  const id = newId('source');
  await db.query(sql`
    insert into sources (wiki_id, source_id, upload_id, title, filename, content_type, byte_size, sha256)
    select wiki_id, ${id}, upload_id, title, filename, content_type, byte_size, ${randomBytes(32).toString('hex')}
    from sources where source_id = ${source_id}`);
  return id;
}

/** Writes the canary into every text of B that no API request can write. */
async function plantCanary(db: Db, b: Ids, canary: string): Promise<void> {
  const { workspace_id, wiki_id, user_id } = b;
  const statements = [
    sql`update workspaces set name = ${canary}, slug = ${canary} where workspace_id = ${workspace_id}`,
    sql`update wikis set title = ${canary}, slug = ${canary}, description = ${canary} where wiki_id = ${wiki_id}`,
    sql`update users set display_name = ${canary}, avatar_url = ${canary} where user_id = ${user_id}`,
    sql`update api_keys set name = ${canary}, obfuscated_value = ${canary} where user_id = ${user_id}`,
    sql`update uploads set summary = ${canary}, error = ${canary} where wiki_id = ${wiki_id}`,
    sql`update jobs set summary = ${canary}, error = ${canary} where wiki_id = ${wiki_id}`,
    sql`update pages set description = ${canary} where wiki_id = ${wiki_id}`,
    sql`update sources set title = ${canary}, language = ${canary} where wiki_id = ${wiki_id}`,
  ];
  for (const statement of statements) await db.query(statement);
}

/** Merges the search index now, so that workers do not change its rows while they are compared. */
async function mergeIndex(db: Db, wiki_id: string): Promise<void> {
  for (const kind of ['page', 'source'] as const) while ((await mergePending(db, wiki_id, kind, 'wait')) > 0);
}

function unknownIds(ids: Ids): Ids {
  const last = (id: string) => id.replace(/.$/, (character) => (character === '0' ? '1' : '0'));
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, last(id)])) as Ids;
}

async function insertKey(
  db: Db,
  user_id: string,
  {
    permissions,
    workspace_id,
    dead,
  }: { permissions?: Permission[]; workspace_id?: string; dead?: 'revoked' | 'expired' },
): Promise<string> {
  const { secret, hash, obfuscated } = newToken('key');
  await db.query(sql`
    insert into api_keys (key_id, workspace_id, user_id, name, secret_hash, obfuscated_value, permissions, revoked_at, expires_at)
    values (${newId('key')}, ${workspace_id ?? null}, ${user_id}, 'test', ${hash}, ${obfuscated}, ${permissions ?? null},
      case ${dead ?? ''}::text when 'revoked' then now() end, case ${dead ?? ''}::text when 'expired' then now() end)`);
  return secret;
}

/** Signs a widget token for pages of the service, with a new session of the actor. */
async function sign(
  db: Db,
  tokens: WidgetTokens,
  { user_id }: Actor,
  widget: Widget,
  workspace_id = '',
): Promise<string> {
  const issued_by = newId('ses');
  await db.query(sql`
    insert into sessions (session_id, user_id, access_hash, access_expires_at, address, user_agent, expires_at)
    values (${issued_by}, ${user_id}, ${randomBytes(32)}, now() + interval '15 minutes', '', '', now() + interval '1 day')`);
  return tokens.sign({ user_id, workspace_id, widget, issued_by, origin: PUBLIC_URL });
}

const OWNERS = ['workspace_id', 'wiki_id', 'user_id', 'actor_id', 'created_by'];

/** Returns for each table a hash of B's rows, found by any column that identifies the owner. */
async function hashesOf(db: Db, b: Ids): Promise<Record<string, string>> {
  const tables = await db.query<{ table: string; columns: string[] | null }>(sql`
    select t.table_name as table,
      (select json_agg(c.column_name order by c.column_name) from information_schema.columns c
        where c.table_schema = t.table_schema and c.table_name = t.table_name
          and c.column_name = any (${OWNERS}::text[])) as columns
    from information_schema.tables t where t.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1`);
  const ids = [b.workspace_id, b.wiki_id, b.user_id];
  // A job may merge the usage deltas at any time. Merged deltas differ only if B's usage does.
  await db.query(sql`select merge_usage(1000000)`);
  // In a single statement: test/row-security.test.ts calls this after each endpoint.
  const selects: Sql[] = [];
  for (const { table, columns } of tables) {
    const declared = TABLES.find(({ name }) => name === table);
    assert.ok(
      columns !== null || declared?.of === 'service',
      `no column of "${table}" names the owner of a row: add one of ${OWNERS.join(', ')}, or declare it in a tables.ts with of: 'service'`,
    );
    // Requests change service rows that may be deleted; rows that may not be deleted must stay the same.
    if (columns === null && declared?.rights.includes('delete')) continue;
    const isOfB =
      columns === null
        ? raw('true')
        : sql`array[${raw(columns.map((column) => `t.${column}`).join(', '))}] && ${ids}::text[]`;
    selects.push(sql`
      select ${table}::text as "table", coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as hash
      from ${raw(`"${table}"`)} t where ${isOfB}`);
  }
  const rows = await db.query<{ table: string; hash: string }>(
    selects.reduce((all, select) => sql`${all} union all ${select}`),
  );
  return Object.fromEntries(rows.map(({ table, hash }) => [table, hash]));
}
