import type { Plan } from '../../../src/organization/billing/plans.ts';

export type CataloguePlan = Pick<Plan, 'plan_id' | 'name' | 'interval' | 'currency' | 'unit_amount' | 'checkout'> &
  Partial<Plan>;

/** Odd amounts, so that every proration needs rounding, in currencies with two, no and three decimals. */
const AMOUNTS: [name: string, currency: string, month: number, year: number][] = [
  ['team', 'usd', 799, 7_993],
  ['business', 'usd', 1_501, 15_007],
  ['team', 'jpy', 901, 9_007],
  ['business', 'jpy', 1_733, 17_011],
  ['team', 'kwd', 2_467, 24_671],
  ['business', 'kwd', 4_621, 46_199],
];

/** A free plan, paid monthly and annual plans in three currencies, and a contract. */
export const CATALOGUE: CataloguePlan[] = [
  { ...free('free', 3), checkout: 'none' },
  ...AMOUNTS.flatMap(([name, currency, month, year]) => [
    paid(`${name}_${currency}_monthly`, currency, 'month', month),
    paid(`${name}_${currency}_annual`, currency, 'year', year),
  ]),
  { ...free('enterprise', 0), checkout: 'contact_sales', unlimited: true },
];

function free(plan_id: string, seats: number) {
  return { plan_id, name: plan_id, interval: null, currency: 'usd', unit_amount: 0, seats };
}

function paid(plan_id: string, currency: string, interval: 'month' | 'year', unit_amount: number): CataloguePlan {
  const dunning = { overage_allowed: true, grace_days: 10, seats: 1 };
  return { plan_id, name: plan_id, interval, currency, unit_amount, checkout: 'subscription', ...dunning };
}
