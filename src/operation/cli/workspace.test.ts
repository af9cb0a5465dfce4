import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type RunPlan, rowsRead } from '../../../test/plans.ts';
import { freePort, makeFolder } from '../../../test/process.ts';
import { counted, usageBy } from '../../../test/quotas.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { until } from '../../../test/until.ts';
import { type Client, makeDatabase, type Owner, openWorld, waitForUpload } from '../../../test/world.ts';
import type { AuditEvent } from '../../organization/audit/schema.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import type { Job } from '../../platform/jobs/schema.ts';
import { readConfig } from '../config.ts';
import { runPlanCommand } from './plan.ts';
import { runWorkspaceCommand } from './workspace.ts';

const METRICS_PORT = String(await freePort());
const place = { DATABASE_URL: await makeDatabase(), DATA_DIR: join(await makeFolder(), 'data') };
const world = await openWorld({ ...place, METRICS_PORT, PASSWORD_SIGN_IN: 'on' });
const { db } = world;

async function ibid(...args: string[]): Promise<string[]> {
  const lines: string[] = [];
  await runWorkspaceCommand(readConfig(place), args, (line) => lines.push(line));
  return lines;
}

async function slugOf({ workspace_id }: Owner): Promise<string> {
  const [row] = await db.query<{ slug: string }>(sql`select slug from workspaces where workspace_id = ${workspace_id}`);
  return row?.slug ?? '';
}

/** Audit records of commands, the newest first. */
async function recorded(owner: Owner) {
  const { body } = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events`);
  const events = body as AuditEvent[];
  return events
    .filter(({ credential_kind, type }) => credential_kind === 'command' && type !== 'api_key.created')
    .reverse();
}

test('list shows the workspaces that store the most, as does /metrics', async () => {
  const [small, large] = [await world.owner(), await world.owner()];
  await large.post(`/v1/wikis/${large.wiki_id}/pages`, { title: 'Large', markdown: 'x'.repeat(100_000) });
  const [head, first, ...rest] = await ibid('list', '--top', '1');
  assert.match(head ?? '', /^workspace +bytes +pages +jobs +slug$/);
  assert.match(first ?? '', new RegExp(`^${large.workspace_id} +195\\.\\d KiB +1 +0  ${await slugOf(large)}$`));
  assert.deepEqual(rest, []);
  assert.ok((await ibid('list')).some((line) => line.startsWith(small.workspace_id)));

  const metrics = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
  const { bytes } = await usageBy(large, large.workspace_id);
  assert.match(
    metrics,
    new RegExp(`ibid_workspace_usage{workspace_id="${large.workspace_id}",name="bytes"} ${bytes}\n`),
  );
  const [wikis] = await db.query<{ count: number }>(sql`select count(*)::int as count from wikis`);
  assert.match(metrics, new RegExp(`ibid_usage{name="wikis"} ${wikis?.count}\n`));
});

test('limits shows and sets limits of one workspace, which take precedence over its plan', async () => {
  const owner = await world.owner();
  const slug = await slugOf(owner);
  const before = await ibid('limits', slug);
  assert.deepEqual(before.slice(1, 2), ['pages                   0 of 1,000,000']);
  const after = await ibid('limits', slug, '--pages', '1', '--bytes', '2GB', '--wikis', 'unlimited');
  assert.deepEqual(
    after.filter((line) => line.includes('its own')),
    [
      'bytes             0 bytes of 1.9 GiB (its own limit)',
      'pages                   0 of 1 (its own limit)',
      'wikis                   1 of unlimited (its own limit)',
    ],
  );
  const page = (title: string) => owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title, markdown: 'x' });
  assert.deepEqual([(await page('A')).status, (await page('B')).body.error], [201, 'quota_exceeded']);
  await ibid('limits', owner.workspace_id, '--pages', 'plan');
  assert.equal((await page('B')).status, 201);
  const [back, set] = await recorded(owner);
  assert.deepEqual(
    [set?.type, set?.changes.before, set?.changes.after],
    ['workspace.limits_changed', { limits: {} }, { limits: { bytes: 2e9, pages: 1, wikis: null } }],
  );
  assert.deepEqual(back?.changes.after, { limits: { bytes: 2e9, wikis: null } });
});

test('an invalid command changes nothing and suggests a correction', async () => {
  const owner = await world.owner();
  const wrong: [string[], RegExp][] = [
    [['grow'], /unknown command "workspace grow"[\s\S]*ibid workspace list/],
    [['limits', 'nowhere'], /no workspace "nowhere"/],
    [['pause'], /give a workspace/],
    [
      ['limits', owner.workspace_id, '--pages', '1GB'],
      /--pages is "1GB"; it must be a whole number, or unlimited, or plan/,
    ],
    [['limits', owner.workspace_id, '--bytes', '-1'], /bytes/],
    [['limits', owner.workspace_id, '--colour', 'red'], /--colour/],
    [['share', owner.workspace_id, '0'], /from 1 to 100/],
    [['list', '--top', 'all'], /from 1 to/],
  ];
  for (const [args, sentence] of wrong) await assert.rejects(ibid(...args), sentence);
  assert.deepEqual(
    (await recorded(owner)).map(({ type }) => type).filter((type) => type !== 'workspace.created'),
    [],
  );
});

async function upload(client: Client, wiki_id: string): Promise<string> {
  const form = new FormData();
  form.append('files', new Blob(['# Page\n']), 'page.md');
  const { status, body } = await client.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
  assert.equal(status, 201, JSON.stringify(body));
  return body.upload_id;
}

test('jobs of a paused workspace wait, while its requests and the jobs of other workspaces continue', async () => {
  const [paused, other] = [await world.owner(), await world.owner()];
  await ibid('pause', paused.workspace_id);
  const waiting = await upload(paused, paused.wiki_id);
  await waitForUpload(other, other.wiki_id, await upload(other, other.wiki_id));
  const page = { title: 'Written', markdown: 'while paused' };
  assert.equal((await paused.post(`/v1/wikis/${paused.wiki_id}/pages`, page)).status, 201);
  const jobs = async (): Promise<Job[]> => (await paused.get(`/v1/wikis/${paused.wiki_id}/jobs`)).body;
  assert.deepEqual(
    (await jobs()).map(({ status, attempt }) => [status, attempt]),
    [['queued', 0]],
  );
  assert.match((await ibid('list')).join('\n'), /\(paused\)/);
  await ibid('resume', paused.workspace_id);
  assert.equal((await waitForUpload(paused, paused.wiki_id, waiting)).body.status, 'completed');
  assert.deepEqual(
    (await recorded(paused)).slice(0, 2).map(({ type, changes }) => [type, changes.after]),
    [
      ['workspace.jobs_resumed', { jobs_are_paused: false }],
      ['workspace.jobs_paused', { jobs_are_paused: true }],
    ],
  );
});

test('a workspace with a larger share runs more jobs before others take precedence', async () => {
  const [first, second] = [await world.owner(), await world.owner()];
  await ibid('share', second.workspace_id, '3');
  const claimable = async (onlyIdle: boolean) => {
    const rows = await db.transaction(async (query) => {
      await query(sql`select set_config('ibid.service', 'on', true)`);
      return query<{ wiki_id: string }>(sql`select wiki_id from jobs_to_claim(array['compile'], ${onlyIdle})`);
    });
    return rows.map(({ wiki_id }) => [first, second].findIndex(({ workspace_id }) => wiki_id.startsWith(workspace_id)));
  };
  // Jobs of a kind without a worker: one job of each workspace waits, and some run.
  const add = (owner: Owner, running: number) =>
    db.query(sql`
      with wiki as (
        insert into wikis (wiki_id, workspace_id, slug, title, created_by)
        select ${owner.workspace_id} || n, ${owner.workspace_id}, 'w' || n, 'W', ${owner.user_id} from generate_series(0, ${running}::int) n
        returning wiki_id
      )
      insert into jobs (wiki_id, job_id, kind, worker_id, status, started_at)
      select wiki_id, 'job_' || wiki_id, 'compile', 'test', case when right(wiki_id, 1) = '0' then 'queued' else 'running' end,
        case when right(wiki_id, 1) = '0' then null else now() end from wiki`);
  // Live worker, so that real workers do not requeue the running jobs.
  await db.query(sql`insert into workers (worker_id, alive_until) values ('test', now() + interval '1 hour')`);
  await add(first, 1);
  await add(second, 2);
  await until(
    'both wait',
    () => claimable(false),
    (seen) => seen.length === 2,
  );
  assert.deepEqual(await claimable(false), [1, 0], 'two running jobs of a share of three count less than one of one');
  assert.deepEqual(await claimable(true), [1], 'and as none');
  await ibid('share', second.workspace_id, '1');
  assert.deepEqual(await claimable(false), [0, 1]);
  assert.deepEqual(await claimable(true), []);
  await db.query(sql`delete from jobs where kind = 'compile'`);
});

test('claiming a job is one statement that reads only the oldest waiting jobs, by an index', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  // Jobs of a kind without a worker.
  const wait = (wiki_id: string, name: string, count: number) =>
    db.query(sql`
      insert into jobs (wiki_id, job_id, kind)
      select ${wiki_id}, 'job_' || ${name}::text || n, 'compile' from generate_series(1, ${count}::int) n`);
  await db.query(sql`
    insert into jobs (wiki_id, job_id, kind, status, finished_at)
    select ${owner.wiki_id}, 'job_done' || n, 'reindex', 'completed', now() from generate_series(1, 5000) n`);
  const claim = async () => {
    await db.transaction((_, runScript) => runScript('analyze jobs'));
    const { plan, rows } = await planOfClaim();
    assert.match(plan, /"Index Name":"jobs_queued"/, plan);
    assert.doesNotMatch(plan, /"Node Type":"Seq Scan"[^}]*"Relation Name":"jobs"/, plan);
    return rows;
  };
  await wait(owner.wiki_id, 'few', 60);
  const few = await claim();
  assert.ok(few < 200, `${few} rows`);
  await wait(owner.wiki_id, 'many', 900);
  await wait(other.wiki_id, 'last', 1);
  assert.ok((await claim()) <= few + 20);
  // Waiting jobs of a workspace with a running job are skipped, not read.
  await db.query(sql`
    with worker as (insert into workers (worker_id, alive_until) values ('busy', now() + interval '1 hour'))
    update jobs set status = 'running', started_at = now(), worker_id = 'busy' where job_id = 'job_few1' and wiki_id = ${owner.wiki_id}`);
  assert.ok((await claim()) <= few + 20);
  await db.query(sql`delete from jobs where kind = 'compile'`);
  const claims = world.statements.filter((text) => text.includes('from jobs_to_claim'));
  assert.equal(new Set(claims).size, 1);
});

/** Returns the plan of jobs_to_claim for idle workspaces, and the number of job rows it reads. */
async function planOfClaim(): Promise<{ plan: string; rows: number }> {
  const [claim] = await db.query<{ body: string }>(
    sql`select prosrc as body from pg_proc where proname = 'jobs_to_claim'`,
  );
  const text = claim?.body.replaceAll('any_of', '$1').replaceAll('only_idle_workspaces', '$2');
  return db.transaction(async (query, runScript) => {
    await query(sql`select set_config('ibid.service', 'on', true)`);
    await runScript(`prepare claim (text[], boolean) as ${text}`);
    const explain = raw(`explain (analyze, timing off, format json) execute claim(array['compile'], true)`);
    const [row] = await query<{ 'QUERY PLAN': [{ Plan: RunPlan }] }>(explain);
    await runScript('deallocate claim');
    assert.ok(row);
    return { plan: JSON.stringify(row), rows: rowsRead(row['QUERY PLAN'][0].Plan) };
  });
}

test("sign-out ends sessions and widget tokens of one workspace's members, and revokes keys on request", async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  const member = await world.member(owner.workspace_id, 'member');
  const [session, strange] = [await signedInClient(world, member.user_id), await signedInClient(world, other.user_id)];
  const widget = async (client: Client, { workspace_id }: Owner) => {
    const { body } = await client.post(`/v1/workspaces/${workspace_id}/widget-token`, { widget: 'profile' });
    return world.as(body.token);
  };
  const [own, strangers] = [await widget(owner, owner), await widget(other, other)];
  const statuses = async (...clients: [Client, string][]) =>
    Promise.all(clients.map(async ([client, path]) => (await client.get(path)).status));
  const all = () =>
    statuses(
      [session, '/v1/me'],
      [own, '/v1/widgets/profile'],
      [owner, '/v1/me'],
      [strange, '/v1/me'],
      [strangers, '/v1/widgets/profile'],
    );
  assert.deepEqual(await all(), [200, 200, 200, 200, 200]);
  assert.match((await ibid('sign-out', owner.workspace_id)).join(), /1 sessions ended, 0 API keys revoked/);
  assert.deepEqual(await all(), [401, 401, 200, 200, 200]);
  const again = await until(
    'a new widget token',
    () => widget(owner, owner).then((client) => client.get('/v1/widgets/profile')),
    ({ status }) => status === 200,
  );
  assert.equal(again.status, 200);
  const [event] = await recorded(owner);
  assert.deepEqual([event?.type, event?.changes.after], ['workspace.signed_out', { sessions: 1, keys: 0 }]);

  assert.match((await ibid('sign-out', owner.workspace_id, '--keys')).join(), /2 API keys revoked/);
  assert.deepEqual(await all(), [401, 401, 401, 200, 200]);
  const { kept, actual } = await counted(db, owner.workspace_id);
  assert.deepEqual(kept, actual);
});

test('plan sets the plan and seats of a workspace without payment, and the online shop then sells nothing', async () => {
  const owner = await world.owner();
  const slug = await slugOf(owner);
  const plan = async (...args: string[]) => {
    const lines: string[] = [];
    await runPlanCommand(readConfig(place), [slug, ...args], (line) => lines.push(line));
    return lines.join('\n');
  };
  const billing = `/v1/organizations/${owner.workspace_id}/billing`;
  assert.equal(await plan(), `${slug}: no plan`);
  assert.match(
    await plan('team_annual', '--seats', '5', '--until', '2999-12-31'),
    /team_annual, 5 seats, until 2999-12-31, set by the operator/,
  );
  const { body } = await owner.get(billing);
  assert.deepEqual(
    [body.plan_id, body.plan_source, body.paid_online, body.seats.granted],
    ['team_annual', 'operator', false, 5],
  );
  for (const [path, sent] of [
    ['checkout', { plan_id: 'team_annual' }],
    ['portal', {}],
    ['cancel', {}],
    ['resume', {}],
  ] as const) {
    const refused = await owner.post(`${billing}/${path}`, sent);
    assert.deepEqual([refused.status, refused.body.error], [409, 'billing_by_operator'], path);
  }
  const change = await owner.post(`${billing}/change`, { plan_id: 'business_annual', preview_hash: 'x' });
  assert.equal(change.body.error, 'billing_by_operator');
  assert.deepEqual((await owner.get(`${billing}/invoices`)).body, []);
  assert.equal((await world.anonymous.post('/v1/webhooks/stripe', {})).status, 404);
  await assert.rejects(plan('gold'), /unknown plan "gold"; the plans are free/);
  await assert.rejects(plan('free', '--until', '2001-01-01'), /a future date/);
  await assert.rejects(plan('free', '--seats', '0'), /--seats must be a whole number/);
  assert.equal(await plan('none'), `${slug}: no plan`);
  const members = await owner.get(`/v1/workspaces/${owner.workspace_id}/members`);
  assert.equal(members.body.seats.unlimited, true);
  await db.query(sql`
    insert into subscriptions (workspace_id, plan_id, quantity, subscription_id, period_start, period_end)
    values (${owner.workspace_id}, 'team_annual', 1, 'sub_1', now(), now() + interval '1 year')`);
  await assert.rejects(plan('none'), /end it at the payment provider first/);
});
