import type { Quotas } from '../../core/quotas.ts';

/** A plan of the catalogue (billing/plans.ts). */
export interface Plan {
  plan_id: string;
  name: string;
  description: string;
  /** Null if there is no periodic charge. */
  interval: 'month' | 'year' | null;
  /** ISO 4217 in lower case. */
  currency: string;
  /** Price per seat and interval, in minor units (cents). */
  unit_amount: number;
  /** Included seats; a subscription grants its quantity if that is higher. */
  seats: number;
  /** Seats are unlimited, and `seats` is 0. */
  unlimited: boolean;
  /** Members beyond the seats can be invited; they are charged on the next invoice. */
  overage_allowed: boolean;
  checkout: 'none' | 'subscription' | 'contact_sales';
  /** When a change of seats is charged: on the next invoice, immediately, or from the next period on. */
  proration_behavior: 'create_prorations' | 'always_invoice' | 'none';
  /** Days after a failed payment during which writes are still accepted. */
  grace_days: number;
  /** Quotas of a workspace on this plan. Missing quotas default to the limits of the service. */
  limits?: Quotas;
}
