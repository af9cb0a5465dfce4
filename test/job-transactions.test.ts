import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { JOBS } from '../src/app.ts';
import { sql } from '../src/platform/db/sql.ts';
import { isRecordJob } from '../src/platform/jobs/define-job.ts';
import { ended, exported, imported, newWiki, PNG, zipped } from './archives.ts';
import { cleanUp } from './clean-up.ts';
import { heldServices } from './held-services.ts';
import { runScheduled } from './jobs.ts';
import { announce } from './resumable.ts';
import { signedInClient } from './signed-in.ts';
import { ofAShard, simulateShards } from './simulated-shards.ts';
import { STRIPE_KEY, startStripeServer, WEBHOOK_SECRET } from './stripe/server.ts';
import { patience, until } from './until.ts';
import { makeDatabase, type Owner, openOwner, openWorld } from './world.ts';

/**
 * A transaction that waits for no outside call ends well before this; the database aborts any other transaction after
 * it.
 */
const TRANSACTION_MS = 20_000;

const database = await makeDatabase();
const db = openOwner(database);
// Each transaction of a job sees only the rows of its own workspace.
const shards = await simulateShards(db);
/** Records the jobs that ran, by trigger: the rows of finished jobs are deleted. */
await db.transaction(async (_, runScript) => {
  await runScript(`
    create table jobs_run (name text);
    create table keys_of_jobs (workspace_id text);
    create function note_job() returns trigger language plpgsql security definer as $$
    begin insert into jobs_run values (new.name); return null; end $$;
    create trigger note_job after update of status on background_jobs for each row
      when (new.status = 'running') execute function note_job();
    create function note_key() returns trigger language plpgsql security definer as $$
    begin insert into keys_of_jobs values (current_setting('shard.key')); return null; end $$;
    create trigger note_key after insert on pages for each row
      when (current_setting('ibid.user', true) = '') execute function note_key();`);
});

const calls = new Set<string>();
const faults: string[] = [];
const stripe = await startStripeServer();
cleanUp(() => stripe.stop());
stripe.account.addPrice({ lookup_key: 'team_monthly', currency: 'usd', unit_amount: 800, interval: 'month' });

/** Holds each call of a service back until every transaction open at that moment has ended. */
const world = await openWorld(
  {
    DATABASE_URL: ofAShard(database),
    PASSWORD_SIGN_IN: 'on',
    STRIPE_SECRET_KEY: STRIPE_KEY,
    STRIPE_WEBHOOK_SECRETS: WEBHOOK_SECRET,
    STRIPE_API_URL: stripe.url,
  },
  {
    jobServices: (services) =>
      heldServices(services, async (name) => {
        calls.add(name);
        const open = await openTransactions();
        for (const isTooLong = patience(TRANSACTION_MS); open.length > 0 && faults.length === 0; await pause(20)) {
          const still = await openTransactions();
          if (!open.some((each) => still.includes(each))) return;
          if (isTooLong()) faults.push(name);
        }
      }),
  },
);
stripe.sendEventsTo(world.address);

/** Subscribes to a plan and lets the payment of its second month fail. */
async function failToPay({ workspace_id, post }: Owner): Promise<void> {
  const { body } = await post(`/v1/organizations/${workspace_id}/billing/checkout`, { plan_id: 'team_monthly' });
  stripe.account.complete(body.url.split('/').at(-1));
  const planOf = () => db.query(sql`select from subscriptions where workspace_id = ${workspace_id}`);
  await until('the plan is paid', planOf, ({ length }) => length === 1);
  for (const customer of stripe.account.customers.values()) {
    customer.declines = true;
    stripe.account.age(customer.id, 32 * 86_400);
  }
}

async function openTransactions(): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    select pid || ' ' || xact_start as id from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()
      and backend_type = 'client backend'`);
  return rows.map(({ id }) => id);
}

const PAGE = '# Page\n\nA word, and a picture: ![p](p.png) [n](n.txt)\n';

test('no job calls anything outside the database while a transaction is open', async () => {
  const owner = await world.owner();
  const { wiki_id, workspace_id } = owner;
  const done = await world.upload(owner, wiki_id, {
    'a.md': PAGE,
    'b.html': '<h1>Other page</h1><p>Says more.</p>',
    'c.zip': await zipped([['c/d.md', '# D\n']]),
    'p.png': PNG,
  });
  assert.equal(done.body.status, 'completed', JSON.stringify(done.body));
  // The upload merges with edits by hand, and merging renders.
  const { body: page } = await owner.get(`/v1/wikis/${wiki_id}/pages/path/a`);
  const edited = `${page.markdown}\nBy hand.\n`;
  await owner.patch(`/v1/wikis/${wiki_id}/pages/${page.page_id}`, { markdown: edited, base_revision: 1 });
  await world.upload(owner, wiki_id, { 'a.md': PAGE.replace('A word', 'Another word') });

  const form = new FormData();
  form.append('file', new Blob([PNG]), 'p.png');
  await owner.send('POST', `/v1/wikis/${wiki_id}/pages/${page.page_id}/attachments`, { body: form });
  const archive = await exported(world, owner, wiki_id);
  const folder = await zipped([
    ['a.md', PAGE],
    ['p.png', PNG],
    ['n.txt', 'x'],
    ['q.pdf', '%PDF-'],
  ]);
  for (const zip of [archive, folder]) {
    const job = await imported(owner, await newWiki(owner), zip);
    assert.equal(job.status, 'completed', JSON.stringify(job));
  }

  await owner.post(`/v1/workspaces/${workspace_id}/members/invite`, { email: 'new@example.com', role: 'viewer' });
  await world.anonymous.post('/v1/auth/email', { email: 'new@example.com' });
  await db.query(sql`
    insert into password_guesses (email, address, guesses, locked_until) values ('new@example.com', '*', 30, now())`);
  await world.anonymous.post('/v1/auth/password', { email: 'new@example.com', password: 'a wrong guess' });

  const mover = await signedInClient(world, (await world.owner()).user_id);
  const asked = await mover.post('/v1/me/email-change', { email: 'moved@example.com' });
  assert.equal(asked.status, 200, JSON.stringify(asked.body));

  // In a workspace of its own: an unpaid workspace is read-only.
  await failToPay(await world.owner());

  // Make each scheduled job due.
  const { body: trashed } = await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Gone', markdown: 'x' });
  await owner.send('DELETE', `/v1/wikis/${wiki_id}/pages/${trashed.page_id}`);
  await announce(owner, wiki_id, { 'late.md': Buffer.from('late') });
  const deleted = await newWiki(owner);
  assert.equal((await imported(owner, deleted, folder)).status, 'completed');
  const cancelled = await newWiki(owner);
  const { job_id } = await imported(owner, cancelled, folder);
  const staged = () => db.query(sql`select import_id from staged_imports`);
  await until('no import has staged rows', staged, ({ length }) => length === 0);
  await db.query(sql`insert into staged_imports (wiki_id, import_id) values (${cancelled}, ${job_id})`);
  await owner.send('DELETE', `/v1/wikis/${deleted}`);
  await owner.send('DELETE', `/v1/workspaces/${workspace_id}/deleted-wikis/${deleted}`);
  await db.query(sql`update pages set trashed_at = now() - interval '1 year' where trashed_at is not null`);
  await db.query(sql`
    update workspaces set revision_days = 30, audit_days = 90, retention_changed_at = now() - interval '1 year'
    where workspace_id = ${workspace_id}`);
  await db.query(sql`update uploads set updated_at = now() - interval '1 year' where status = 'uploading'`);
  await db.query(sql`update exports set expires_at = now()`);
  await db.query(sql`update blobs set kept_at = now() - interval '1 year'`);
  const indexed = () => db.query(sql`select from search_wikis where wiki_id = ${wiki_id}`);
  await until('the wiki is indexed', indexed, ({ length }) => length === 2);
  await db.query(sql`update search_wikis set is_stale = true`);
  await db.query(sql`select merge_usage(1000000)`);
  await db.query(sql`update migrations set applied_at = now() - interval '1 year'`);
  await db.query(sql`update revisions set created_at = now() - interval '1 day' where wiki_id = ${wiki_id}`);
  await db.query(sql`update workspace_usage set counted_at = now() - interval '1 year'`);
  for (const job of JOBS) if (!isRecordJob(job) && job.every !== undefined) await runScheduled(world, job);
  const jobs = () => owner.get(`/v1/wikis/${wiki_id}/jobs`).then(({ body }) => body);
  const reindexed = await until('the index is computed again', jobs, (seen) =>
    seen.some(({ kind }: { kind: string }) => kind === 'reindex'),
  );
  await ended(owner, wiki_id, reindexed.find(({ kind }: { kind: string }) => kind === 'reindex').job_id);
  const names = () =>
    db.query<{ name: string }>(sql`
      select name from jobs_run union select kind from jobs where status = 'completed' order by 1`);
  const missing = async () => {
    const run = (await names()).map(({ name }) => name);
    return JOBS.map(({ name }) => name).filter((name) => !run.includes(name));
  };
  await until('every job has been run', missing, ({ length }) => length === 0);

  const { writtenByJobs } = await shards.take();
  assert.deepEqual(writtenByJobs, [], 'tables of all shards, which jobs of a workspace or a wiki wrote');
  const keys = await db.query(sql`select from keys_of_jobs where workspace_id = ${workspace_id}`);
  assert.ok(keys.length > 0, 'jobs were run without a key');

  assert.deepEqual(faults, [], 'called while a transaction was open, which waited for it');
  const services = [...calls].map((name) => name.split('.')[0]);
  assert.deepEqual(
    [...new Set(services)].sort(),
    ['blobs', 'mail', 'payments', 'reader', 'sandbox'],
    'each service was called',
  );
});
