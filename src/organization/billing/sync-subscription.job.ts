import type { Query } from '../../platform/db/db.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { defineJob, type JobServices } from '../../platform/jobs/define-job.ts';
import type { PaymentProvider, ProviderSubscription } from '../../platform/providers/payments/provider.ts';
import { applySubscription } from './apply-subscription.ts';
import { prorationTime } from './billing-state.ts';
import { claimChange } from './claim-change.ts';
import { fitsCharge } from './schema.ts';

/** What is known before the provider is asked. */
interface SyncState {
  workspace_id: string;
  customer_id: string;
  revision: number;
  /** The statements that store the answer refuse an older one. */
  asked_at: string;
  active: number;
  /** null: no plan; "": the operator has set it. */
  subscription_id: string | null;
}

/**
 * Makes our copy of a subscription what the payment provider has, and the quantity there what our members are. It believes no
 * event and reads everything again, so it may run at any time, and any number of times.
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
    // Last, because a refund that fails must not keep the plan: the job is tried again.
    if (is_deleted) await provider.refundOverlaps(state.customer_id);
    if (!own || !applied || !(await raiseClaim(db.query, services, { ...state, ...applied }, own))) return;
    // The members are counted under the claim: what they were before may be old.
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
 * The subscription of the customer. One that was paid in addition (a checkout that was finished twice, or after the operator
 * had set a plan) ends and is refunded.
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

/** Whether the quantity is to be changed, and is claimed to be. Errors: another change is in progress; it is tried again. */
async function raiseClaim(
  query: Query,
  { plans, log }: JobServices,
  { workspace_id, active, revision }: SyncState,
  own: ProviderSubscription,
): Promise<boolean> {
  const plan = plans.find(({ plan_id }) => plan_id === own.plan_id);
  // Without overage the seats are those that were bought: who leaves frees one for another.
  if (!plan?.overage_allowed || Math.max(active, 1) === own.quantity) return false;
  if (!fitsCharge(plan, active)) {
    log.error(
      { workspace_id, active },
      'the workspace has more members than one payment can be for; agree on a contract',
    );
    return false;
  }
  const claimed = await query(claimChange(raw('(select workspace_id from billing_customers)'), revision));
  if (claimed.length === 0) throw new Error('the subscription is being changed by another process');
  return true;
}

/** The key names workspace, quantity and period, and the revision, so that 3, 4, 3 and 4 seats are three changes. */
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
