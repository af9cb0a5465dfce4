import type StripeLibrary from 'stripe';
import { toMajorUnits } from './money.ts';
import {
  type BillingPreview,
  BillingUnavailable,
  contactSales,
  kindOfChange,
  type LineItem,
  type Plan,
  type PreviewInput,
  priced,
} from './payments.ts';
import { prorationDate, type StripeContext } from './stripe-context.ts';

/** Returns the invoice that Stripe would create now, with the customer's taxes and credits. */
export async function stripePreview(context: StripeContext, input: PreviewInput): Promise<BillingPreview> {
  const { plan, current } = input;
  const kind = kindOfChange(input);
  if (kind === null) return priced(plan, null, []);
  // Only the operator can change a plan that the operator assigned.
  if (kind === 'contact_sales' || (current && current.subscription_id === '')) return contactSales(plan);
  const quantity = Math.max(input.active, 1);
  const price = await context.prices.of(plan);
  const params =
    kind === 'update' && current
      ? await changeParams(context, input, { price, quantity })
      : newParams(context, input, { price, quantity });
  return toPreview(plan, kind, await context.stripe.invoices.createPreview(params), context.plans);
}

interface Item {
  price: string;
  quantity: number;
}

function newParams(
  { automatic_tax }: StripeContext,
  { customer_id, current }: PreviewInput,
  item: Item,
): StripeLibrary.InvoiceCreatePreviewParams {
  // Without a customer Stripe has no address to tax; Checkout asks for the address and shows the tax.
  return {
    subscription_details: { items: [item] },
    // A customer has one currency. If a current plan cannot be changed in place, the new plan has another currency.
    ...(customer_id !== '' && !current && { customer: customer_id, automatic_tax: { enabled: automatic_tax } }),
  };
}

/** Uses the same parameters as the actual change, so that Stripe charges the previewed amount. */
async function changeParams(
  { stripe }: StripeContext,
  { customer_id, current, now }: PreviewInput,
  item: Item,
): Promise<StripeLibrary.InvoiceCreatePreviewParams> {
  const { data } = await stripe.subscriptions.list({ customer: customer_id, status: 'all', limit: 100 });
  const present = data.find(({ id }) => id === current?.subscription_id)?.items.data[0];
  if (!present) throw new BillingUnavailable(`Stripe has no subscription ${current?.subscription_id}`);
  return {
    customer: customer_id,
    subscription: current?.subscription_id ?? '',
    subscription_details: {
      items: [{ id: present.id, ...item }],
      proration_behavior: 'always_invoice',
      proration_date: prorationDate(now, present),
    },
  };
}

function toPreview(
  plan: Plan,
  kind: 'subscription' | 'update',
  invoice: StripeLibrary.Invoice,
  plans: readonly Plan[],
): BillingPreview {
  const { currency } = invoice;
  const lines = invoice.lines.data.map((line) => lineOf(line, plan, plans));
  const shown = lines.reduce((sum, { total }) => sum + total, 0);
  // A credit first pays the customer's debt; the rest of it is applied to later invoices.
  const isCredit = invoice.total < 0 && invoice.amount_due === 0;
  const due = isCredit ? invoice.total + Math.max(0, invoice.starting_balance) : invoice.amount_due;
  const adjustments: Line[] = [
    // Stripe returns only the first lines of a long invoice.
    { name: 'Other items', subtotal: 0, total: invoice.total - shown },
    { name: 'Account balance', subtotal: 0, total: due - invoice.total },
  ]
    .filter(({ total }) => total !== 0)
    .map((line) => ({ ...line, description: '', quantity: 1, subtotal: line.total }));
  const all = [...lines, ...adjustments];
  const major = (minor: number) => toMajorUnits(minor, currency);
  return {
    plan_id: plan.plan_id,
    checkout_type: kind,
    currency,
    line_items: all.map((line) => ({ ...line, subtotal: major(line.subtotal), total: major(line.total) })),
    redirect_to_checkout: kind === 'subscription',
    subtotal: major(all.reduce((sum, { subtotal }) => sum + subtotal, 0)),
    total: major(due),
  };
}

/** A line item in minor units. */
type Line = LineItem;

function lineOf(line: StripeLibrary.InvoiceLineItem, plan: Plan, plans: readonly Plan[]): Line {
  const discount = (line.discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
  const added = (line.taxes ?? []).filter(({ tax_behavior }) => tax_behavior === 'exclusive');
  const tax = added.reduce((sum, { amount }) => sum + amount, 0);
  const subtotal = line.amount - discount;
  const description = line.description ?? '';
  return {
    name: nameOf(line, plan, plans),
    description,
    quantity: line.quantity ?? 1,
    subtotal,
    total: subtotal + tax,
  };
}

function nameOf(line: StripeLibrary.InvoiceLineItem, plan: Plan, plans: readonly Plan[]): string {
  if (line.amount < 0) return 'Unused time';
  const price = line.pricing?.price_details?.price;
  const key = typeof price === 'object' ? price.lookup_key : undefined;
  return plans.find(({ plan_id }) => plan_id === key)?.name ?? plan.name;
}
