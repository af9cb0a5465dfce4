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
    interval: Type.String({ description: 'month, year, or "" where nothing is charged by the calendar.' }),
    currency: Type.String({ description: 'ISO 4217 in lower case.' }),
    unit_price: Type.Number({ description: 'For each seat and interval, in major units.' }),
    seats: Type.Integer({ description: 'Seats that come with it; 0 where they are unlimited.' }),
    unlimited: Flag,
    checkout: Type.String({ description: 'How one comes to it: none, subscription or contact_sales.' }),
    current: Type.Boolean({ default: false, description: 'The workspace is on it.' }),
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
  line_items: [{ name: 'Team', description: '5 seats, paid every month', quantity: 5, subtotal: 40, total: 40 }],
  redirect_to_checkout: true,
  subtotal: 40,
  total: 40,
};

/** A redirect to a page of the payment provider. */
export const Redirect = Record(
  {
    url: Type.String({ description: 'Where to send the browser. It works once, and soon.' }),
  },
  { title: 'Redirect' },
);
export const exampleRedirect = { url: 'https://checkout.stripe.com/c/pay/cs_live_a1b2c3' };

export const Billing = Record(
  {
    organization_id: Id,
    plan_id: Type.String({ description: '"" where it is on no plan.' }),
    status: Type.Enum(['none', 'active', 'past_due', 'read_only'], {
      description:
        'past_due: a payment failed, and the workspace works until writes_end_at; read_only: writes are refused with 402.',
    }),
    paid_online: Type.Boolean({
      default: false,
      description: 'Plans are paid at a payment provider; else the operator sets them.',
    }),
    plan_source: Type.Enum(['', 'provider', 'operator'], { description: 'Who changes the plan.' }),
    quantity: Type.Integer({ description: 'Seats that are paid; 0 where there is no subscription.' }),
    seats: Seats,
    currency: Type.String({ description: 'ISO 4217 in lower case; "" where nothing is paid.' }),
    amount_due: Type.Number({ description: 'Of open invoices, in major units.' }),
    period_start: Type.Optional(Timestamp),
    period_end: Type.Optional(Timestamp),
    cancel_at_period_end: Flag,
    writes_end_at: Type.Optional(Timestamp),
    checkout_pending: Type.Boolean({
      default: false,
      description: 'A checkout was opened within a day, and is not paid.',
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
    number: Type.String({ description: '"" while it is a draft.' }),
    status: Type.String({ description: 'draft, open, paid, uncollectible or void.' }),
    currency: Type.String({ description: 'ISO 4217 in lower case.' }),
    total: Type.Number({ description: 'In major units.' }),
    amount_due: Type.Number({ description: 'What is still to be paid, in major units.' }),
    created_at: Timestamp,
    url: Type.String({ description: 'Where it is read and paid; "" where there is none.' }),
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
    `${quantity} seats of this plan are more than one payment can be. Ask the operator for a contract.`,
  );
}

export function notSubscribed(): ApiError {
  return new ApiError(
    'not_subscribed',
    'The workspace has no subscription that is paid online. Start a checkout first.',
  );
}
