import type { Plan } from './plan.ts';

/** A subscription at the provider that is not ended. */
export interface ProviderSubscription {
  subscription_id: string;
  /** The plan of its price; where no plan of the catalogue has that price, the price's own name. */
  plan_id: string;
  currency: string;
  quantity: number;
  period_start: Date;
  period_end: Date;
  created: Date;
  cancel_at_period_end: boolean;
  /** What open invoices ask for, in minor units. */
  amount_due: number;
  /** Since when the oldest open invoice is unpaid; null: everything is paid. */
  unpaid_since: Date | null;
}

/** A customer at the provider; deleted ones have no subscriptions. */
export interface ProviderCustomer {
  is_deleted: boolean;
  /** Oldest first. */
  subscriptions: ProviderSubscription[];
}

interface ProviderInvoice {
  invoice_id: string;
  number: string;
  /** draft, open, paid, uncollectible or void. */
  status: string;
  currency: string;
  /** In minor units. */
  total: number;
  amount_due: number;
  created_at: Date;
  /** Where it can be read and paid; "" where there is none. */
  url: string;
  pdf_url: string;
}

/** A verified message of the provider. It says that something changed; what, is asked for. */
interface ProviderEvent {
  event_id: string;
  type: string;
  /** "" where it is about no customer. */
  customer_id: string;
  created: Date;
}

/**
 * A payment provider with customers and subscriptions. Errors of all: BillingUnavailable; of those that name a customer or
 * a subscription: CustomerMissing.
 */
export interface PaymentProvider {
  /** The same customer for the same key. */
  createCustomer(input: { workspace_id: string; email: string; key: string }): Promise<string>;
  readCustomer(customer_id: string): Promise<ProviderCustomer>;
  /** Expires checkouts that are still open. */
  expireCheckouts(customer_id: string): Promise<void>;
  /** Returns the address of the page where the customer pays. Errors: PlanUnpriced. */
  startCheckout(input: {
    customer_id: string;
    workspace_id: string;
    plan: Plan;
    quantity: number;
    success_url: string;
    cancel_url: string;
  }): Promise<string>;
  /** Returns the address of the page where the customer changes the payment method and reads invoices. */
  openPortal(customer_id: string, return_url: string): Promise<string>;
  /**
   * Changes plan and quantity in place and charges what the preview at the same `at` says, or changes nothing. The same key
   * changes once. Errors: PaymentDeclined, PlanUnpriced.
   */
  changePlan(input: { subscription: ChangeTarget; plan: Plan; quantity: number; at: Date; key: string }): Promise<void>;
  /** Changes the quantity with the proration of the plan. The same key changes once. */
  changeQuantity(input: {
    subscription: ChangeTarget;
    plan: Plan;
    quantity: number;
    at: Date;
    key: string;
  }): Promise<void>;
  setCancelAtPeriodEnd(subscription_id: string, value: boolean): Promise<void>;
  /** Ends a subscription that the customer paid in addition to another one, and refunds it. */
  refundDuplicate(customer_id: string, subscription_id: string): Promise<void>;
  /** Refunds what a deleted customer paid for the same time as another subscription. */
  refundOverlaps(customer_id: string): Promise<void>;
  /** Newest first, at most 100. */
  listInvoices(customer_id: string): Promise<ProviderInvoice[]>;
  /** Verifies and reads a message. Errors: BadSignature, ForeignEvent, UnreadableEvent. */
  readEvent(body: Buffer, signature: string): Promise<ProviderEvent>;
}

type ChangeTarget = Pick<ProviderSubscription, 'subscription_id' | 'currency'> & { customer_id: string };

/** The customer was deleted at the provider. */
export class CustomerMissing extends Error {
  override name = 'CustomerMissing';
}

/** The payment was declined; nothing was changed. */
export class PaymentDeclined extends Error {
  override name = 'PaymentDeclined';
}

/** The provider has no price for a plan, or another one than the catalogue. The message says which. */
export class PlanUnpriced extends Error {
  override name = 'PlanUnpriced';
}

/** A message whose signature is wrong or whose time is not now. */
export class BadSignature extends Error {
  override name = 'BadSignature';
}

/** A message of another account, or of test mode at a live service. */
export class ForeignEvent extends Error {
  override name = 'ForeignEvent';
}

/** A signed message that is no event with its object. */
export class UnreadableEvent extends Error {
  override name = 'UnreadableEvent';
}
