import { readFileSync } from 'node:fs';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';

export interface Price {
  id: string;
  lookup_key: string;
  currency: string;
  unit_amount: number;
  interval: 'month' | 'year';
  active: boolean;
}

export interface Customer {
  id: string;
  email: string;
  metadata: Record<string, string>;
  /** In minor units; a credit is negative. */
  balance: number;
  deleted: boolean;
  /** Tax in percent, if automatic tax is on. */
  tax_percent: number;
  /** Whether prices include the tax. */
  tax_behavior: 'exclusive' | 'inclusive';
  /** Discount on charges in percent. */
  discount_percent: number;
  /** Whether payments by the customer's card are declined. */
  declines: boolean;
}

export interface Subscription {
  id: string;
  item_id: string;
  customer: string;
  price: Price;
  quantity: number;
  status: 'active' | 'past_due' | 'canceled';
  cancel_at_period_end: boolean;
  anchor: number;
  period_start: number;
  period_end: number;
  created: number;
  ended_at: number | null;
  automatic_tax: boolean;
  metadata: Record<string, string>;
}

export interface Line {
  description: string;
  amount: number;
  quantity: number;
  price: string;
  proration: boolean;
  period: { start: number; end: number };
  discount: number;
  tax: number;
  tax_behavior: 'exclusive' | 'inclusive';
}

export interface Invoice {
  id: string;
  number: string;
  customer: string;
  subscription: string;
  currency: string;
  status: 'open' | 'paid';
  created: number;
  lines: Line[];
  subtotal: number;
  total: number;
  starting_balance: number;
  ending_balance: number;
  amount_due: number;
  amount_paid: number;
  refunded: number;
}

export interface Session {
  id: string;
  customer: string;
  status: 'open' | 'complete' | 'expired';
  price: Price;
  quantity: number;
  automatic_tax: boolean;
  metadata: Record<string, string>;
  success_url: string;
  cancel_url: string;
  created: number;
}

const FIXTURES: Record<string, object> = JSON.parse(
  readFileSync(new URL('test/stripe/fixtures.json', PACKAGE), 'utf8'),
);

/**
 * Returns Stripe's published example of a resource with these fields replaced. Shares the example, so do not change the
 * result.
 */
function shaped(resource: string, fields: object): object {
  return { ...FIXTURES[resource], ...fields };
}

const listOf = (data: object[], url: string) => ({ object: 'list', data, has_more: false, url });

export function customerJson(it: Customer): object {
  if (it.deleted) return { id: it.id, object: 'customer', deleted: true };
  const { id, email, metadata, balance } = it;
  return shaped('customer', { id, email, metadata, balance, discount: null });
}

export function priceJson({ id, lookup_key, currency, unit_amount, interval, active }: Price): object {
  const recurring = { interval, interval_count: 1, meter: null, usage_type: 'licensed', trial_period_days: null };
  const fields = { id, lookup_key, currency, unit_amount, unit_amount_decimal: String(unit_amount), active, recurring };
  return shaped('price', { ...fields, transform_quantity: null, custom_unit_amount: null });
}

export function subscriptionJson(it: Subscription, latest_invoice: string | null): object {
  const item = shaped('subscription_item', {
    id: it.item_id,
    subscription: it.id,
    price: priceJson(it.price),
    quantity: it.quantity,
    current_period_start: it.period_start,
    current_period_end: it.period_end,
  });
  return shaped('subscription', {
    id: it.id,
    customer: it.customer,
    status: it.status,
    currency: it.price.currency,
    created: it.created,
    start_date: it.created,
    billing_cycle_anchor: it.anchor,
    cancel_at_period_end: it.cancel_at_period_end,
    cancel_at: it.cancel_at_period_end ? it.period_end : null,
    canceled_at: it.ended_at,
    ended_at: it.ended_at,
    pause_collection: null,
    pending_update: null,
    metadata: it.metadata,
    items: listOf([item], `/v1/subscription_items?subscription=${it.id}`),
    latest_invoice,
  });
}

export function invoiceJson(it: Invoice): object {
  const lines = it.lines.map((line, index) =>
    shaped('line_item', {
      id: `il_${it.id}_${index}`,
      invoice: it.id,
      amount: line.amount,
      subtotal: line.amount,
      currency: it.currency,
      description: line.description,
      quantity: line.quantity,
      period: line.period,
      discount_amounts: line.discount === 0 ? [] : [{ amount: line.discount, discount: 'di_1' }],
      pricing: {
        type: 'price_details',
        price_details: { price: line.price, product: 'prod_1' },
        unit_amount_decimal: null,
      },
      taxes: [
        {
          amount: line.tax,
          tax_behavior: line.tax_behavior,
          tax_rate_details: null,
          taxability_reason: 'standard_rated',
          taxable_amount: line.amount - line.discount,
          type: 'tax_rate_details',
        },
      ],
    }),
  );
  const { subscription, ...fields } = it;
  const sum = (of: (line: Line) => number) => it.lines.reduce((total, line) => total + of(line), 0);
  const taxIncluded = sum(({ tax, tax_behavior }) => (tax_behavior === 'inclusive' ? tax : 0));
  const tax_behavior = taxIncluded === 0 ? 'exclusive' : 'inclusive';
  const tax = sum((line) => line.tax);
  const discount = sum((line) => line.discount);
  const details = { metadata: null, subscription };
  return shaped('invoice', {
    ...fields,
    parent: { type: 'subscription_details', quote_details: null, subscription_details: details },
    total_discount_amounts: discount === 0 ? [] : [{ amount: discount, discount: 'di_1' }],
    lines: listOf(lines, `/v1/invoices/${it.id}/lines`),
    amount_remaining: it.amount_due - it.amount_paid,
    post_payment_credit_notes_amount: it.refunded,
    attempted: true,
    attempt_count: 1,
    due_date: null,
    total_excluding_tax: it.subtotal - discount - taxIncluded,
    total_taxes: [
      {
        amount: tax,
        tax_behavior,
        tax_rate_details: null,
        taxability_reason: 'standard_rated',
        taxable_amount: it.subtotal - discount - taxIncluded,
        type: 'tax_rate_details',
      },
    ],
    hosted_invoice_url: `https://invoice.stripe.example/${it.id}`,
    invoice_pdf: `https://invoice.stripe.example/${it.id}/pdf`,
    period_start: it.created,
    period_end: it.created,
  });
}

export function sessionJson(it: Session, url: string, subscription: string | null): object {
  const { id, customer, status, metadata, success_url, cancel_url, created } = it;
  const payment_status = status === 'complete' ? 'paid' : 'unpaid';
  const fields = { id, customer, status, metadata, success_url, cancel_url, created, subscription, payment_status };
  return shaped('checkout.session', {
    ...fields,
    mode: 'subscription',
    payment_intent: null,
    url: status === 'open' ? url : null,
  });
}

export function portalJson(id: string, customer: string, return_url: string, url: string): object {
  return shaped('billing_portal.session', { id, customer, return_url, url, flow: null });
}

export function eventJson(id: string, type: string, object: object, created: number): object {
  return shaped('event', { id, type, created, data: { object }, livemode: false });
}

export function creditNoteJson(id: string, invoice: string, amount: number): object {
  return shaped('credit_note', { id, invoice, amount, total: amount, status: 'issued', reason: 'duplicate' });
}
