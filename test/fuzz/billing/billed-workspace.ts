import assert from 'node:assert/strict';
import { sql } from '../../../src/platform/db/sql.ts';
import type { Customer, Invoice, Subscription } from '../../stripe/objects.ts';
import type { Answer, Client, Owner } from '../../world.ts';
import type { FuzzedBilling } from './fuzzed-billing.ts';

/** A workspace of the fuzzer, its data at Stripe, and its expected members. */
export interface BilledWorkspace {
  billing: FuzzedBilling;
  owner: Owner;
  /** Whether each member, by id and without the owner, is active; null if a request about the member was cut. */
  members: Map<string, boolean | null>;
  invited: Client[];
  sessions: string[];
  /** Steps so far, for the message of a failure. */
  done: string[];
  post(path: string, body?: unknown): Promise<Answer>;
  customers(): Customer[];
  subscriptions(): Subscription[];
  live(): Subscription[];
  invoices(): Invoice[];
}

export async function makeBilledWorkspace(billing: FuzzedBilling): Promise<BilledWorkspace> {
  const { account } = billing.stripe;
  const owner = await billing.whenUp(() => billing.world.owner());
  const { workspace_id } = owner;
  const customers = () => account.customersOf(workspace_id);
  const subscriptions = () => customers().flatMap(({ id }) => account.subscriptionsOf(id));
  return {
    ...{ billing, owner, members: new Map(), invited: [], sessions: [], done: [] },
    post: (path, body) => billing.call(owner, 'POST', `/v1/organizations/${workspace_id}/billing/${path}`, body),
    customers,
    subscriptions,
    live: () => subscriptions().filter(({ status }) => status !== 'canceled'),
    invoices: () => customers().flatMap(({ id }) => account.invoicesOf(id)),
  };
}

export function forgetWorkspace({ billing, owner: { workspace_id } }: BilledWorkspace): void {
  billing.stripe.forget(workspace_id);
  billing.faults.delete(workspace_id);
  billing.held.delete(workspace_id);
}

/** Lets time pass for one workspace, at Stripe and in the service. */
export async function letPass(it: BilledWorkspace, seconds: number): Promise<void> {
  const { billing, owner, customers } = it;
  // The daily comparison would have ended all but one subscription.
  if (it.live().length > 1) await billing.settle(owner.workspace_id);
  for (const { id } of customers()) billing.stripe.account.age(id, seconds);
  const past = sql`make_interval(secs => ${seconds})`;
  await billing.world.db.query(sql`
    with copy as (
      update subscriptions set period_start = period_start - ${past}, period_end = period_end - ${past},
        unpaid_since = unpaid_since - ${past}, writes_end_at = writes_end_at - ${past}
      where workspace_id = ${owner.workspace_id} and subscription_id <> '')
    update billing_customers set synced_at = synced_at - ${past}, checkout_opened_at = checkout_opened_at - ${past},
      changing_until = changing_until - ${past}
    where workspace_id = ${owner.workspace_id}`);
}

/** Codes of a 503 for a request that waited too long for its turn. Such a request has written nothing. */
const OVERLOADED = /^(overloaded|time_limit_exceeded|database_unavailable)$/;
/** Retries of a write for which the service had no time, one second apart. */
const OVERLOADED_MAX = 30;

/**
 * Sends a write that is refused only if the workspace is unpaid, and costs nothing else, such as rendering a page. It
 * does not call Stripe, so 503 means only an overloaded service.
 */
export async function write({ billing, owner }: BilledWorkspace): Promise<Answer> {
  for (let refusals = 0; ; refusals += 1) {
    const answer = await billing.call(owner, 'PATCH', `/v1/wikis/${owner.wiki_id}`, { title: 'Ours' });
    if (answer.status !== 503) return answer;
    assert.match(answer.body.error, OVERLOADED, 'no write asks Stripe');
    if (refusals === OVERLOADED_MAX) return answer;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

export async function readBilling({ billing, owner }: BilledWorkspace): Promise<any> {
  const path = `/v1/organizations/${owner.workspace_id}/billing`;
  const { status, body } = await billing.whenUp(() => owner.get(path));
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Sums the payments of invoices minus refunds, in minor units. */
export function paidFor(invoices: readonly Invoice[]): number {
  return invoices.reduce((sum, { amount_paid, refunded }) => sum + amount_paid - refunded, 0);
}
