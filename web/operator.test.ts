import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutQuotations } from '../src/operation/operator/failed-jobs.ts';
import { VERSION } from '../src/operation/service/version.ts';
import type { AuditEvent } from '../src/organization/audit/schema.ts';
import { newId } from '../src/platform/core/ids.ts';
import { sql } from '../src/platform/db/sql.ts';
import { signedInClient } from '../test/signed-in.ts';
import { type Answer, openWorld } from '../test/world.ts';

const world = await openWorld({ OPERATORS: 'ops@example.com, Second@Example.com' });
const PAGE = '/-/admin';

/** A browser of a user, without scripts. */
async function browserOf(user_id: string) {
  const { body } = await (await signedInClient(world, user_id)).post('/v1/auth/browser');
  const headers = { accept: 'text/html', cookie: `ibid=${body.browser_secret}` };
  const visit = (path: string, init: RequestInit): Promise<Answer> =>
    world.anonymous.send(init.method ?? 'GET', path, { redirect: 'manual', ...init });
  return {
    open: (path: string) => visit(path, { headers }),
    submit: (path: string, fields: Record<string, string>, from = 'same-origin') =>
      visit(path, {
        method: 'POST',
        headers: { ...headers, 'sec-fetch-site': from },
        body: new URLSearchParams(fields),
      }),
  };
}

const operator = await world.person('ops@example.com');
const console = await browserOf(operator.user_id);
const owner = await world.owner('owner@example.com');
const ofWorkspace = `${PAGE}/workspaces/${owner.workspace_id}`;

/** Creates a failed job whose error quotes a text of its tenant. */
async function failedJob(): Promise<string> {
  const job_id = newId('job');
  await world.db.query(sql`
    insert into background_jobs (job_id, name, lane, key, workspace_id, input, status, error)
    values (${job_id}, 'prune-idempotency-keys', 'maintenance', ${job_id}, ${owner.workspace_id}, '{}', 'failed',
      'Unexpected token, "A secret text" of anna@example.com is not valid')`);
  return job_id;
}

async function statusOf(job_id: string): Promise<string | undefined> {
  const [row] = await world.db.query<{ status: string }>(sql`
    select status from background_jobs where job_id = ${job_id}`);
  return row?.status;
}

/** Returns the actions of operators, latest first. */
async function recorded(): Promise<AuditEvent[]> {
  const { body } = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events?order=newest`);
  return (body as AuditEvent[]).filter(({ credential_kind }) => credential_kind === 'operator');
}

test('users who are not operators, or have not verified their address, see the same as for a missing page', async () => {
  const job_id = await failedJob();
  const unverified = await world.person('second@example.com');
  await world.db.query(sql`update users set email_verified = false where user_id = ${unverified.user_id}`);
  for (const { user_id } of [owner, unverified]) {
    const browser = await browserOf(user_id);
    for (const path of [PAGE, ofWorkspace, `${PAGE}/workspaces/nowhere`]) {
      const [refused, nothing] = [await browser.open(path), await browser.open(path.replace('admin', 'nothing'))];
      const withoutIds = ({ body }: Answer) =>
        String(body)
          .replace(/req_\w+/g, '')
          .replaceAll('nothing', 'admin');
      assert.deepEqual([refused.status, withoutIds(refused)], [404, withoutIds(nothing)], path);
    }
    assert.equal((await browser.submit(PAGE, { do: 'retry', job_id })).status, 404);
    assert.equal((await browser.submit(ofWorkspace, { do: 'pause' })).status, 404);
  }
  const anonymous = await world.anonymous.send('GET', PAGE, { headers: { accept: 'text/html' }, redirect: 'manual' });
  assert.deepEqual([anonymous.status, anonymous.headers.get('location')], [303, '/sign-in?next=%2F-%2Fadmin']);
  assert.equal((await operator.get(PAGE)).status, 404, 'a key is not a session, and asks for no page');
  const byKey = await operator.send('GET', PAGE, { headers: { accept: 'text/html' }, redirect: 'manual' });
  assert.equal(byKey.status, 303, 'nor does it open the page');
  assert.deepEqual([await statusOf(job_id), await recorded()], ['failed', []], 'nothing was done');
});

test('the page shows the health of the service, and no text of a tenant', async () => {
  const job_id = await failedJob();
  const texts = ['A secret title', 'A secret text', 'A secret workspace'];
  await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: texts[0], markdown: texts[1] });
  await owner.patch(`/v1/workspaces/${owner.workspace_id}`, { name: texts[2] });
  for (const path of [PAGE, ofWorkspace]) {
    const { status, body } = await console.open(path);
    assert.equal(status, 200, body);
    for (const text of [...texts, 'anna@example.com', 'owner@example.com'])
      assert.ok(!body.includes(text), `${path} shows ${text}`);
  }
  const { body } = await console.open(PAGE);
  for (const shown of [
    job_id,
    VERSION,
    'Unexpected token, …',
    'PostgreSQL',
    'the schema matches this version',
    ofWorkspace,
  ])
    assert.ok(body.includes(shown), shown);
  assert.equal(withoutQuotations("it didn't answer"), "it didn't answer");
  assert.equal(withoutQuotations('550 no user <a@b.example>'), '550 no user …');
  assert.equal(withoutQuotations('to a@b.example: 550'), 'to … 550');
});

test('a failed job is retried from there, once, and only from our own page', async () => {
  const job_id = await failedJob();
  assert.equal((await console.submit(PAGE, { do: 'retry', job_id }, 'cross-site')).status, 403);
  assert.equal(await statusOf(job_id), 'failed');
  const [first, second] = await Promise.all([1, 2].map(() => console.submit(PAGE, { do: 'retry', job_id })));
  assert.deepEqual([first?.status, second?.status].toSorted(), [303, 404], 'two at once run it once');
  assert.notEqual(await statusOf(job_id), 'failed');
  const [event, ...others] = (await recorded()).filter(({ target_id }) => target_id === job_id);
  assert.deepEqual(
    [event?.type, event?.actor_id, event?.address, others.length],
    ['job.retried', operator.user_id, '', 0],
  );
});

test('limits, jobs, share and sessions of a workspace are changed there, each with an audit record', async () => {
  assert.equal((await console.open(`${PAGE}?workspace=${owner.workspace_id}`)).body.includes(ofWorkspace), true);
  for (const named of ['nowhere', '%00', '%ff'])
    assert.match((await console.open(`${PAGE}?workspace=${named}`)).body, /No workspace has this slug or ID/, named);
  assert.equal((await console.open(`${PAGE}/workspaces/%00`)).status, 404);
  assert.equal((await console.submit(PAGE, { do: 'retry', job_id: '\0' })).status, 404);
  const wrong = await console.submit(ofWorkspace, { do: 'limits', pages: 'many' });
  assert.deepEqual([wrong.status, /“Pages” takes a whole number/.test(wrong.body)], [422, true]);
  assert.equal((await console.submit(ofWorkspace, { do: 'share', job_share: '101' })).status, 422);
  assert.equal((await console.submit(`${PAGE}/workspaces/nowhere`, { do: 'pause' })).status, 404);
  const done = [
    [{ do: 'limits', bytes: '2GB', pages: '', wikis: 'unlimited' }, 'limits'],
    [{ do: 'limits', bytes: '2000000000', wikis: 'unlimited' }, 'same'],
    [{ do: 'limits', bytes: '' }, 'limits'],
    [{ do: 'pause' }, 'paused'],
    [{ do: 'resume' }, 'resumed'],
    [{ do: 'share', job_share: '3' }, 'share'],
    [{ do: 'sign-out', keys: 'yes' }, 'revoked'],
  ] as const;
  const other = await world.workspaceKey('owner@example.com', owner.workspace_id);
  const before = (await recorded()).length;
  for (const [fields, flash] of done) {
    const { status, headers } = await console.submit(ofWorkspace, fields);
    assert.deepEqual([status, headers.get('location')], [303, `${ofWorkspace}?flash=${flash}`]);
    if (fields.do !== 'sign-out') continue;
    assert.equal((await other.get('/v1/me')).status, 401, 'the keys are revoked');
  }
  const rows = await world.db.query<{ type: string; after: object }>(sql`
    select type, after from audit_events where credential_kind = 'operator' and workspace_id = ${owner.workspace_id}
    order by event_id offset ${before}`);
  assert.deepEqual(
    rows.map(({ type, after }) => [type, after]),
    [
      ['workspace.limits_changed', { limits: { bytes: 2e9, wikis: null } }],
      ['workspace.limits_changed', { limits: { wikis: null } }],
      ['workspace.jobs_paused', { jobs_are_paused: true }],
      ['workspace.jobs_resumed', { jobs_are_paused: false }],
      ['workspace.job_share_changed', { job_share: 3 }],
      ['workspace.signed_out', rows.at(-1)?.after],
    ],
  );
});
