import type StripeLibrary from 'stripe';
import type { Plan } from './payments.ts';
import { PlanUnpriced } from './provider.ts';

export interface StripePrices {
  /** Returns the ID of the plan's price. Throws PlanUnpriced. */
  of(plan: Plan): Promise<string>;
}

/** Finds prices by `lookup_key`, which is the ID of the plan. */
export function openStripePrices(stripe: StripeLibrary): StripePrices {
  return {
    async of(plan) {
      const { data } = await stripe.prices.list({ lookup_keys: [plan.plan_id], active: true });
      const price = data[0];
      if (!price) {
        throw new PlanUnpriced(
          `Stripe has no active price with the lookup_key "${plan.plan_id}": create one, or remove the plan from PLANS_FILE.`,
        );
      }
      const { currency, unit_amount, recurring } = price;
      if (currency !== plan.currency || unit_amount !== plan.unit_amount || recurring?.interval !== plan.interval) {
        throw new PlanUnpriced(
          `The Stripe price "${plan.plan_id}" is ${unit_amount} ${currency} per ${recurring?.interval}, but the catalogue says ${plan.unit_amount} ${plan.currency} per ${plan.interval}: make them equal.`,
        );
      }
      return price.id;
    },
  };
}

/**
 * Returns the plan of a price. If the catalogue has no such plan, returns the price's own name, which is not a plan ID.
 */
export function planIdOf(
  { lookup_key, id }: Pick<StripeLibrary.Price, 'lookup_key' | 'id'>,
  plans: readonly Plan[],
): string {
  return plans.find((plan) => plan.plan_id === lookup_key)?.plan_id ?? lookup_key ?? id;
}
