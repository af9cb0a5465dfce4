import type StripeLibrary from 'stripe';
import { BillingUnavailable } from './payments.ts';
import type { ProviderCustomer, ProviderSubscription } from './provider.ts';
import type { StripeContext } from './stripe-context.ts';
import { planIdOf } from './stripe-prices.ts';

/** Subscriptions that were never paid for, or are over. */
const ENDED = ['canceled', 'incomplete', 'incomplete_expired'];

/** What Stripe has of a customer now: events are never believed. */
export async function readStripeCustomer(context: StripeContext, customer_id: string): Promise<ProviderCustomer> {
  const { stripe } = context;
  const customer = await stripe.customers.retrieve(customer_id);
  if (customer.deleted) return { is_deleted: true, subscriptions: [] };
  const [subscriptions, open] = await Promise.all([
    stripe.subscriptions.list({ customer: customer_id, status: 'all', limit: 100 }),
    stripe.invoices.list({ customer: customer_id, status: 'open', limit: 100 }),
  ]);
  return {
    is_deleted: false,
    subscriptions: subscriptions.data
      .filter(({ status }) => !ENDED.includes(status))
      .map((it) => subscriptionOf(context, it, open.data))
      .sort((a, b) => a.created.getTime() - b.created.getTime() || (a.subscription_id < b.subscription_id ? -1 : 1)),
  };
}

function subscriptionOf(
  { plans }: StripeContext,
  it: StripeLibrary.Subscription,
  openInvoices: StripeLibrary.Invoice[],
): ProviderSubscription {
  const item = it.items.data[0];
  if (!item) throw new BillingUnavailable(`the subscription ${it.id} of Stripe has no item`);
  const unpaid = openInvoices.filter((invoice) => invoice.attempted && invoice.amount_remaining > 0);
  const isUnpaid = ['past_due', 'unpaid', 'paused'].includes(it.status);
  const since = unpaid.reduce((oldest, { created }) => Math.min(oldest, created), Number.POSITIVE_INFINITY);
  return {
    subscription_id: it.id,
    plan_id: planIdOf(item.price, plans),
    currency: it.currency,
    quantity: item.quantity ?? 1,
    period_start: new Date(item.current_period_start * 1000),
    period_end: new Date(item.current_period_end * 1000),
    created: new Date(it.created * 1000),
    cancel_at_period_end: it.cancel_at_period_end || it.cancel_at !== null,
    amount_due: unpaid.reduce((sum, { amount_remaining }) => sum + amount_remaining, 0),
    unpaid_since: isUnpaid ? new Date((Number.isFinite(since) ? since : item.current_period_start) * 1000) : null,
  };
}

/** Safe to repeat: a subscription ends once, and a refund has a key. */
export async function refundDuplicate(stripe: StripeLibrary, customer: string, subscription: string): Promise<void> {
  const { data: paid } = await stripe.invoices.list({ customer, subscription, status: 'paid', limit: 100 });
  for (const { id, amount_paid } of paid) {
    if (id === undefined || amount_paid === 0) continue;
    await stripe.creditNotes.create(
      { invoice: id, amount: amount_paid, refund_amount: amount_paid, reason: 'duplicate' },
      { idempotencyKey: `refund:${id}` },
    );
  }
  // Last, so that an interrupted refund is continued: a subscription that ended is not looked at again.
  await stripe.subscriptions.cancel(subscription);
}
