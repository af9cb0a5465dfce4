import type { Plan } from './plan.ts';

/** A subscription at the provider that has not ended. */
export interface ProviderSubscription {
  subscription_id: string;
  /** The plan with the subscription's price; if the catalogue has no such plan, the price's own name. */
  plan_id: string;
  currency: string;
  quantity: number;
  period_start: Date;
  period_end: Date;
  created: Date;
  cancel_at_period_end: boolean;
  /** Total of the open invoices in minor units. */
  amount_due: number;
  /** Date of the oldest unpaid invoice; null if everything is paid. */
  unpaid_since: Date | null;
}

/** A customer at the provider. A deleted customer has no subscriptions. */
export interface ProviderCustomer {
  is_deleted: boolean;
  /** Oldest first. */
  subscriptions: ProviderSubscription[];
}

interface ProviderInvoice {
  invoice_id: string;
  number: string;
  /** One of draft, open, paid, uncollectible and void. */
  status: string;
  currency: string;
  /** In minor units, as is `amount_due`. */
  total: number;
  amount_due: number;
  created_at: Date;
  /** Where the invoice can be viewed and paid; "" if there is no such page. */
  url: string;
  pdf_url: string;
}

/** A verified event of the provider. It only says that something changed; the service then reads the current state. */
interface ProviderEvent {
  event_id: string;
  type: string;
  /** "" if the event does not concern a customer. */
  customer_id: string;
  created: Date;
}

/**
 * A payment provider with customers and subscriptions. All methods throw BillingUnavailable; methods with a customer or
 * a subscription also throw CustomerMissing.
 */
export interface PaymentProvider {
  /** Creates a customer and returns its ID. The same key always yields the same customer. */
  createCustomer(input: { workspace_id: string; email: string; key: string }): Promise<string>;
  readCustomer(customer_id: string): Promise<ProviderCustomer>;
  /** Expires all open checkouts of the customer. */
  expireCheckouts(customer_id: string): Promise<void>;
  /** Returns the URL of the page where the customer pays. Throws PlanUnpriced. */
  startCheckout(input: {
    customer_id: string;
    workspace_id: string;
    plan: Plan;
    quantity: number;
    success_url: string;
    cancel_url: string;
  }): Promise<string>;
  /** Returns the URL of the page where the customer changes the payment method and reads invoices. */
  openPortal(customer_id: string, return_url: string): Promise<string>;
  /**
   * Changes plan and quantity in place and charges the amount of the preview for the same `at`, or changes nothing.
   * Repeated calls with the same key have no effect. Throws PaymentDeclined or PlanUnpriced.
   */
  changePlan(input: { subscription: ChangeTarget; plan: Plan; quantity: number; at: Date; key: string }): Promise<void>;
  /** Changes the quantity with the proration of the plan. Repeated calls with the same key have no effect. */
  changeQuantity(input: {
    subscription: ChangeTarget;
    plan: Plan;
    quantity: number;
    at: Date;
    key: string;
  }): Promise<void>;
  setCancelAtPeriodEnd(subscription_id: string, value: boolean): Promise<void>;
  /** Cancels and refunds a subscription that the customer bought in addition to another. */
  refundDuplicate(customer_id: string, subscription_id: string): Promise<void>;
  /** Refunds payments of a deleted customer for periods that another subscription already covered. */
  refundOverlaps(customer_id: string): Promise<void>;
  /** Returns the newest invoices first, at most 100. */
  listInvoices(customer_id: string): Promise<ProviderInvoice[]>;
  /** Verifies and parses an event. Throws BadSignature, ForeignEvent or UnreadableEvent. */
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

/** The provider has no price for a plan, or its price differs from the catalogue. The message names the difference. */
export class PlanUnpriced extends Error {
  override name = 'PlanUnpriced';
}

/** An event whose signature is invalid, or was made too long ago or in the future. */
export class BadSignature extends Error {
  override name = 'BadSignature';
}

/** An event of another account, or of test mode at a live service. */
export class ForeignEvent extends Error {
  override name = 'ForeignEvent';
}

/** A signed message that is not an event with an object. */
export class UnreadableEvent extends Error {
  override name = 'UnreadableEvent';
}
