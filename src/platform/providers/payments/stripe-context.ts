import type StripeLibrary from 'stripe';
import type { Plan } from './plan.ts';
import type { StripePrices } from './stripe-prices.ts';

/** Shared by the parts of the adapter. */
export interface StripeContext {
  stripe: StripeLibrary;
  prices: StripePrices;
  plans: readonly Plan[];
  automatic_tax: boolean;
}

/** Returns the proration date in seconds, limited to the current period of the item. */
export function prorationDate(
  at: Date,
  {
    current_period_start,
    current_period_end,
  }: Pick<StripeLibrary.SubscriptionItem, 'current_period_start' | 'current_period_end'>,
): number {
  return Math.min(Math.max(Math.floor(at.getTime() / 1000), current_period_start), current_period_end);
}
