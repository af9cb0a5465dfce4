import type StripeLibrary from 'stripe';
import { BillingUnavailable, type Payments, type Plan } from './payments.ts';
import type { PaymentProvider } from './provider.ts';
import { prorationDate, type StripeContext } from './stripe-context.ts';
import { readStripeCustomer, refundDuplicate, refundOverlaps } from './stripe-customer.ts';
import { fromStripe } from './stripe-errors.ts';
import { eventReader } from './stripe-events.ts';
import { stripePreview } from './stripe-preview.ts';
import { openStripePrices } from './stripe-prices.ts';

/** The API version that the types of the library describe. Change it together with the library. */
const API_VERSION = '2026-10-28.endive';

/** Timeout and retries of one request to Stripe. A request to this service has 30 s in total. */
const TIMEOUT_MS = 8_000;
const RETRIES = 1;

export interface StripeOptions {
  secret_key: string;
  /** Up to two, so that a secret can be rotated. */
  webhook_secrets: readonly string[];
  /** Replaces the address of Stripe's API. */
  api_url: string | undefined;
  /** Whether Stripe Tax computes taxes. */
  automatic_tax: boolean;
  plans: readonly Plan[];
}

/** Opens payments with Stripe. Imports the library on demand, because most installations do not use it. */
export async function openStripePayments(options: StripeOptions): Promise<Payments> {
  const { default: Stripe } = await import('stripe');
  const { secret_key, webhook_secrets, api_url, automatic_tax, plans } = options;
  const stripe = new Stripe(secret_key, {
    apiVersion: API_VERSION,
    telemetry: false,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    ...(api_url !== undefined && hostOf(api_url)),
  });
  const context: StripeContext = { stripe, prices: openStripePrices(stripe), plans, automatic_tax };
  const readEvent = eventReader(Stripe, webhook_secrets, secret_key.includes('_live_'));
  return {
    preview: (input) => fromStripe(() => stripePreview(context, input)),
    provider: providerOf(context, readEvent),
  };
}

function hostOf(api_url: string): { host: string; port: string; protocol: 'http' | 'https' } {
  const { hostname: host, port, protocol } = new URL(api_url);
  const isPlain = protocol === 'http:';
  return { host, port: port || (isPlain ? '80' : '443'), protocol: isPlain ? 'http' : 'https' };
}

function providerOf(context: StripeContext, readEvent: PaymentProvider['readEvent']): PaymentProvider {
  const { stripe } = context;
  return {
    readEvent,
    createCustomer: ({ workspace_id, email, key }) =>
      fromStripe(async () => {
        const { id } = await stripe.customers.create({ email, metadata: { workspace_id } }, { idempotencyKey: key });
        return id;
      }),
    readCustomer: (customer_id) => fromStripe(() => readStripeCustomer(context, customer_id)),
    expireCheckouts: (customer_id) =>
      fromStripe(async () => {
        const { data } = await stripe.checkout.sessions.list({ customer: customer_id, status: 'open', limit: 100 });
        for (const { id } of data) await stripe.checkout.sessions.expire(id);
      }),
    startCheckout: (input) => fromStripe(() => startCheckout(context, input)),
    openPortal: (customer, return_url) =>
      fromStripe(async () => (await stripe.billingPortal.sessions.create({ customer, return_url })).url),
    changePlan: (input) =>
      fromStripe(() =>
        change(context, input, { proration_behavior: 'always_invoice', payment_behavior: 'error_if_incomplete' }),
      ),
    changeQuantity: (input) =>
      fromStripe(() => change(context, input, { proration_behavior: input.plan.proration_behavior })),
    setCancelAtPeriodEnd: (id, value) =>
      fromStripe(async () => void (await stripe.subscriptions.update(id, { cancel_at_period_end: value }))),
    refundDuplicate: (customer_id, id) => fromStripe(() => refundDuplicate(stripe, customer_id, id)),
    refundOverlaps: (customer_id) => fromStripe(() => refundOverlaps(stripe, customer_id)),
    listInvoices: (customer) => fromStripe(() => listInvoices(stripe, customer)),
  };
}

async function startCheckout(
  { stripe, prices, automatic_tax }: StripeContext,
  {
    customer_id,
    workspace_id,
    plan,
    quantity,
    success_url,
    cancel_url,
  }: Parameters<PaymentProvider['startCheckout']>[0],
): Promise<string> {
  const { url } = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: customer_id,
    line_items: [{ price: await prices.of(plan), quantity }],
    success_url,
    cancel_url,
    subscription_data: { metadata: { workspace_id } },
    ...(automatic_tax && {
      automatic_tax: { enabled: true },
      customer_update: { address: 'auto' as const },
      billing_address_collection: 'required' as const,
    }),
  });
  if (!url) throw new BillingUnavailable('Stripe created a checkout without a URL');
  return url;
}

type ChangeInput = Parameters<PaymentProvider['changePlan']>[0];

async function change(
  { stripe, prices }: StripeContext,
  { subscription, plan, quantity, at, key }: ChangeInput,
  behavior: Pick<StripeLibrary.SubscriptionUpdateParams, 'proration_behavior' | 'payment_behavior'>,
): Promise<void> {
  const [price, present] = await Promise.all([
    prices.of(plan),
    stripe.subscriptions.list({ customer: subscription.customer_id, status: 'all', limit: 100 }),
  ]);
  const item = present.data.find(({ id }) => id === subscription.subscription_id)?.items.data[0];
  if (!item) throw new BillingUnavailable(`Stripe has no item for the subscription ${subscription.subscription_id}`);
  await stripe.subscriptions.update(
    subscription.subscription_id,
    { items: [{ id: item.id, price, quantity }], proration_date: prorationDate(at, item), ...behavior },
    { idempotencyKey: key },
  );
}

async function listInvoices(stripe: StripeLibrary, customer: string) {
  const { data } = await stripe.invoices.list({ customer, limit: 100 });
  return data.map((it) => ({
    invoice_id: it.id,
    number: it.number ?? '',
    status: it.status ?? 'draft',
    currency: it.currency,
    total: it.total,
    amount_due: it.status === 'open' ? it.amount_remaining : 0,
    created_at: new Date(it.created * 1000),
    url: it.hosted_invoice_url ?? '',
    pdf_url: it.invoice_pdf ?? '',
  }));
}
