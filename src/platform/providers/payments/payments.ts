import { formatMoney, share, toMajorUnits } from './money.ts';
import type { Plan } from './plan.ts';
import { type PaymentProvider, PlanUnpriced } from './provider.ts';

export type { Plan } from './plan.ts';

export interface Subscription {
  /** ID at the payment provider; "" if the operator assigned the plan. */
  subscription_id: string;
  plan_id: string;
  /** Purchased seats. */
  quantity: number;
  period_start: Date;
  period_end: Date;
}

export interface PreviewInput {
  plan: Plan;
  current: Subscription | null;
  /** The plan of `current`; null if there is no subscription, or its plan is no longer in the catalogue. */
  current_plan: Plan | null;
  /** ID at the payment provider; "" before the first checkout. */
  customer_id: string;
  /** Active members. */
  active: number;
  now: Date;
}

/** Amounts are in major units (19.99). Credits are negative. */
export interface LineItem {
  name: string;
  description: string;
  quantity: number;
  subtotal: number;
  total: number;
}

export interface BillingPreview {
  plan_id: string;
  checkout_type: 'subscription' | 'update' | 'contact_sales' | null;
  currency: string | null;
  line_items: LineItem[];
  redirect_to_checkout: boolean;
  subtotal: number | null;
  /** Negative if the credits exceed the charges; the rest is applied to later invoices. */
  total: number | null;
}

export interface Payments {
  /** Returns the price of changing to a plan now. Stores nothing. Throws BillingUnavailable or PlanUnpriced. */
  preview(input: PreviewInput): Promise<BillingPreview>;
  /** The payment provider; undefined if the operator assigns the plans. */
  provider: PaymentProvider | undefined;
}

/** No price is available at the moment. Becomes a 503. */
export class BillingUnavailable extends Error {
  override name = 'BillingUnavailable';
}

/**
 * Computes previews from the catalogue only, without network and taxes, so subtotals equal totals. Follows the rules of
 * the large payment providers. A change within the same interval keeps the period and charges the rest of it; a change
 * of the interval starts a new period. In both cases the unused time of the old plan is credited.
 */
export function builtInPayments(): Payments {
  return { preview: async (input) => preview(input), provider: undefined };
}

/** A line item whose amount is still in minor units. */
interface Line {
  name: string;
  description: string;
  quantity: number;
  minor: number;
}

/** Returns how to change to the plan; null if nothing has to be paid. Throws PlanUnpriced. */
export function kindOfChange({ plan, current, current_plan }: PreviewInput): BillingPreview['checkout_type'] {
  // A change from a paid plan to a free plan takes effect at the end of the period, without charge or refund.
  if (current?.plan_id === plan.plan_id || plan.checkout === 'none') return null;
  if (plan.checkout === 'contact_sales') return 'contact_sales';
  if (current && !current_plan) {
    throw new PlanUnpriced(
      `The plan "${current.plan_id}" of a subscription is not in the catalogue: put it back into PLANS_FILE until no workspace uses it.`,
    );
  }
  // A contract has its own price, and a checkout would be paid in addition to it.
  if (current_plan?.checkout === 'contact_sales') return 'contact_sales';
  // No provider can change the currency of a subscription.
  const isNew = !current_plan || current_plan.checkout === 'none' || current_plan.currency !== plan.currency;
  return isNew ? 'subscription' : 'update';
}

function preview(input: PreviewInput): BillingPreview {
  const { plan, current, current_plan } = input;
  const kind = kindOfChange(input);
  if (kind === null) return priced(plan, null, []);
  if (kind === 'contact_sales') return contactSales(plan);
  const quantity = Math.max(input.active, 1);
  if (kind === 'subscription' || !current || !current_plan) {
    return priced(plan, 'subscription', [fullCharge(plan, quantity)]);
  }
  return priced(plan, 'update', changeLines(plan, quantity, current, current_plan, input.now));
}

function changeLines(plan: Plan, quantity: number, current: Subscription, current_plan: Plan, now: Date): Line[] {
  const period = seconds(current.period_end) - seconds(current.period_start);
  const rest = Math.min(seconds(current.period_end) - seconds(now), period);
  // The period has ended but is not renewed yet, so no unused time can be credited.
  if (rest <= 0) return [fullCharge(plan, quantity)];

  const span = `from ${day(now)} until ${day(current.period_end)}`;
  const credit: Line = {
    name: `Unused time on ${current_plan.name}`,
    description: `Credit for ${seatsAt(current_plan, current.quantity)}, ${span}`,
    quantity: current.quantity,
    minor: 0 - share(current_plan.unit_amount * current.quantity, rest, period),
  };
  if (plan.interval !== current_plan.interval) return [credit, fullCharge(plan, quantity)];
  const charge: Line = {
    name: plan.name,
    description: `${seatsAt(plan, quantity)}, ${span}`,
    quantity,
    minor: share(plan.unit_amount * quantity, rest, period),
  };
  return [credit, charge];
}

function fullCharge(plan: Plan, quantity: number): Line {
  return { name: plan.name, description: seatsAt(plan, quantity), quantity, minor: plan.unit_amount * quantity };
}

/** Builds a preview in the currency of the plan from lines in minor units. */
export function priced(plan: Plan, checkout_type: 'subscription' | 'update' | null, lines: Line[]): BillingPreview {
  const { plan_id, currency } = plan;
  const sum = lines.reduce((total, line) => total + line.minor, 0);
  const total = toMajorUnits(sum, currency);
  const line_items = lines.map(({ minor, ...line }) => {
    const amount = toMajorUnits(minor, currency);
    return { ...line, subtotal: amount, total: amount };
  });
  const redirect_to_checkout = checkout_type === 'subscription';
  return { plan_id, checkout_type, currency, line_items, redirect_to_checkout, subtotal: total, total };
}

export function contactSales({ plan_id }: Plan): BillingPreview {
  return {
    plan_id,
    checkout_type: 'contact_sales',
    currency: null,
    line_items: [],
    redirect_to_checkout: false,
    subtotal: null,
    total: null,
  };
}

function seatsAt(plan: Plan, quantity: number): string {
  const seats = quantity === 1 ? '1 seat' : `${quantity} seats`;
  return `${seats} at ${formatMoney(plan.unit_amount, plan.currency)} per ${plan.interval}`;
}

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);
const day = (date: Date) => date.toISOString().slice(0, 10);
