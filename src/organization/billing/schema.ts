import { type Static, type TSchema, Type } from 'typebox';
import { ApiError } from '../../platform/core/errors.ts';
import { Flag, Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import type { Plan as CataloguePlan } from '../../platform/providers/payments/payments.ts';
import { Seats } from '../workspaces/seats.ts';

/** A plan of the catalogue, as shown to a workspace. */
export const Plan = Record(
  {
    plan_id: Type.String(),
    name: Type.String(),
    description: Text,
    interval: Type.String({ description: 'month or year; "" if there is no recurring charge.' }),
    currency: Type.String({ description: 'ISO 4217 in lower case.' }),
    unit_price: Type.Number({ description: 'Per seat and interval, in major units.' }),
    seats: Type.Integer({ description: 'Seats included in the plan; 0 if they are unlimited.' }),
    unlimited: Flag,
    checkout: Type.String({ description: 'How to subscribe: none, subscription or contact_sales.' }),
    current: Type.Boolean({ default: false, description: 'Whether the workspace is on this plan.' }),
  },
  { title: 'Plan' },
);
export type Plan = Static<typeof Plan>;

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()], { default: null });

/** The cost of a plan for the workspace. */
export const BillingPreview = Record(
  {
    plan_id: Type.String(),
    checkout_type: Nullable(Type.String()),
    currency: Nullable(Type.String({ description: 'ISO 4217 in lower case.' })),
    line_items: Type.Array(
      Record(
        {
          name: Type.String(),
          description: Type.String(),
          quantity: Type.Integer(),
          subtotal: Type.Number(),
          total: Type.Number(),
        },
        { title: 'LineItem' },
      ),
      { default: [] },
    ),
    redirect_to_checkout: Type.Boolean({ default: false }),
    subtotal: Nullable(Type.Number({ description: 'In major units.' })),
    total: Nullable(Type.Number({ description: 'In major units.' })),
  },
  { title: 'BillingPreview' },
);
export type BillingPreview = Static<typeof BillingPreview>;

export const examplePreview: BillingPreview = {
  plan_id: 'team_monthly',
  checkout_type: 'subscription',
  currency: 'usd',
  line_items: [{ name: 'Team', description: '5 seats, billed monthly', quantity: 5, subtotal: 40, total: 40 }],
  redirect_to_checkout: true,
  subtotal: 40,
  total: 40,
};

/** A redirect to a page of the payment provider. */
export const Redirect = Record(
  {
    url: Type.String({ description: 'Where to redirect the browser. The URL works once and expires soon.' }),
  },
  { title: 'Redirect' },
);
export const exampleRedirect = { url: 'https://checkout.stripe.com/c/pay/cs_live_a1b2c3' };

export const Billing = Record(
  {
    organization_id: Id,
    plan_id: Type.String({ description: '"" if the workspace has no plan.' }),
    status: Type.Enum(['none', 'active', 'past_due', 'read_only'], {
      description:
        'past_due: a payment failed, and the workspace works until writes_end_at. read_only: writes are refused with 402.',
    }),
    paid_online: Type.Boolean({
      default: false,
      description: 'Whether plans are paid through a payment provider. If not, the operator sets them.',
    }),
    plan_source: Type.Enum(['', 'provider', 'operator'], { description: 'Who sets the plan.' }),
    quantity: Type.Integer({ description: 'Number of paid seats; 0 without a subscription.' }),
    seats: Seats,
    currency: Type.String({ description: 'ISO 4217 in lower case; "" if nothing is paid.' }),
    amount_due: Type.Number({ description: 'Total due on open invoices, in major units.' }),
    period_start: Type.Optional(Timestamp),
    period_end: Type.Optional(Timestamp),
    cancel_at_period_end: Flag,
    writes_end_at: Type.Optional(Timestamp),
    checkout_pending: Type.Boolean({
      default: false,
      description: 'Whether a checkout was opened in the last day and is still unpaid.',
    }),
  },
  { title: 'Billing' },
);
export type Billing = Static<typeof Billing>;

export const exampleBilling: Billing = {
  organization_id: 'org_01jd8w3v6xf3e8h2k9m4n5p6w1',
  plan_id: 'team_monthly',
  status: 'active',
  paid_online: true,
  plan_source: 'provider',
  quantity: 5,
  seats: { active: 5, used: 6, granted: 5, blocked: false, overage_allowed: true, pending: 1, unlimited: false },
  currency: 'usd',
  amount_due: 0,
  period_start: '2026-11-21T05:29:32.000Z',
  period_end: '2026-12-21T05:29:32.000Z',
  cancel_at_period_end: false,
  checkout_pending: false,
};

export const Invoice = Record(
  {
    invoice_id: Type.String(),
    number: Type.String({ description: '"" for drafts.' }),
    status: Type.String({ description: 'draft, open, paid, uncollectible or void.' }),
    currency: Type.String({ description: 'ISO 4217 in lower case.' }),
    total: Type.Number({ description: 'In major units.' }),
    amount_due: Type.Number({ description: 'Amount still due, in major units.' }),
    created_at: Timestamp,
    url: Type.String({ description: 'Page where the invoice can be viewed and paid; "" if there is none.' }),
    pdf_url: Text,
  },
  { title: 'Invoice' },
);
export type Invoice = Static<typeof Invoice>;

/** Whether the subscription ends with its current period. */
export const Cancellation = Record({ cancel_at_period_end: Flag, period_end: Timestamp }, { title: 'Cancellation' });

/** Largest amount of one charge, in minor units. */
const AMOUNT_MAX = 99_999_999;

export function fitsCharge({ unit_amount }: CataloguePlan, quantity: number): boolean {
  return unit_amount * quantity <= AMOUNT_MAX;
}

/** Returns the number of seats to pay for: one per active member, at least one. Throws 409 `quantity_too_large`. */
export function requireQuantity(plan: CataloguePlan, active: number): number {
  const quantity = Math.max(active, 1);
  if (fitsCharge(plan, quantity)) return quantity;
  throw new ApiError(
    'quantity_too_large',
    `${quantity} seats of this plan exceed the largest possible charge. Ask the operator for a contract.`,
  );
}

export function notSubscribed(): ApiError {
  return new ApiError('not_subscribed', 'The workspace has no subscription paid online. Start a checkout first.');
}
