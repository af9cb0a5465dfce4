import assert from 'node:assert/strict';
import { sql } from '../../../src/platform/db/sql.ts';
import type { Customer, Invoice, Subscription } from '../../stripe/objects.ts';
import type { Answer, Client, Owner } from '../../world.ts';
import type { FuzzedBilling } from './fuzzed-billing.ts';

/** A workspace of the fuzzer, what Stripe has of it, and which members it must have. */
export interface BilledWorkspace {
  billing: FuzzedBilling;
  owner: Owner;
  /** Members besides the owner by id, and whether they are active; null: a request about them was cut. */
  members: Map<string, boolean | null>;
  /** People with an invitation. */
  invited: Client[];
  /** Sessions of checkouts that were opened. */
  sessions: string[];
  /** What has been done, for the message of a failure. */
  done: string[];
  post(path: string, body?: unknown): Promise<Answer>;
  customers(): Customer[];
  subscriptions(): Subscription[];
  /** Those that are not ended. */
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

/** Lets time pass for one workspace, at Stripe and here. */
export async function letPass(it: BilledWorkspace, seconds: number): Promise<void> {
  const { billing, owner, customers } = it;
  // The comparison of each day would have ended one of two subscriptions.
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

/** What 503 says where a request has waited for its turn as long as it may; one that is refused so has written nothing. */
const OVERLOADED = /^(overloaded|time_limit_exceeded|database_unavailable)$/;
/** How often a write is sent again that the service has had no time for, a second apart. */
const OVERLOADED_MAX = 30;

/**
 * What every write passes that needs a workspace to be paid: one that costs nothing else, such as rendering a page. Stripe is not
 * asked for it, so 503 says only that there is too much to do.
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

/** What was paid for invoices and not refunded, in minor units. */
export function paidFor(invoices: readonly Invoice[]): number {
  return invoices.reduce((sum, { amount_paid, refunded }) => sum + amount_paid - refunded, 0);
}
