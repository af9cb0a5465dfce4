import assert from 'node:assert/strict';
import { sql } from '../../../src/platform/db/sql.ts';
import type { Answer } from '../../world.ts';
import { assertAgreement } from './agreement.ts';
import { type BilledWorkspace, letPass, readBilling, write } from './billed-workspace.ts';
import { assertCharged } from './charged-as-previewed.ts';

const DAY = 86_400;
const FAULTS = [429, 500, 'cut', 'lost'] as const;
const MEMBERS_MAX = 6;
const FAULTS_MAX = 8;

export type Random = () => number;
type Step = (it: BilledWorkspace, random: Random) => Promise<unknown>;

export function pick<T>(list: readonly T[], random: Random): T | undefined {
  return list[Math.floor(random() * list.length)];
}

const membersPath = ({ owner }: BilledWorkspace) => `/v1/workspaces/${owner.workspace_id}/members`;

/** Sends a request about a member in a given state, and records the new state, or null if the request was cut. */
async function ofMember(it: BilledWorkspace, random: Random, isActive: boolean, to: boolean, path: string) {
  const id = pick(
    [...it.members].filter(([, known]) => known === isActive).map(([key]) => key),
    random,
  );
  if (id === undefined) return;
  const method = path === '' ? 'DELETE' : 'POST';
  const { status } = await it.billing.call(it.owner, method, `${membersPath(it)}/${id}${path}`);
  if (status < 300) it.members.set(id, status === 0 ? null : to);
}

export const STEPS: Record<string, Step> = {
  async invite(it) {
    if (it.members.size >= MEMBERS_MAX) return;
    const person = await it.billing.whenUp(() => it.billing.world.person());
    const [row] = await it.billing.world.db.query<{ email: string }>(
      sql`select email from users where user_id = ${person.user_id}`,
    );
    const body = { email: row?.email, role: 'member' };
    const { status } = await it.billing.call(it.owner, 'POST', `${membersPath(it)}/invite`, body);
    if (status === 200) it.invited.push(person);
  },
  async accept(it) {
    const person = it.invited.shift();
    if (!person) return;
    const { body: own } = await it.billing.call(person, 'GET', '/v1/me/invitations');
    const [invitation] = Array.isArray(own) ? own : [];
    if (invitation === undefined) return;
    await it.billing.call(person, 'POST', `/v1/me/invitations/${invitation.invitation_id}/accept`);
    const [row] = await it.billing.world.db.query<{ membership_id: string }>(sql`
      select membership_id from memberships where workspace_id = ${it.owner.workspace_id} and user_id = ${person.user_id}`);
    if (row) it.members.set(row.membership_id, true);
  },
  async join(it) {
    if (it.members.size >= MEMBERS_MAX) return;
    try {
      const { membership_id } = await it.billing.world.member(it.owner.workspace_id, 'member');
      it.members.set(membership_id, true);
    } catch (error) {
      // The database refuses a member without a seat, however they join.
      if (!/all seats of the workspace are taken/.test(String(error))) throw error;
    }
  },
  leave: (it, random) => ofMember(it, random, true, false, '/deactivate'),
  return: (it, random) => ofMember(it, random, false, true, '/reactivate'),
  remove: (it, random) => ofMember(it, random, true, false, ''),
  async fail(it) {
    for (const customer of it.customers()) customer.declines = true;
  },
  async pay(it) {
    for (const customer of it.customers()) customer.declines = false;
    const { account } = it.billing.stripe;
    for (const { id, status, customer } of it.invoices()) {
      if (status === 'open' && !account.customer(customer).deleted) account.pay(id);
    }
  },
  days: (it, random) => letPass(it, Math.floor(random() * 20 * DAY)),
  async renew(it) {
    const [subscription] = it.live();
    if (!subscription) return;
    await letPass(it, Math.max(0, subscription.period_end - it.billing.stripe.account.now()) + 60);
  },
  cancel: (it) => it.post('cancel'),
  resume: (it) => it.post('resume'),
  async checkout(it, random) {
    const { body } = await it.post('checkout', { plan_id: paidPlan(it, random) });
    if (body.url) it.sessions.push(body.url.split('/').at(-1));
    if (body.url && random() < 0.8) complete(it, it.sessions.at(-1) ?? '');
  },
  /** Completes a checkout page that stayed open, or completes it again. */
  async lateCheckout(it, random) {
    const id = pick(it.sessions, random);
    const session = it.billing.stripe.account.sessions.get(id ?? '');
    if (!session || random() < 0.5) return;
    session.status = 'open';
    complete(it, session.id);
  },
  change: (it, random) => assertCharged(it, paidPlan(it, random), { isDoubled: random() < 0.3 }),
  async operator(it, random) {
    if (random() < 0.7 || it.live().length > 0) return;
    await setPlan(it, (await readBilling(it)).plan_source === 'operator' ? undefined : 'enterprise');
  },
  async deleteCustomer(it, random) {
    const customer = pick(it.customers(), random);
    if (customer && !customer.deleted && random() < 0.15) it.billing.stripe.account.deleteCustomer(customer.id);
  },
  async write(it) {
    const [before, { status }, after] = [await readBilling(it), await write(it), await readBilling(it)];
    if (status === 0 || before.status !== after.status) return;
    assert.equal(status, before.status === 'read_only' ? 402 : 200, `a write while it is ${before.status}`);
  },
  deliver: (it, random) => deliver(it, random),
  async trouble({ billing, owner: { workspace_id } }, random) {
    const fault = pick(FAULTS, random);
    // A limited number of faults. Jobs also call Stripe, at unpredictable times, so the faults must not take random
    // numbers: the steps would differ from the seed's.
    let left = Math.floor(random() * FAULTS_MAX);
    billing.faults.set(workspace_id, () => (left-- > 0 ? fault : undefined));
  },
  calm: async ({ billing, owner: { workspace_id } }) => void billing.faults.delete(workspace_id),
  silence: async ({ billing, owner: { workspace_id } }) => void billing.held.add(workspace_id),
  agree: (it) => assertAgreement(it),
};

function paidPlan({ billing, live }: BilledWorkspace, random: Random): string {
  const [subscription] = live();
  // Mostly in the same currency, which a subscription keeps.
  const currency = random() < 0.05 ? undefined : (subscription?.price.currency ?? undefined);
  const plans = billing.plans.filter(
    (plan) => plan.checkout === 'subscription' && (currency === undefined || plan.currency === currency),
  );
  return pick(plans, random)?.plan_id ?? '';
}

function complete({ billing: { stripe } }: BilledWorkspace, id: string): void {
  const session = stripe.account.sessions.get(id);
  const customer = session && stripe.account.customers.get(session.customer);
  if (session?.status !== 'open' || !customer || customer.deleted || customer.declines) return;
  stripe.account.complete(id);
}

/** Delivers the held events: some are lost, the others come in any order, and some twice. */
async function deliver({ billing, owner: { workspace_id } }: BilledWorkspace, random: Random): Promise<void> {
  const { webhooks } = billing.stripe;
  billing.held.delete(workspace_id);
  const kept = webhooks.take(workspace_id).filter(() => random() < 0.7);
  const doubled = kept.filter(() => random() < 0.3);
  const mixed = [...kept, ...doubled].map((event) => ({ event, turn: random() }));
  for (const { event } of mixed.sort((one, other) => one.turn - other.turn)) {
    const answer: Pick<Answer, 'status'> = await billing.whenUp(() => webhooks.send(event));
    assert.equal(answer.status, 200, 'an event is accepted');
  }
}

/** Sets a plan as `ibid plan` does. */
async function setPlan({ billing, owner: { workspace_id } }: BilledWorkspace, plan_id: string | undefined) {
  await billing.world.db.transaction(async (query) => {
    await query(sql`select 1 from workspaces where workspace_id = ${workspace_id} for update`);
    const paid = await query(sql`
      select 1 from subscriptions where workspace_id = ${workspace_id} and subscription_id <> ''`);
    if (paid.length > 0) return;
    await query(sql`delete from subscriptions where workspace_id = ${workspace_id}`);
    if (plan_id !== undefined) {
      await query(sql`
        insert into subscriptions (workspace_id, plan_id, quantity, currency, period_start, period_end)
        values (${workspace_id}, ${plan_id}, 1, 'usd', now(), now() + interval '10 years')`);
    }
    const isFree = plan_id === undefined;
    await query(sql`
      update workspaces set seats_granted = ${isFree ? 3 : 1}::int, seats_unlimited = ${!isFree}, seats_overage = false
      where workspace_id = ${workspace_id}`);
  });
}
