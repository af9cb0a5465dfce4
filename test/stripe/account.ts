import { randomUUID } from 'node:crypto';
import type { Customer, Invoice, Line, Price, Session, Subscription } from './objects.ts';
import { invalid, missing, StripeProblem } from './problem.ts';
import { changeLines, fullLine, type PlannedChange, periodAfter, priced, totalOf } from './proration.ts';

/** Called after a change, with the type of the event and the object that changed. */
export type OnEvent = (type: string, kind: 'customer' | 'subscription' | 'invoice' | 'session', id: string) => void;

/** The state of a Stripe account and its changes. Times are in seconds. */
export class StripeAccount {
  /** Where to send events, once a request has registered an endpoint. */
  endpoint: { url: string; enabled_events: string[] } | undefined;
  readonly customers = new Map<string, Customer>();
  readonly prices = new Map<string, Price>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly invoices = new Map<string, Invoice>();
  readonly sessions = new Map<string, Session>();
  /** Lines for the next invoice, by subscription. */
  readonly pending = new Map<string, Line[]>();
  /** Amounts charged to cards and not refunded, by customer. */
  readonly charged = new Map<string, number>();
  readonly #onEvent: OnEvent;
  /**
   * Seconds that the clock is ahead. A period that a change starts begins in a second of its own, which identifies it.
   */
  #ahead = 0;

  constructor(onEvent: OnEvent) {
    this.#onEvent = onEvent;
  }

  now(): number {
    return Math.floor(Date.now() / 1000) + this.#ahead;
  }

  addPrice(fields: Omit<Price, 'id' | 'active'>): Price {
    const price: Price = { id: newId('price'), active: true, ...fields };
    this.prices.set(price.id, price);
    return price;
  }

  addCustomer(fields: { email: string; metadata: Record<string, string> }): Customer {
    const customer = { ...NEW_CUSTOMER, id: newId('cus'), ...fields };
    this.customers.set(customer.id, customer);
    return customer;
  }

  customer(id: string): Customer {
    const customer = this.customers.get(id);
    if (!customer) throw missing('customer', id);
    return customer;
  }

  liveCustomer(id: string): Customer {
    const customer = this.customer(id);
    if (customer.deleted) throw missing('customer', id);
    return customer;
  }

  subscription(id: string): Subscription {
    const subscription = this.subscriptions.get(id);
    if (!subscription) throw missing('subscription', id);
    return subscription;
  }

  invoice(id: string): Invoice {
    const invoice = this.invoices.get(id);
    if (!invoice) throw missing('invoice', id);
    return invoice;
  }

  price(id: string): Price {
    const price = this.prices.get(id);
    if (!price) throw missing('price', id);
    if (!price.active) throw invalid('The price specified is inactive. This field only accepts active prices.');
    return price;
  }

  session(id: string): Session {
    const session = this.sessions.get(id);
    if (!session) throw missing('checkout.session', id);
    return session;
  }

  subscriptionsOf(customer: string): Subscription[] {
    return [...this.subscriptions.values()].filter((it) => it.customer === customer).reverse();
  }

  invoicesOf(customer: string): Invoice[] {
    return [...this.invoices.values()].filter((it) => it.customer === customer).reverse();
  }

  customersOf(workspace_id: string): Customer[] {
    return [...this.customers.values()].filter(({ metadata }) => metadata.workspace_id === workspace_id);
  }

  /** Returns the workspace of the first object whose id is in a text, or "" without such an object. */
  workspaceIn(text: string): string {
    const [named = ''] = /\borg_[0-9a-z]{26}/.exec(text) ?? [];
    const [id = ''] = /\b(?:cus|sub|in|cs_test)_[0-9a-f]{24}/.exec(text) ?? [];
    const of = this.subscriptions.get(id) ?? this.invoices.get(id) ?? this.sessions.get(id);
    return this.customers.get(of?.customer ?? id)?.metadata.workspace_id ?? named;
  }

  /** Deletes a customer and all its objects without a trace. */
  forget(id: string): void {
    for (const held of [this.subscriptions, this.invoices, this.sessions]) {
      for (const [key, { customer }] of held) if (customer === id) held.delete(key);
    }
    for (const key of this.pending.keys()) if (!this.subscriptions.has(key)) this.pending.delete(key);
    this.customers.delete(id);
    this.charged.delete(id);
  }

  deleteCustomer(id: string): void {
    this.customer(id).deleted = true;
    for (const it of this.subscriptionsOf(id)) if (it.status !== 'canceled') this.cancel(it.id);
    this.#onEvent('customer.deleted', 'customer', id);
  }

  /** Reports an unspecified change of the customer. */
  touchCustomer(id: string): void {
    this.#onEvent('customer.updated', 'customer', id);
  }

  addSession(fields: Omit<Session, 'id' | 'status' | 'created'>): Session {
    const session: Session = { id: newId('cs_test'), status: 'open', created: this.now(), ...fields };
    this.sessions.set(session.id, session);
    return session;
  }

  /**
   * Pays on the page of a checkout session. Returns the new subscription. Throws an error if the session is closed, or
   * the card is declined.
   */
  complete(id: string): Subscription {
    const session = this.session(id);
    if (session.status !== 'open') throw invalid('This session is no longer open.');
    const { customer, price, quantity, automatic_tax, metadata } = session;
    if (this.liveCustomer(customer).declines) throw declined();
    const now = this.now();
    const period_end = periodAfter(price.interval, now, now);
    const subscription: Subscription = {
      ...{
        id: newId('sub'),
        item_id: newId('si'),
        customer,
        price,
        quantity,
        status: 'active',
        automatic_tax,
        metadata,
      },
      ...{ cancel_at_period_end: false, anchor: now, period_start: now, period_end, created: now, ended_at: null },
    };
    this.subscriptions.set(subscription.id, subscription);
    this.#charge(subscription, [fullLine(price, quantity, now, period_end)]);
    session.status = 'complete';
    this.#onEvent('customer.subscription.created', 'subscription', subscription.id);
    this.#onEvent('checkout.session.completed', 'session', session.id);
    return subscription;
  }

  expire(id: string): Session {
    const session = this.session(id);
    if (session.status !== 'open') throw invalid('Only Checkout Sessions with a status in ["open"] can be expired.');
    session.status = 'expired';
    return session;
  }

  /** Returns the invoice that a change would make now, without making it. */
  preview(subscription: Subscription, change: PlannedChange): Invoice {
    const lines = [...this.#waiting(subscription.id), ...changeLines(subscription, change, this.now())];
    return this.#invoiceOf(this.liveCustomer(subscription.customer), subscription, lines);
  }

  previewNew(customer: Customer | undefined, price: Price, quantity: number, automatic_tax: boolean): Invoice {
    const now = this.now();
    const payer = customer ?? { ...NEW_CUSTOMER, id: '', email: '', metadata: {} };
    const lines = [fullLine(price, quantity, now, periodAfter(price.interval, now, now))];
    return this.#invoiceOf(payer, { id: '', price, automatic_tax }, lines);
  }

  /** Changes a subscription in place. Throws a 402 if the card is declined, without any change. */
  change(subscription: Subscription, change: PlannedChange, behavior: string, failsOnDecline: boolean): void {
    const resetsPeriod = change.price.interval !== subscription.price.interval;
    if (resetsPeriod) this.#ahead += 1;
    const lines = behavior === 'none' ? [] : changeLines(subscription, change, this.now());
    const invoicesNow = behavior === 'always_invoice' || resetsPeriod;
    if (invoicesNow && lines.length > 0) {
      const due = this.preview(subscription, change).amount_due;
      if (failsOnDecline && due > 0 && this.liveCustomer(subscription.customer).declines) throw declined();
    } else this.pending.set(subscription.id, [...this.#waiting(subscription.id), ...lines]);
    Object.assign(subscription, { price: change.price, quantity: change.quantity });
    if (resetsPeriod) {
      const now = this.now();
      const period_end = periodAfter(change.price.interval, now, now);
      Object.assign(subscription, { anchor: now, period_start: now, period_end });
    }
    if (invoicesNow && lines.length > 0) this.#charge(subscription, lines);
    this.#onEvent('customer.subscription.updated', 'subscription', subscription.id);
  }

  cancelAtPeriodEnd(subscription: Subscription, value: boolean): void {
    subscription.cancel_at_period_end = value;
    this.#onEvent('customer.subscription.updated', 'subscription', subscription.id);
  }

  cancel(id: string): void {
    const subscription = this.subscription(id);
    if (subscription.status === 'canceled') throw invalid('The subscription is canceled already.');
    subscription.status = 'canceled';
    subscription.ended_at = Math.min(this.now(), subscription.period_end);
    this.#onEvent('customer.subscription.deleted', 'subscription', id);
  }

  /** Pays an open invoice, at first or as a retry. */
  pay(id: string): void {
    const invoice = this.invoice(id);
    if (invoice.status === 'paid') throw invalid('Invoice is already paid');
    if (this.liveCustomer(invoice.customer).declines) throw declined();
    this.#paid(invoice);
    const subscription = this.subscription(invoice.subscription);
    const isOpen = (it: Invoice) => it.status === 'open' && it.subscription === subscription.id;
    if (subscription.status === 'past_due' && !this.invoicesOf(invoice.customer).some(isOpen)) {
      subscription.status = 'active';
      this.#onEvent('customer.subscription.updated', 'subscription', subscription.id);
    }
  }

  refund(id: string, amount: number): void {
    const invoice = this.invoice(id);
    if (invoice.status !== 'paid' || invoice.refunded + amount > invoice.amount_paid)
      throw invalid('The amount exceeds what was paid.');
    invoice.refunded += amount;
    this.charged.set(invoice.customer, (this.charged.get(invoice.customer) ?? 0) - amount);
  }

  /** Lets time pass for a customer: shifts all its times back by this many seconds, and then runs everything due. */
  age(customer: string, seconds: number): void {
    for (const it of this.subscriptionsOf(customer)) {
      for (const name of ['anchor', 'period_start', 'period_end', 'created'] as const) it[name] -= seconds;
      if (it.ended_at !== null) it.ended_at -= seconds;
    }
    for (const it of this.invoicesOf(customer)) {
      it.created -= seconds;
      for (const line of it.lines) line.period = { start: line.period.start - seconds, end: line.period.end - seconds };
    }
    for (const it of this.subscriptionsOf(customer)) {
      while (it.status !== 'canceled' && it.period_end <= this.now()) this.#renew(it);
    }
  }

  #renew(subscription: Subscription): void {
    if (subscription.cancel_at_period_end) return this.cancel(subscription.id);
    const { price, quantity, anchor, period_end } = subscription;
    subscription.period_start = period_end;
    subscription.period_end = periodAfter(price.interval, anchor, period_end);
    this.#charge(subscription, [fullLine(price, quantity, period_end, subscription.period_end)], period_end);
    this.#onEvent('customer.subscription.updated', 'subscription', subscription.id);
  }

  #waiting(subscription: string): Line[] {
    return this.pending.get(subscription) ?? [];
  }

  #charge(subscription: Subscription, lines: Line[], created = this.now()): void {
    const customer = this.liveCustomer(subscription.customer);
    const invoice = this.#invoiceOf(customer, subscription, [...this.#waiting(subscription.id), ...lines]);
    this.pending.delete(subscription.id);
    customer.balance = invoice.ending_balance;
    Object.assign(invoice, { id: newId('in'), number: `IBID-${this.invoices.size + 1}`, created });
    this.invoices.set(invoice.id, invoice);
    if (invoice.amount_due === 0 || !customer.declines) return this.#paid(invoice);
    subscription.status = 'past_due';
    this.#onEvent('invoice.payment_failed', 'invoice', invoice.id);
  }

  #paid(invoice: Invoice): void {
    invoice.status = 'paid';
    invoice.amount_paid = invoice.amount_due;
    this.charged.set(invoice.customer, (this.charged.get(invoice.customer) ?? 0) + invoice.amount_due);
    this.#onEvent('invoice.paid', 'invoice', invoice.id);
  }

  #invoiceOf(
    customer: Customer,
    subscription: Pick<Subscription, 'id' | 'price' | 'automatic_tax'>,
    lines: Line[],
  ): Invoice {
    const tax_percent = subscription.automatic_tax ? customer.tax_percent : 0;
    const taxed = priced(lines, { ...customer, tax_percent });
    const subtotal = taxed.reduce((sum, line) => sum + line.amount, 0);
    const total = taxed.reduce((sum, line) => sum + totalOf(line), 0);
    const amount_due = Math.max(0, total + customer.balance);
    return {
      ...{ id: newId('upcoming_in'), number: '', customer: customer.id, subscription: subscription.id, status: 'open' },
      ...{ currency: subscription.price.currency, created: this.now(), lines: taxed, subtotal, total, amount_due },
      ...{ starting_balance: customer.balance, ending_balance: Math.min(0, total + customer.balance) },
      ...{ amount_paid: 0, refunded: 0 },
    };
  }
}

const NEW_CUSTOMER: Omit<Customer, 'id' | 'email' | 'metadata'> = {
  balance: 0,
  deleted: false,
  declines: false,
  tax_percent: 0,
  tax_behavior: 'exclusive',
  discount_percent: 0,
};

function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
}

function declined(): StripeProblem {
  return new StripeProblem(402, 'card_error', 'card_declined', 'Your card was declined.');
}
