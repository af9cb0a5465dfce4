import type StripeLibrary from 'stripe';
import { BillingUnavailable } from './payments.ts';
import type { ProviderCustomer, ProviderSubscription } from './provider.ts';
import type { StripeContext } from './stripe-context.ts';
import { planIdOf } from './stripe-prices.ts';

/** Statuses of subscriptions that were never paid for or have ended. */
const ENDED = ['canceled', 'incomplete', 'incomplete_expired'];

/**
 * Reads the current state of a customer from Stripe, with two parallel requests. Events are only hints and never
 * trusted.
 */
export async function readStripeCustomer(context: StripeContext, customer_id: string): Promise<ProviderCustomer> {
  const { stripe } = context;
  const [customer, open] = await Promise.all([
    stripe.customers.retrieve(customer_id, { expand: ['subscriptions'] }),
    stripe.invoices.list({ customer: customer_id, status: 'open', limit: 100 }),
  ]);
  if (customer.deleted) return { is_deleted: true, subscriptions: [] };
  const subscriptions = await currentSubscriptions(stripe, customer);
  return {
    is_deleted: false,
    subscriptions: subscriptions
      .filter(({ status }) => !ENDED.includes(status))
      .map((it) => subscriptionOf(context, it, open.data))
      .sort((a, b) => a.created.getTime() - b.created.getTime() || (a.subscription_id < b.subscription_id ? -1 : 1)),
  };
}

/** A customer includes only its first ten subscriptions. */
async function currentSubscriptions(
  stripe: StripeLibrary,
  { id, subscriptions }: StripeLibrary.Customer,
): Promise<StripeLibrary.Subscription[]> {
  if (subscriptions && !subscriptions.has_more) return subscriptions.data;
  return (await stripe.subscriptions.list({ customer: id, status: 'all', limit: 100 })).data;
}

function subscriptionOf(
  { plans }: StripeContext,
  it: StripeLibrary.Subscription,
  openInvoices: StripeLibrary.Invoice[],
): ProviderSubscription {
  const item = it.items.data[0];
  if (!item) throw new BillingUnavailable(`the Stripe subscription ${it.id} has no item`);
  // Unpaid invoices of ended subscriptions do not count as debt of this one; otherwise its grace period would be over
  // at once.
  const unpaid = openInvoices.filter(
    (invoice) => subscriptionIdOf(invoice) === it.id && invoice.attempted && invoice.amount_remaining > 0,
  );
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

function subscriptionIdOf({ parent }: StripeLibrary.Invoice): string | undefined {
  const subscription = parent?.subscription_details?.subscription;
  return typeof subscription === 'object' ? subscription.id : subscription;
}

/** Cancels a duplicate subscription and refunds its invoices. Safe to repeat: an invoice is refunded only once. */
export async function refundDuplicate(stripe: StripeLibrary, customer: string, subscription: string): Promise<void> {
  const { data: paid } = await stripe.invoices.list({ customer, subscription, status: 'paid', limit: 100 });
  for (const invoice of paid) await refund(stripe, invoice);
  // Cancel last, so that an interrupted refund is resumed: ended subscriptions are not checked again.
  await stripe.subscriptions.cancel(subscription);
}

/**
 * Refunds duplicate payments of a deleted customer. Of the subscriptions that were paid for the same time, the earliest
 * is kept. (Deleting a customer ends all its subscriptions before duplicates can be found.) Safe to repeat: refunded
 * payments no longer count.
 */
export async function refundOverlaps(stripe: StripeLibrary, customer: string): Promise<void> {
  const [subscriptions, invoices] = await Promise.all([
    stripe.subscriptions.list({ customer, status: 'all', limit: 100 }),
    stripe.invoices.list({ customer, status: 'paid', limit: 100 }),
  ]);
  const kept: StripeLibrary.Subscription[] = [];
  for (const it of subscriptions.data.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))) {
    const paid = invoices.data.filter((invoice) => subscriptionIdOf(invoice) === it.id && keptOf(invoice) > 0);
    if (paid.length === 0) continue;
    // A kept subscription started earlier and had not ended yet.
    const isDuplicate = kept.some(({ ended_at }) => ended_at === null || ended_at > it.created);
    if (!isDuplicate) kept.push(it);
    else for (const invoice of paid) await refund(stripe, invoice);
  }
}

/** Returns the amount that was paid for an invoice and not refunded, in minor units. */
function keptOf({ amount_paid, post_payment_credit_notes_amount }: StripeLibrary.Invoice): number {
  return amount_paid - post_payment_credit_notes_amount;
}

async function refund(stripe: StripeLibrary, invoice: StripeLibrary.Invoice): Promise<void> {
  const amount = keptOf(invoice);
  if (invoice.id === undefined || amount <= 0) return;
  await stripe.creditNotes.create(
    { invoice: invoice.id, amount, refund_amount: amount, reason: 'duplicate' },
    { idempotencyKey: `refund:${invoice.id}` },
  );
}
