import assert from 'node:assert/strict';
import { JOBS } from '../../src/app.ts';
import { newId } from '../../src/platform/core/ids.ts';
import { newLinkSecret } from '../../src/platform/core/secrets.ts';
import { openServiceDb, type ServiceDb } from '../../src/platform/db/db.ts';
import { sql } from '../../src/platform/db/sql.ts';
import type { JobServices } from '../../src/platform/jobs/define-job.ts';
import { pauseAllJobs } from '../../src/platform/jobs/pause-jobs.ts';
import { exported, PNG, send } from '../archives.ts';
import { cleanUp } from '../clean-up.ts';
import { putAccess } from '../restrict.ts';
import { announce } from '../resumable.ts';
import { signedInClient } from '../signed-in.ts';
import { until } from '../until.ts';
import { type Client, makeDatabase, type Owner, openOwner, openWorld, type World } from '../world.ts';

/** The data that pairs of writes share: a workspace with members, wikis, pages, uploads and keys. */
export interface Stage {
  world: World;
  database: string;
  serviceDb: ServiceDb;
  services: JobServices;
  owner: Owner;
  wiki_id: string;
  ids: Record<string, string>;
  people: Record<'admin' | 'coOwner' | 'member' | 'inactive' | 'guest' | 'memberSession' | 'ownerSession', Client>;
  secrets: Record<string, string>;
}

const OLD = sql`now() - interval '1 year'`;

/**
 * Turns off hash and merge joins. With few rows PostgreSQL prefers nested loops, and after a lock wait it joins a
 * changed row again. Without statistics it would choose other plans here, which hide lost rows.
 */
async function preferNestedLoops(database: string): Promise<void> {
  const name = new URL(database).pathname.slice(1);
  await openOwner(database).transaction((_, run) =>
    run(`alter database ${name} set enable_hashjoin = off; alter database ${name} set enable_mergejoin = off`),
  );
}

export async function setStage(): Promise<Stage> {
  const database = await makeDatabase();
  await preferNestedLoops(database);
  let services: JobServices | undefined;
  const world = await openWorld(
    { DATABASE_URL: database, PASSWORD_SIGN_IN: 'on' },
    {
      jobServices: (own) => {
        services = own;
        return own;
      },
    },
  );
  const serviceDb = openServiceDb({ connection: { connectionString: database }, connections: 4 });
  cleanUp(() => serviceDb.close());
  const owner = await world.owner('owner@example.com');
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const ids: Record<string, string> = {};
  await makePages(owner, ids);
  await makeUploads(world, owner, ids);
  await world.db.query(sql`
    update pages set stale = true, gone_file = path || '.md' where wiki_id = ${owner.wiki_id} and path = 'guide/d'`);
  await owner.patch(`${wiki}/pages/${ids.b}`, { markdown: 'Text of B, by hand.\n', base_revision: 1 });
  await owner.patch(`${wiki}/pages/${ids.other}`, {
    markdown: '[d](top/below/deep) [t](bin) [n](new) [c](guide/c)',
    base_revision: 1,
  });

  const people = await makePeople(world, owner, ids);
  const secrets: Record<string, string> = {};
  await makeOrganization(world, owner, ids, people, secrets);
  await makeVault(owner, people, ids);

  const archive = await exported(world, owner, owner.wiki_id);
  const left = () => world.db.query(sql`select name from background_jobs`);
  await until('no job is left', left, ({ length }) => length === 0);
  await pauseAllJobs(world.db.query, true);
  await world.db.query(sql`update schedules set due_at = 'infinity'`);
  await owner.send('DELETE', `/v1/wikis/${ids.deletedWiki}`);
  await owner.send('DELETE', `/v1/workspaces/${owner.workspace_id}/deleted-wikis/${ids.deletedWiki}`);
  ids.import = (await send(owner, ids.secondWiki ?? '', archive)).body.job_id;
  await makeWaitingUploads(world, owner, ids);
  await world.db.query(sql`
    update pages set trashed_at = ${OLD} where trashed_with = ${ids.oldTrash}`);
  await world.db.query(sql`update revisions set created_at = ${OLD} where page_id = ${ids.b}`);
  await world.db.query(sql`
    update workspaces set trash_days = 30, revision_days = 30, retention_changed_at = ${OLD}, seats_unlimited = false,
      seats_granted = active_members + 2
    where workspace_id = ${owner.workspace_id}`);
  // All pairs together take longer than an access token is valid.
  await world.db.query(sql`update sessions set last_used_at = now(), access_expires_at = now() + interval '1 day'`);
  if (!services) throw new Error('no job has been run');
  return { world, database, serviceDb, services, owner, wiki_id: owner.wiki_id, ids, people, secrets };
}

async function makePages(owner: Owner, ids: Record<string, string>): Promise<void> {
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const page = async (name: string, title: string, markdown: string, parent = '') => {
    const { status, body } = await owner.post(`${wiki}/pages`, { title, markdown, parent_page_id: ids[parent] ?? '' });
    assert.equal(status, 201, JSON.stringify(body));
    ids[name] = body.page_id;
  };
  await page('top', 'Top', 'See [[Below]], [missing](missing) and [other](other).');
  await page('below', 'Below', '[o](../other) [[New]]', 'top');
  await page('deep', 'Deep', '#tag', 'below');
  await page('other', 'Other', 'Text.');
  await page('oldTrash', 'Old', 'x');
  await page('oldTrashBelow', 'Old below', 'x', 'oldTrash');
  await page('bin', 'Bin', '[[Other]]');
  await page('binBelow', 'Bin below', 'x', 'bin');
  for (const name of ['oldTrash', 'bin']) await owner.send('DELETE', `${wiki}/pages/${ids[name]}`);
  const form = new FormData();
  form.append('file', new Blob([PNG]), 'p.png');
  ids.attachment = (
    await owner.send('POST', `${wiki}/pages/${ids.below}/attachments`, { body: form })
  ).body.attachment_id;
  await owner.send('PUT', `${wiki}/starred-pages/${ids.below}`);
  await owner.send('PUT', `${wiki}/templates/${ids.deep}`);
  const kept = (path: string, body: object) =>
    owner.send('PUT', wiki + path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  await kept('/autosaves/kept-text-of-the-owner', { page_id: ids.below, title: 'T', markdown: 'x' });
  await kept('/saved-searches/search-of-the-owner', { name: 'Searched', query: 'x' });
  ids.deletedWiki = (await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Deleted' })).body.wiki_id;
  ids.secondWiki = (await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Second' })).body.wiki_id;
  await owner.post(`/v1/wikis/${ids.deletedWiki}/pages`, { title: 'X', markdown: 'x' });
}

/** Makes a wiki with an open page, and a page that the owners manage and the member writes, with a page below. */
async function makeVault(owner: Owner, people: Stage['people'], ids: Record<string, string>): Promise<void> {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Closed' });
  const { wiki_id } = body;
  ids.closedWiki = wiki_id;
  const page = async (title: string, parent_page_id = '') =>
    (await owner.post(`/v1/wikis/${wiki_id}/pages`, { title, markdown: 'x', parent_page_id })).body.page_id;
  const vault = await page('Vault');
  Object.assign(ids, { vault, inside: await page('Inside', vault), outside: await page('Outside') });
  const levels = { [people.coOwner.user_id]: 'manage', [people.member.user_id]: 'write' } as const;
  const { status } = await putAccess(owner, { wiki_id, page_id: vault }, levels);
  assert.equal(status, 200);
}

async function makeUploads(world: World, owner: Owner, ids: Record<string, string>): Promise<void> {
  const files = Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [`guide/${name}.md`, `Text of ${name.toUpperCase()}. [b](b.md)\n`]),
  );
  const { body } = await world.upload(owner, owner.wiki_id, files);
  assert.equal(body.status, 'completed', JSON.stringify(body));
  for (const name of ['a', 'b', 'c', 'd']) {
    const path = `/v1/wikis/${owner.wiki_id}/pages/path/guide/${name}`;
    ids[name] = (await owner.get(path)).body.page_id;
  }
  ids.guide = (await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/guide`)).body.page_id;
  const sources = (await owner.get(`/v1/wikis/${owner.wiki_id}/sources`)).body;
  for (const { source_id, filename } of sources) ids[`source ${filename}`] = source_id;
}

/** Makes uploads in each of their states while jobs are paused. Then starts the job of the first upload. */
async function makeWaitingUploads(world: World, owner: Owner, ids: Record<string, string>): Promise<void> {
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const upload = async (files: Record<string, string>, mode: string) => {
    const form = new FormData();
    for (const [name, content] of Object.entries(files)) form.append('files', new Blob([content]), name);
    const { status, body } = await owner.send('POST', `${wiki}/uploads?mode=${mode}`, { body: form });
    assert.equal(status, 201, JSON.stringify(body));
    return body.upload_id as string;
  };
  ids.running = await upload(
    {
      'guide/a.md': 'New text of A. [n](new.md) [below](/top/below)\n',
      'guide/b.md': 'Text of B. [b](b.md)\n\nMore.\n',
      'guide/new.md': '# New\n\nNew.\n',
    },
    'sync',
  );
  await world.db.query(sql`
    insert into workers (worker_id, alive_until) values ('pairs', 'infinity')`);
  await world.db.query(sql`
    update jobs set status = 'running', attempt = 1, failures = 1, started_at = now(), worker_id = 'pairs'
    where upload_id = ${ids.running} or job_id = ${ids.import}`);
  const [job] = await world.db.query<{ job_id: string }>(sql`select job_id from jobs where upload_id = ${ids.running}`);
  ids.job = job?.job_id ?? '';
  ids.failed = await upload({ 'late.md': '# Late\n' }, 'add');
  assert.equal((await owner.post(`${wiki}/uploads/${ids.failed}/cancel`)).status, 200);
  const announced = await announce(owner, owner.wiki_id, { 'sent.md': Buffer.from('# Sent\n') });
  ids.uploading = announced.upload_id;
  ids.file = announced.files[0]?.path ?? '';
  const whole = await announce(owner, owner.wiki_id, { 'whole.md': Buffer.from('# Whole\n') });
  ids.whole = whole.upload_id;
  await owner.send('PATCH', whole.files[0]?.path ?? '', {
    headers: { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
    body: '# Whole\n',
  });
}

async function makePeople(world: World, owner: Owner, ids: Record<string, string>): Promise<Stage['people']> {
  const add = async (name: string, role: Parameters<World['member']>[1], status?: 'inactive') => {
    const member = await world.member(owner.workspace_id, role, status);
    ids[name] = member.membership_id;
    return member as Client;
  };
  const member = await add('member', 'member');
  ids.owner = owner.membership_id;
  return {
    admin: await add('admin', 'admin'),
    coOwner: await add('coOwner', 'owner'),
    member,
    inactive: await add('inactive', 'member', 'inactive'),
    guest: await world.person('guest@example.com'),
    memberSession: await signedInClient(world, member.user_id),
    ownerSession: await signedInClient(world, owner.user_id),
  };
}

async function makeOrganization(
  world: World,
  owner: Owner,
  ids: Record<string, string>,
  people: Stage['people'],
  secrets: Record<string, string>,
): Promise<void> {
  const { secret, hash } = newLinkSecret();
  secrets.invitation = secret;
  secrets.memberEmail = (await people.member.get('/v1/me')).body.email;
  secrets.workspaceName = (await owner.get('/v1/workspaces')).body[0].name;
  ids.invitation = newId('inv');
  await world.db.query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    values (${ids.invitation}, ${owner.workspace_id}, 'guest@example.com', 'member', ${hash}, ${owner.user_id}, now() + interval '7 days')`);
  const keys = `/v1/workspaces/${owner.workspace_id}/api-keys`;
  ids.key = (await people.admin.post(keys, { name: 'Key' })).body.key_id;
  const session = await signedInClient(world, people.member.user_id);
  secrets.refresh = session.tokens.refresh_token;
  ids.session = session.tokens.session_id;
}

/** Runs a job that has no record, as a worker does. */
export async function runJob(
  stage: Stage,
  name: string,
  target: { wiki_id?: string; workspace_id?: string },
): Promise<string> {
  const job = JOBS.find((each) => each.name === name);
  if (!job || 'record' in job) throw new Error(`there is no job ${name}`);
  const db = stage.serviceDb.in({ who: 'job', path: target as { wiki_id: string } });
  await job.run({ db, target, input: {}, services: stage.services, signal: new AbortController().signal });
  return 'done';
}
