import assert from 'node:assert/strict';
import { sql } from '../../../src/platform/db/sql.ts';
import { toMajorUnits } from '../../../src/platform/providers/payments/money.ts';
import type { Invoice, Subscription } from '../../stripe/objects.ts';
import { type BilledWorkspace, paidFor, readBilling, write } from './billed-workspace.ts';

const DAY = 86_400;
const GRACE_DAYS = 10;

/**
 * Asserts the rules that hold after each sync with Stripe: the copy equals Stripe's data, every member has a paid seat
 * and no member lost theirs, no charge was made twice, and writes are accepted exactly until the end of the grace
 * period.
 */
export async function assertAgreement(it: BilledWorkspace): Promise<void> {
  await it.billing.settle(it.owner.workspace_id);
  const billing = await readBilling(it);
  const live = it.live();
  assert.ok(live.length <= 1, `one subscription at most, not ${live.map(({ id }) => id)}`);
  await assertMembers(it, billing.seats.active);
  const [subscription] = live;
  const isReadOnly = subscription ? assertCopy(it, billing, subscription) : assertFree(billing);
  const { status, body } = await it.billing.whenUp(() => orCut(write(it)));
  assert.equal(status, isReadOnly ? 402 : 200, `writes are accepted until the end of the grace: ${body.message}`);
  assertCharges(it);
}

/** Throws the error that `whenUp` waits for if the request was cut. */
async function orCut<T extends { status: number }>(answer: Promise<T>): Promise<T> {
  const known = await answer;
  if (known.status === 0) throw new TypeError('fetch failed');
  return known;
}

async function assertMembers({ billing, owner, members }: BilledWorkspace, counted: number): Promise<void> {
  const rows = await billing.world.db.query<{ membership_id: string; status: string }>(sql`
    select membership_id, status from memberships where workspace_id = ${owner.workspace_id}`);
  const active = new Set(rows.filter(({ status }) => status === 'active').map((row) => row.membership_id));
  for (const [id, isActive] of members) {
    if (isActive === null) members.set(id, active.has(id));
    else assert.equal(active.has(id), isActive, `the seat of ${id}`);
  }
  assert.ok(active.has(owner.membership_id), 'the owner has a seat');
  assert.equal(counted, active.size);
}

function assertFree(billing: any): false {
  const isSet = billing.plan_source === 'operator';
  const seats = isSet ? [0, true] : [3, false];
  assert.deepEqual([billing.seats.granted, billing.seats.unlimited], seats);
  assert.deepEqual([billing.plan_id, billing.status], isSet ? ['enterprise', 'active'] : ['', 'none']);
  return false;
}

/** Asserts that the copy matches the subscription. Returns whether the workspace is read-only. */
function assertCopy(it: BilledWorkspace, billing: any, subscription: Subscription): boolean {
  const { price, quantity, status } = subscription;
  const open = it.invoices().filter((invoice) => invoice.subscription === subscription.id && invoice.status === 'open');
  const since = Math.min(...open.map(({ created }) => created));
  const isUnpaid = status === 'past_due';
  const isReadOnly = isUnpaid && since + GRACE_DAYS * DAY <= Date.now() / 1000;
  const due = open.reduce((sum, { amount_due }) => sum + amount_due, 0);
  assert.deepEqual(
    {
      plan_id: billing.plan_id,
      quantity: billing.quantity,
      currency: billing.currency,
      cancel_at_period_end: billing.cancel_at_period_end,
      period: [billing.period_start, billing.period_end].map((at) => Date.parse(at) / 1000),
      status: billing.status,
      amount_due: billing.amount_due,
      granted: billing.seats.granted,
    },
    {
      plan_id: price.lookup_key,
      quantity,
      currency: price.currency,
      cancel_at_period_end: subscription.cancel_at_period_end,
      period: [subscription.period_start, subscription.period_end],
      status: isReadOnly ? 'read_only' : isUnpaid ? 'past_due' : 'active',
      amount_due: toMajorUnits(due, price.currency),
      granted: quantity,
    },
  );
  assert.equal(quantity, billing.seats.active, 'every seat is paid, and no other');
  return isReadOnly;
}

function assertCharges(it: BilledWorkspace): void {
  const invoices = it.invoices();
  const { charged } = it.billing.stripe.account;
  const taken = it.customers().reduce((sum, { id }) => sum + (charged.get(id) ?? 0), 0);
  assert.equal(taken, paidFor(invoices), 'what cards were charged is what was invoiced');
  const periods = invoices.flatMap((invoice) => periodsOf(invoice));
  assert.equal(new Set(periods).size, periods.length, `no period is charged twice: ${periods}`);
  const ends = ({ ended_at }: Subscription) => ended_at ?? Number.POSITIVE_INFINITY;
  const all = it.subscriptions();
  for (const [index, one] of all.entries()) {
    for (const other of all.slice(index + 1)) {
      if (one.created >= ends(other) || other.created >= ends(one)) continue;
      const paid = [one, other].map(({ id }) => paidFor(invoices.filter(({ subscription }) => subscription === id)));
      assert.ok(paid.includes(0), `${one.id} and ${other.id} were paid for the same time: ${paid}`);
    }
  }
}

function periodsOf({ subscription, lines }: Invoice): string[] {
  return lines.filter(({ proration }) => !proration).map(({ period }) => `${subscription} ${period.start}`);
}
