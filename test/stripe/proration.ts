import type { Customer, Line, Price, Subscription } from './objects.ts';

/** The new price and quantity of a subscription. `date`: when prorations begin, in seconds. */
export interface PlannedChange {
  price: Price;
  quantity: number;
  date: number;
}

/** Returns the end of the period that begins at `start`, on the anchor's day of the month. */
export function periodAfter(interval: 'month' | 'year', anchor: number, start: number): number {
  const from = new Date(start * 1000);
  const day = new Date(anchor * 1000).getUTCDate();
  const months = from.getUTCMonth() + (interval === 'month' ? 1 : 12);
  const end = new Date(from);
  end.setUTCDate(1);
  end.setUTCMonth(months);
  end.setUTCDate(Math.min(day, new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()));
  return Math.floor(end.getTime() / 1000);
}

/** Discounts and taxes are set at the time of the invoice, with the customer's rates at that time. */
const UNPRICED = { discount: 0, tax: 0, tax_behavior: 'exclusive' } as const;

export function fullLine(price: Price, quantity: number, start: number, end: number): Line {
  const description = `${quantity} × ${price.lookup_key} (at ${price.unit_amount} / ${price.interval})`;
  const amount = price.unit_amount * quantity;
  return { description, amount, quantity, price: price.id, proration: false, period: { start, end }, ...UNPRICED };
}

/** Returns the lines of a change: a credit for the unused time, and a charge for the rest of the period. */
export function changeLines(subscription: Subscription, { price, quantity, date }: PlannedChange, now: number): Line[] {
  const { price: old, quantity: before, period_start, period_end } = subscription;
  if (old.id === price.id && before === quantity) return [];
  const rest = (period_end - Math.max(date, period_start)) / (period_end - period_start);
  const period = { start: date, end: period_end };
  const part = (amount: number) => Math.round(amount * rest);
  const credit: Line = {
    ...{ description: `Unused time on ${before} × ${old.lookup_key}`, amount: 0 - part(old.unit_amount * before) },
    ...{ quantity: before, price: old.id, proration: true, period, ...UNPRICED },
  };
  if (old.interval !== price.interval) {
    return [credit, fullLine(price, quantity, now, periodAfter(price.interval, now, now))];
  }
  const charge: Line = {
    ...{
      description: `Remaining time on ${quantity} × ${price.lookup_key}`,
      amount: part(price.unit_amount * quantity),
    },
    ...{ quantity, price: price.id, proration: true, period, ...UNPRICED },
  };
  return [credit, charge];
}

type Terms = Pick<Customer, 'tax_percent' | 'tax_behavior' | 'discount_percent'>;

/** Returns the lines with their discounts and taxes. Credits have no discount of their own. */
export function priced(lines: readonly Line[], { tax_percent, tax_behavior, discount_percent }: Terms): Line[] {
  return lines.map((line) => {
    const discount = line.amount > 0 ? Math.round((line.amount * discount_percent) / 100) : 0;
    const taxable = line.amount - discount;
    const rate = tax_percent / (tax_behavior === 'inclusive' ? 100 + tax_percent : 100);
    return { ...line, discount, tax: Math.round(taxable * rate), tax_behavior };
  });
}

/** Returns the share of a line in the total of its invoice. */
export function totalOf({ amount, discount, tax, tax_behavior }: Line): number {
  return amount - discount + (tax_behavior === 'exclusive' ? tax : 0);
}
