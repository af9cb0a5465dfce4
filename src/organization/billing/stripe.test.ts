import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { cleanUp } from '../../../test/clean-up.ts';
import { startMailServer } from '../../../test/mail-server.ts';
import { STRIPE_KEY, startStripeServer, WEBHOOK_SECRET } from '../../../test/stripe/server.ts';
import { until } from '../../../test/until.ts';
import { type Answer, type Client, type Owner, openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';
import { changeInProgress } from './claim-change.ts';
import { loadPlans } from './plans.ts';

const DAY = 86_400;
const stripe = await startStripeServer();
const mail = await startMailServer();
cleanUp(() => Promise.all([stripe.stop(), mail.stop()]));
const { account, webhooks } = stripe;
const team = account.addPrice({ lookup_key: 'team_monthly', currency: 'usd', unit_amount: 800, interval: 'month' });
account.addPrice({ lookup_key: 'business_monthly', currency: 'usd', unit_amount: 1500, interval: 'month' });
account.addPrice({ lookup_key: 'business_annual', currency: 'usd', unit_amount: 15_000, interval: 'year' });

/** A catalogue with two more plans: the first in another currency, the second too expensive for several seats. */
const folder = await mkdtemp(join(tmpdir(), 'ibid-plans-'));
cleanUp(() => rm(folder, { recursive: true }));
const PLANS_FILE = join(folder, 'plans.json');
const plans = loadPlans(undefined);
const monthly = plans.find(({ plan_id }) => plan_id === 'team_monthly');
const more = [
  { ...monthly, plan_id: 'team_eur', currency: 'eur' },
  { ...monthly, plan_id: 'dear_monthly', unit_amount: 60_000_000 },
];
await writeFile(PLANS_FILE, JSON.stringify({ plans: [...plans, ...more] }));
account.addPrice({ lookup_key: 'team_eur', currency: 'eur', unit_amount: 800, interval: 'month' });
account.addPrice({ lookup_key: 'dear_monthly', currency: 'usd', unit_amount: 60_000_000, interval: 'month' });

const logged: any[] = [];
const log = pino({ level: 'error' }, { write: (line: string) => logged.push(JSON.parse(line)) });
const world = await openWorld(
  {
    PLANS_FILE,
    STRIPE_SECRET_KEY: STRIPE_KEY,
    STRIPE_WEBHOOK_SECRETS: `whsec_other, ${WEBHOOK_SECRET}`,
    STRIPE_API_URL: stripe.url,
    STRIPE_AUTOMATIC_TAX: 'on',
    SMTP_URL: mail.url,
  },
  { log },
);
stripe.sendEventsTo(world.address);

const at = ({ workspace_id }: Owner) => `/v1/organizations/${workspace_id}/billing`;

async function customerOf({ workspace_id }: Owner) {
  const [row] = await world.db.query<{ customer_id: string }>(sql`
    select customer_id from billing_customers where workspace_id = ${workspace_id}`);
  return account.customer(row?.customer_id ?? '');
}

/** Returns the billing state once the service has caught up with Stripe. */
async function settled(owner: Owner, wanted: object) {
  return until(
    `the billing of ${owner.workspace_id} is ${JSON.stringify(wanted)}`,
    async () => (await owner.get(at(owner))).body,
    (body) => Object.entries(wanted).every(([name, value]) => body[name] === value),
  );
}

async function checkout(owner: Owner, plan_id = 'team_monthly'): Promise<string> {
  const { status, body } = await owner.post(`${at(owner)}/checkout`, { plan_id });
  assert.equal(status, 200, JSON.stringify(body));
  return body.url.split('/').at(-1);
}

async function subscribed(email?: string): Promise<Owner> {
  const owner = await world.owner(email);
  account.complete(await checkout(owner));
  await settled(owner, { plan_id: 'team_monthly', status: 'active' });
  return owner;
}

async function preview(owner: Client & Owner, plan_id: string) {
  const { status, body, headers } = await owner.post(`${at(owner)}/preview`, { plan_id });
  assert.equal(status, 200, JSON.stringify(body));
  return { preview: body, preview_hash: headers.get('preview-hash') ?? '' };
}

test('a new workspace has the free seats; a paid checkout gives it the seats of its plan, and the first invoice equals the preview', async () => {
  const owner = await world.owner();
  const { body } = await owner.get(`/v1/workspaces/${owner.workspace_id}/members`);
  assert.deepEqual([body.seats.granted, body.seats.unlimited], [3, false]);
  await world.member(owner.workspace_id, 'member');
  const { preview: shown } = await preview(owner, 'team_monthly');
  assert.deepEqual([shown.checkout_type, shown.total, shown.redirect_to_checkout], ['subscription', 16, true]);
  const session = await checkout(owner);
  await settled(owner, { status: 'none', checkout_pending: true });
  account.complete(session);
  const billing = await settled(owner, {
    status: 'active',
    plan_id: 'team_monthly',
    quantity: 2,
    checkout_pending: false,
  });
  assert.deepEqual([billing.plan_source, billing.seats.granted, billing.amount_due], ['provider', 2, 0]);
  const invoices = await owner.get(`${at(owner)}/invoices`);
  assert.deepEqual(
    invoices.body.map(({ status, total }: any) => [status, total]),
    [['paid', 16]],
  );
  assert.match((await owner.post(`${at(owner)}/portal`)).body.url, /\/portal\/cus_/);
  const audited = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events`);
  const types = new Set(audited.body.map(({ type }: any) => type));
  for (const type of ['checkout_started', 'payment_event_received', 'subscription_changed', 'billing_portal_opened']) {
    assert.ok(types.has(`workspace.${type}`), type);
  }
  assert.equal(
    (await owner.post(`${at(owner)}/checkout`, { plan_id: 'team_monthly' })).body.error,
    'already_subscribed',
  );
});

/** Changes the plan, retrying while the service syncs an earlier event. */
function change(owner: Owner, body: { plan_id: string; preview_hash: string }): Promise<Answer> {
  return until('no other change of the subscription', async () => {
    const answer = await owner.post(`${at(owner)}/change`, body);
    return answer.body.message === changeInProgress().message ? undefined : answer;
  });
}

test('a change charges the previewed amount, including taxes, credits and prorations', async () => {
  const owner = await subscribed();
  const customer = await customerOf(owner);
  Object.assign(customer, { tax_percent: 19, balance: -300 });
  account.age(customer.id, 10 * DAY);
  const seen = await preview(owner, 'business_monthly');
  const before = account.charged.get(customer.id) ?? 0;
  const wrong = await change(owner, { plan_id: 'business_monthly', preview_hash: 'other' });
  assert.deepEqual([wrong.status, wrong.body.error], [409, 'preview_changed']);
  assert.equal(account.charged.get(customer.id), before, 'nothing was charged');
  const { status, body } = await change(owner, {
    plan_id: 'business_monthly',
    preview_hash: seen.preview_hash,
  });
  assert.deepEqual([status, body], [200, seen.preview]);
  assert.equal((account.charged.get(customer.id) ?? 0) - before, Math.round(seen.preview.total * 100));
  assert.equal(seen.preview.line_items.at(-1).name, 'Account balance');
  const sum = seen.preview.line_items.reduce((total: number, line: any) => total + Math.round(line.total * 100), 0);
  assert.equal(sum, Math.round(seen.preview.total * 100), 'the lines are the total');
  await settled(owner, { plan_id: 'business_monthly' });
  const again = await change(owner, {
    plan_id: 'business_monthly',
    preview_hash: seen.preview_hash,
  });
  assert.deepEqual([again.status, again.body.error], [409, 'conflict']);
});

test('credit is deducted from the amount due, and the preview shows it', async () => {
  const owner = await subscribed();
  const customer = await customerOf(owner);
  const dearer = await preview(owner, 'business_monthly');
  await change(owner, { plan_id: 'business_monthly', preview_hash: dearer.preview_hash });
  await settled(owner, { plan_id: 'business_monthly' });
  for (const balance of [2_000, 300]) {
    customer.balance = balance;
    const plan_id = balance === 2_000 ? 'team_monthly' : 'business_monthly';
    const before = account.charged.get(customer.id) ?? 0;
    const { preview: seen, preview_hash } = await preview(owner, plan_id);
    assert.equal((await change(owner, { plan_id, preview_hash })).status, 200);
    assert.equal((account.charged.get(customer.id) ?? 0) - before, Math.round(seen.total * 100));
    assert.ok(seen.total > 0, 'what is owed is more than the credit');
    await settled(owner, { plan_id });
  }
});

test('only one of several concurrent changes is charged, and a declined change has no effect', async () => {
  const owner = await subscribed();
  const customer = await customerOf(owner);
  const { preview_hash } = await preview(owner, 'business_annual');
  const send = () => owner.post(`${at(owner)}/change`, { plan_id: 'business_annual', preview_hash });
  customer.declines = true;
  const declined = await send();
  assert.deepEqual([declined.status, declined.body.error], [402, 'payment_declined']);
  customer.declines = false;
  await until('the refused change is over', async () => {
    const answers = await Promise.all([send(), send(), send()]);
    const statuses = answers.map(({ status }) => status);
    return statuses.filter((status) => status === 200).length;
  });
  await settled(owner, { plan_id: 'business_annual' });
  assert.equal(account.invoicesOf(customer.id).length, 2);
});

test('joining and leaving members change the paid seats, and no request is charged twice', async () => {
  const owner = await subscribed();
  const customer = await customerOf(owner);
  const invite = await owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, {
    email: 'grace@example.org',
    role: 'member',
  });
  assert.equal(invite.status, 200, 'overage is allowed');
  const token = /token=([\w-]+)/.exec(
    (await mail.sentTo('grace@example.org')).raw.replaceAll(/=\r\n/g, '').replaceAll('=3D', '='),
  )?.[1];
  stripe.setFaults((method, path) => (method === 'POST' && path.startsWith('/v1/subscriptions/') ? 'lost' : undefined));
  assert.equal((await (await world.person('grace@example.org')).post('/v1/invitations/accept', { token })).status, 200);
  await until('Stripe has two seats', () => account.subscriptionsOf(customer.id)[0]?.quantity === 2);
  stripe.setFaults(() => undefined);
  await settled(owner, { quantity: 2 });
  const { body } = await owner.get(`/v1/workspaces/${owner.workspace_id}/members`);
  const member = body.members.find((it: any) => it.email === 'grace@example.org');
  await owner.post(`/v1/workspaces/${owner.workspace_id}/members/${member.membership_id}/deactivate`);
  await settled(owner, { quantity: 1 });
  await owner.post(`/v1/workspaces/${owner.workspace_id}/members/${member.membership_id}/reactivate`);
  await settled(owner, { quantity: 2 });
  const waiting = [...account.pending.values()].flat().reduce((total, line) => total + line.amount, 0);
  assert.ok(Math.abs(waiting - 800) <= 1, `one more seat for the whole period costs 800, not ${waiting}`);
});

test('after a failed payment the workspace works until the end of its grace period, then is read-only until paid', async () => {
  const address = 'payer@example.org';
  const owner = await subscribed(address);
  const customer = await customerOf(owner);
  customer.declines = true;
  account.age(customer.id, 31 * DAY);
  const failed = await settled(owner, { status: 'past_due' });
  assert.ok(failed.amount_due > 0 && failed.writes_end_at > new Date().toISOString());
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  assert.equal((await owner.post(`${wiki}/pages`, { title: 'In the grace', markdown: 'Text.' })).status, 201);
  const invoice = account.invoicesOf(customer.id)[0];
  assert.ok(invoice);
  account.age(customer.id, 20 * DAY);
  await webhooks.send(webhooks.events.at(-1) as any);
  webhooks.add('invoice.updated', owner.workspace_id, (id) => ({
    ...JSON.parse(webhooks.events.at(-1)?.body ?? ''),
    id,
  }));
  await settled(owner, { status: 'read_only' });
  const refused = await owner.post(`${wiki}/pages`, { title: 'After the grace', markdown: 'Text.' });
  assert.deepEqual([refused.status, refused.body.error], [402, 'payment_required']);
  const form = new FormData();
  form.append('files', new Blob(['# A']), 'a.md');
  assert.equal((await owner.send('POST', `${wiki}/uploads`, { body: form })).status, 402);
  assert.equal(
    (
      await owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, {
        email: 'x@example.org',
        role: 'member',
      })
    ).status,
    402,
  );
  assert.equal((await owner.get(`${wiki}/pages`)).body.length, 1);
  assert.equal((await owner.post(`${wiki}/exports`)).status, 201);
  customer.declines = false;
  for (const { id, status } of account.invoicesOf(customer.id)) if (status === 'open') account.pay(id);
  await settled(owner, { status: 'active' });
  assert.equal((await owner.post(`${wiki}/pages`, { title: 'Paid', markdown: 'Text.' })).status, 201);
  await mail.sentTo(address, 3);
  const subjects = mail.messages
    .filter(({ recipients }) => recipients.includes(address))
    .map(({ raw }) => /Subject: (.*)/.exec(raw)?.[1]);
  assert.match(subjects.join(' '), /failed.*now_read-only.*received/);
});

test('a cancelled subscription runs until its period ends, can be resumed, and falls back to the free plan', async () => {
  const owner = await subscribed();
  const customer = await customerOf(owner);
  assert.equal((await owner.post(`${at(owner)}/cancel`)).body.cancel_at_period_end, true);
  assert.equal((await owner.post(`${at(owner)}/resume`)).body.cancel_at_period_end, false);
  assert.equal((await owner.post(`${at(owner)}/cancel`)).status, 200);
  account.age(customer.id, 32 * DAY);
  const { seats } = await settled(owner, { status: 'none', plan_id: '' });
  assert.deepEqual([seats.granted, seats.unlimited], [3, false]);
});

test('lost, repeated, late and foreign events do no harm, and invalid ones are refused with the remedy', async () => {
  webhooks.hold(true);
  const owner = await world.owner();
  const first = account.complete(await checkout(owner));
  const events = webhooks.take();
  await world.db.query(
    sql`update billing_customers set synced_at = now() - interval '2 days' where workspace_id = ${owner.workspace_id}`,
  );
  webhooks.hold(false);
  const created = events[0];
  assert.ok(created);
  for (const event of [...events].reverse()) assert.equal((await webhooks.send(event)).status, 200);
  assert.equal((await webhooks.send(created)).status, 200);
  await settled(owner, { status: 'active' });
  const [stored] = await world.db.query<{ count: number }>(
    sql`select count(*)::int as count from payment_events where event_id = ${created.id}`,
  );
  assert.equal(stored?.count, 1);
  const now = Math.floor(Date.now() / 1000);
  const changed = (fields: object) => ({
    ...created,
    body: JSON.stringify({ ...JSON.parse(created.body), id: 'evt_wrong', ...fields }),
  });
  const unread = (body: string) => ({ ...created, body });
  const refusals: [Promise<{ status: number; body: any }>, string][] = [
    [webhooks.send(changed({}), { secret: 'whsec_wrong' }), 'invalid_signature'],
    [webhooks.send(changed({}), { timestamp: now - 400 }), 'invalid_signature'],
    [webhooks.send(changed({}), { timestamp: now + 400 }), 'invalid_signature'],
    [webhooks.send(changed({ account: 'acct_1' })), 'foreign_event'],
    [webhooks.send(changed({ livemode: true })), 'foreign_event'],
    ...['{}', '[]', 'null', '"text"', '{"id": "evt_wrong"']
      .map(unread)
      .map((event) => [webhooks.send(event), 'invalid_request'] as [Promise<any>, string]),
    ...[{ data: {} }, { data: { object: null } }, { id: 5 }, { type: null }, { created: 'now' }, { created: 1e300 }]
      .map(changed)
      .map((event) => [webhooks.send(event), 'invalid_request'] as [Promise<any>, string]),
  ];
  for (const [answer, error] of refusals) {
    const { status, body } = await answer;
    assert.deepEqual([status, body.error], [400, error], JSON.stringify(body));
    assert.match(body.message, /\. (Check|Send) .*\.$/, 'it says what to do');
  }
  // Another service at the same account has its own customers.
  const object = { ...JSON.parse(created.body).data.object, customer: 'cus_of_another_service' };
  for (const ignored of [changed({ data: { object } }), changed({ data: { object: {} } })]) {
    assert.deepEqual(await webhooks.send(ignored), { status: 200, body: { received: true } });
  }
  assert.deepEqual(
    await world.db.query(sql`select event_id from payment_events where event_id = 'evt_wrong'`),
    [],
    'nothing of what was refused or is of others is stored',
  );
  const unsigned = await world.anonymous.post('/v1/webhooks/stripe', { id: 'evt_1' });
  assert.deepEqual([unsigned.status, unsigned.body.error], [400, 'invalid_signature']);
  assert.equal(first.status, 'active');
});

test('if two checkouts of a workspace are paid, one is refunded', async () => {
  const owner = await world.owner();
  const session = account.session(await checkout(owner));
  const second = account.session(await checkout(owner, 'business_monthly'));
  assert.equal(session.status, 'expired', 'a second checkout ends the first');
  session.status = 'open';
  account.complete(session.id);
  account.complete(second.id);
  const customer = await customerOf(owner);
  await until(
    'one subscription is left',
    () => account.subscriptionsOf(customer.id).filter(({ status }) => status === 'active').length === 1,
  );
  const { plan_id } = await settled(owner, { status: 'active' });
  assert.equal(account.charged.get(customer.id), plan_id === 'team_monthly' ? 800 : 1500);
});

test('if a customer with two subscriptions is deleted, one is refunded and the workspace can subscribe again', async () => {
  const twice = async () => {
    const owner = await world.owner();
    const session = account.session(await checkout(owner));
    const second = account.session(await checkout(owner, 'business_monthly'));
    session.status = 'open';
    const customer = await customerOf(owner);
    // No sync may run before the customer is deleted.
    webhooks.hold((workspace_id) => workspace_id === owner.workspace_id);
    account.complete(session.id);
    account.age(customer.id, 60);
    account.complete(second.id);
    account.age(customer.id, 60);
    assert.equal(account.charged.get(customer.id), 800 + 1500);
    account.deleteCustomer(customer.id);
    return { owner, customer };
  };
  const deliver = async ({ workspace_id }: Owner) => {
    webhooks.hold(false);
    for (const event of webhooks.take(workspace_id)) assert.equal((await webhooks.send(event)).status, 200);
  };
  const paidOnce = ({ id }: { id: string }) => account.charged.get(id) === 800;

  const one = await twice();
  await deliver(one.owner);
  await until('the second one is refunded', () => paidOnce(one.customer));
  await settled(one.owner, { status: 'none', plan_id: '' });

  // The owner starts a checkout before the event arrives.
  const other = await twice();
  const again = await checkout(other.owner);
  assert.ok(paidOnce(other.customer), 'refunded before the customer is replaced');
  account.complete(again);
  await deliver(other.owner);
  await settled(other.owner, { status: 'active', plan_id: 'team_monthly' });
  assert.ok(paidOnce(other.customer) && paidOnce(one.customer), 'refunded once');
});

test('an invalid price, quantity or customer each has its own error', async () => {
  const owner = await subscribed();
  const refused = async (path: string, body: object) => (await owner.post(`${at(owner)}/${path}`, body)).body.error;
  const { preview_hash } = await preview(owner, 'business_monthly');
  assert.equal(await refused('change', { plan_id: 'free', preview_hash }), 'conflict');
  assert.equal(await refused('change', { plan_id: 'enterprise', preview_hash }), 'billing_by_operator');
  assert.equal(await refused('change', { plan_id: 'gold', preview_hash }), 'unknown_plan');
  assert.equal(await refused('change', { plan_id: 'team_annual', preview_hash }), 'plan_unpriced');
  stripe.setFaults(() => 500);
  assert.equal(await refused('change', { plan_id: 'business_monthly', preview_hash }), 'billing_unavailable');
  stripe.setFaults(() => 429);
  assert.equal(await refused('preview', { plan_id: 'business_monthly' }), 'billing_unavailable');
  stripe.setFaults(() => undefined);
  const customer = await customerOf(owner);
  customer.deleted = true;
  assert.equal(await refused('portal', {}), 'customer_missing');
  account.deleteCustomer(customer.id);
  await settled(owner, { status: 'none' });
  account.complete(await checkout(owner));
  await settled(owner, { status: 'active' });
  assert.notEqual((await customerOf(owner)).id, customer.id);
  const fresh = await world.owner();
  assert.equal(
    (await fresh.post(`${at(fresh)}/change`, { plan_id: 'team_monthly', preview_hash })).body.error,
    'not_subscribed',
  );
  assert.equal((await fresh.post(`${at(fresh)}/cancel`)).body.error, 'not_subscribed');
  assert.equal((await fresh.post(`${at(fresh)}/portal`)).body.error, 'not_subscribed');
  team.unit_amount = 900;
  assert.equal((await fresh.post(`${at(fresh)}/checkout`, { plan_id: 'team_monthly' })).body.error, 'plan_unpriced');
  team.unit_amount = 800;
});

test('another currency and a quantity beyond one payment are refused without a charge', async () => {
  const owner = await subscribed();
  const customer = await customerOf(owner);
  const before = account.charged.get(customer.id);
  const euros = await preview(owner, 'team_eur');
  assert.equal(euros.preview.checkout_type, 'subscription', 'it needs a subscription of its own');
  const other = { plan_id: 'team_eur', preview_hash: euros.preview_hash };
  const mismatch = await change(owner, other);
  assert.deepEqual([mismatch.status, mismatch.body.error], [409, 'currency_mismatch']);
  assert.match(mismatch.body.message, /Cancel it, and start a checkout/);
  await world.member(owner.workspace_id, 'member');
  await settled(owner, { quantity: 2 });
  const fresh = await world.owner();
  await world.member(fresh.workspace_id, 'member');
  const dear = { plan_id: 'dear_monthly' };
  const refusals = [
    await owner.post(`${at(owner)}/preview`, dear),
    await change(owner, { ...dear, preview_hash: 'any' }),
    await fresh.post(`${at(fresh)}/preview`, dear),
    await fresh.post(`${at(fresh)}/checkout`, dear),
  ];
  for (const { status, body } of refusals) {
    assert.deepEqual([status, body.error], [409, 'quantity_too_large']);
    assert.match(body.message, /2 seats .* Ask the operator for a contract/);
  }
  assert.deepEqual([account.charged.get(customer.id), account.invoicesOf(customer.id).length], [before, 1]);
  assert.equal((await settled(owner, { status: 'active' })).plan_id, 'team_monthly');
});

test('members beyond the maximum payment can join without changing the paid seats, and the operator is warned', async () => {
  const owner = await world.owner();
  account.complete(await checkout(owner, 'dear_monthly'));
  await settled(owner, { plan_id: 'dear_monthly', status: 'active' });
  const customer = await customerOf(owner);
  const member = await world.member(owner.workspace_id, 'member');
  const jobsDone = async () =>
    (await world.db.query(sql`select 1 from background_jobs where workspace_id = ${owner.workspace_id}`)).length === 0;
  await until('the members are compared with what is paid', jobsDone);
  assert.ok(logged.some((line) => line.workspace_id === owner.workspace_id && /agree on a contract/.test(line.msg)));
  const { quantity, seats } = await settled(owner, { status: 'active' });
  assert.deepEqual([quantity, seats.active], [1, 2]);
  assert.deepEqual([account.charged.get(customer.id), account.invoicesOf(customer.id).length], [60_000_000, 1]);
  assert.equal((await member.get(`/v1/workspaces/${owner.workspace_id}/members`)).status, 200, 'they have access');
});

test('a workspace whose price left the catalogue keeps its seats, can cancel, and learns why it cannot change its plan', async () => {
  const owner = await subscribed();
  const customer = await customerOf(owner);
  const [subscription] = account.subscriptionsOf(customer.id);
  assert.ok(subscription);
  subscription.price = account.addPrice({
    lookup_key: 'team_2024',
    currency: 'usd',
    unit_amount: 700,
    interval: 'month',
  });
  account.cancelAtPeriodEnd(subscription, false);
  const { seats } = await settled(owner, { plan_id: 'team_2024' });
  assert.equal(seats.granted, 1);
  for (const path of ['preview', 'change']) {
    const { status, body } = await owner.post(`${at(owner)}/${path}`, {
      plan_id: 'business_monthly',
      preview_hash: 'x',
    });
    assert.deepEqual([status, body.error], [503, 'plan_unpriced'], path);
    assert.match(body.message, /Contact the operator/);
  }
  assert.equal((await owner.post(`${at(owner)}/cancel`)).status, 200);
});

test('a checkout paid after the workspace changed to another plan is refunded, and the plan stays', async () => {
  const owner = await world.owner();
  const early = account.session(await checkout(owner));
  account.complete(await checkout(owner, 'business_monthly'));
  await settled(owner, { plan_id: 'business_monthly', status: 'active' });
  const customer = await customerOf(owner);
  const { preview_hash } = await preview(owner, 'business_annual');
  assert.equal((await change(owner, { plan_id: 'business_annual', preview_hash })).status, 200);
  await settled(owner, { plan_id: 'business_annual' });
  const paid = account.charged.get(customer.id);
  // The checkout page stayed open.
  early.status = 'open';
  const late = account.complete(early.id);
  assert.equal(account.charged.get(customer.id), (paid ?? 0) + 800);
  await until('the late one is refunded', () => account.charged.get(customer.id) === paid);
  await until('the late one is ended', () => late.status === 'canceled');
  await settled(owner, { plan_id: 'business_annual', status: 'active', quantity: 1 });
  assert.throws(() => account.complete(early.id), /no longer open/, 'no page is paid twice');
});

test('a checkout paid after the operator set a plan is refunded, and the plan stays', async () => {
  const owner = await world.owner();
  const session = await checkout(owner);
  await world.db.query(sql`
    insert into subscriptions (workspace_id, plan_id, quantity, currency, period_start, period_end)
    values (${owner.workspace_id}, 'enterprise', 1, 'usd', now(), now() + interval '1 year')`);
  const { customer } = account.complete(session);
  await until('the payment is refunded', () => account.charged.get(customer) === 0);
  await until('the subscription is ended', () => account.subscriptionsOf(customer)[0]?.status === 'canceled');
  await settled(owner, { plan_id: 'enterprise', plan_source: 'operator', status: 'active' });
  const again = await owner.post(`${at(owner)}/checkout`, { plan_id: 'team_monthly' });
  assert.deepEqual([again.status, again.body.error], [409, 'billing_by_operator']);
});

test('an unpaid invoice of an ended subscription does not shorten the grace period of the next one', async () => {
  const owner = await subscribed();
  const customer = await customerOf(owner);
  customer.declines = true;
  account.age(customer.id, 32 * DAY);
  await settled(owner, { status: 'past_due' });
  account.cancel(account.subscriptionsOf(customer.id)[0]?.id ?? '');
  await settled(owner, { status: 'none' });
  customer.declines = false;
  account.complete(await checkout(owner));
  await settled(owner, { status: 'active', amount_due: 0 });
  customer.declines = true;
  account.age(customer.id, 32 * DAY);
  const { writes_end_at } = await settled(owner, { status: 'past_due', amount_due: 8 });
  assert.ok(Date.parse(writes_end_at) > Date.now() + 11 * DAY * 1000, 'the grace is that of its own invoice');
});

test('a payment started in a widget returns only to pages of its own origin', async () => {
  const owner = await world.owner();
  const origin = 'https://intranet.example.com';
  const workspace = `/v1/workspaces/${owner.workspace_id}`;
  await owner.patch(`${workspace}/widget-origins`, { widget_origins: [origin, 'https://shop.example.com'] });
  const { token } = (await owner.post(`${workspace}/widget-token`, { widget: 'enterprise', origin })).body;
  const pay = (return_url: string, headers = { origin }) =>
    world.as(token).post('/v1/widgets/enterprise/billing/checkout', { plan_id: 'team_monthly', return_url }, headers);
  for (const elsewhere of [
    'https://shop.example.com/',
    'https://intranet.example.com.evil.example.com/',
    'https://intranet.example.com@evil.example.com/',
    'https://user:secret@intranet.example.com/',
    'http://intranet.example.com/',
    'javascript:alert(1)',
    '/settings',
  ]) {
    const { status, body } = await pay(elsewhere);
    assert.deepEqual([status, body.error], [400, 'invalid_request'], elsewhere);
  }
  const byKey = await owner.post(`${at(owner)}/checkout`, { plan_id: 'team_monthly', return_url: `${origin}/` });
  assert.equal(byKey.body.error, 'invalid_request', 'a page of another site is that of a widget token alone');
  assert.equal((await pay(`${origin}/`, { origin: 'https://shop.example.com' })).status, 403);
  const { body } = await pay(`${origin}/settings?tab=plan#checkout`);
  const { success_url, cancel_url } = account.session(body.url.split('/').at(-1));
  assert.equal(success_url, `${origin}/settings?tab=plan&checkout=done`);
  assert.equal(cancel_url, `${origin}/settings?tab=plan&checkout=cancelled`);
});
