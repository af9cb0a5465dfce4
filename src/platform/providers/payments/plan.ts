import type { Quotas } from '../../core/quotas.ts';

/** A plan of the catalogue (billing/plans.ts). */
export interface Plan {
  plan_id: string;
  name: string;
  description: string;
  /** Null where nothing is charged periodically. */
  interval: 'month' | 'year' | null;
  /** ISO 4217 in lower case. */
  currency: string;
  /** Per seat and interval, in minor units (cents). */
  unit_amount: number;
  /** Included seats; a subscription grants its quantity if that is more. */
  seats: number;
  /** Seats are not limited; `seats` is 0 then. */
  unlimited: boolean;
  /** Members beyond the seats may be invited, and are charged on the next invoice. */
  overage_allowed: boolean;
  checkout: 'none' | 'subscription' | 'contact_sales';
  /** When a change of the seats is charged: with the next invoice, at once, or not before the next period. */
  proration_behavior: 'create_prorations' | 'always_invoice' | 'none';
  /** How long after a failed payment writes are accepted. */
  grace_days: number;
  /** What a workspace on it may have; what is not named has the limit of the service. */
  limits?: Quotas;
}
