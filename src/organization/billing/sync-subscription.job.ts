import type { Query } from '../../platform/db/db.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { defineJob, type JobServices } from '../../platform/jobs/define-job.ts';
import type { PaymentProvider, ProviderSubscription } from '../../platform/providers/payments/provider.ts';
import { applySubscription } from './apply-subscription.ts';
import { prorationTime } from './billing-state.ts';
import { claimChange } from './claim-change.ts';
import { fitsCharge } from './schema.ts';

/** The stored state, read before the provider is called. */
interface SyncState {
  workspace_id: string;
  customer_id: string;
  revision: number;
  /** The statements that store the answer ignore it if a newer one is stored. */
  asked_at: string;
  active: number;
  /** null if there is no plan; "" if the operator has set it. */
  subscription_id: string | null;
}

/**
 * Copies the subscription from the payment provider and sets its quantity to the number of active members. Ignores the
 * content of events and reads all data again, so it may run at any time and repeatedly.
 */
export const syncSubscription = defineJob({
  name: 'sync-subscription',
  for: 'workspace',
  lane: 'billing',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 120,
  every: 60,
  due: sql`select wiki_id, workspace_id from customers_to_sync()`,
  async run({ db, services }) {
    const { provider } = services.payments;
    if (!provider) return;
    const state = await readSyncState(db.query);
    if (!state) return;
    const { own, is_deleted } = await readSubscription(provider, state);
    const applied = await applySubscription(db, services, { ...state, own, endsClaim: false });
    // Last, because a failed refund must not delay the plan: the job is retried.
    if (is_deleted) await provider.refundOverlaps(state.customer_id);
    if (!own || !applied || !(await raiseClaim(db.query, services, { ...state, ...applied }, own))) return;
    // Count the members under the claim: an earlier count may be stale.
    const present = await readSyncState(db.query);
    if (!present) return;
    await changeQuantity(provider, services, present, own);
    const changed = await readSyncState(db.query);
    if (changed) {
      const { own } = await readSubscription(provider, changed);
      await applySubscription(db, services, { ...changed, own, endsClaim: true });
    }
  },
});

async function readSyncState(query: Query): Promise<SyncState | undefined> {
  const [state] = await query<SyncState>(sql`
    select c.workspace_id, c.customer_id, c.revision::int as revision, clock_timestamp() as asked_at, s.subscription_id,
      (select count(*)::int from memberships m where m.workspace_id = c.workspace_id and m.status = 'active') as active
    from billing_customers c left join subscriptions s on s.workspace_id = c.workspace_id`);
  return state;
}

/**
 * Returns the customer's subscription. Cancels and refunds additional subscriptions (a checkout paid twice, or after
 * the operator had set a plan).
 */
async function readSubscription(
  provider: PaymentProvider,
  state: SyncState,
): Promise<{ own: ProviderSubscription | undefined; is_deleted: boolean }> {
  const { customer_id, subscription_id } = state;
  const { is_deleted, subscriptions } = await provider.readCustomer(customer_id);
  const own =
    subscription_id === ''
      ? undefined
      : (subscriptions.find((it) => it.subscription_id === subscription_id) ?? subscriptions[0]);
  for (const other of subscriptions) {
    if (other !== own) await provider.refundDuplicate(customer_id, other.subscription_id);
  }
  if (own && subscription_id !== own.subscription_id) await provider.expireCheckouts(customer_id);
  return { own, is_deleted };
}

/**
 * Claims a change of the quantity; returns false if it need not change. Throws if another change is in progress, so
 * that the job is retried.
 */
async function raiseClaim(
  query: Query,
  { plans, log }: JobServices,
  { workspace_id, active, revision }: SyncState,
  own: ProviderSubscription,
): Promise<boolean> {
  const plan = plans.find(({ plan_id }) => plan_id === own.plan_id);
  // Without overage, the purchased seats are fixed: a leaving member frees a seat for another one.
  if (!plan?.overage_allowed || Math.max(active, 1) === own.quantity) return false;
  if (!fitsCharge(plan, active)) {
    log.error(
      { workspace_id, active },
      'the workspace has more members than one charge can cover; agree on a contract',
    );
    return false;
  }
  const claimed = await query(claimChange(raw('(select workspace_id from billing_customers)'), revision));
  if (claimed.length === 0) throw new Error('another process is changing the subscription');
  return true;
}

/**
 * The idempotency key names workspace, quantity, period and revision, so that changing from 3 to 4 seats, back and
 * again is three changes.
 */
async function changeQuantity(
  provider: PaymentProvider,
  { plans }: JobServices,
  { workspace_id, customer_id, revision, active, asked_at }: SyncState,
  own: ProviderSubscription,
): Promise<void> {
  const plan = plans.find(({ plan_id }) => plan_id === own.plan_id);
  const quantity = Math.max(active, 1);
  if (!plan || quantity === own.quantity) return;
  const period = own.period_start.getTime() / 1000;
  const key = `seats:${workspace_id}:${own.plan_id}:${quantity}:${period}:${revision}`;
  const { subscription_id, currency } = own;
  const subscription = { subscription_id, currency, customer_id };
  await provider.changeQuantity({ subscription, plan, quantity, at: prorationTime(new Date(asked_at)), key });
}
