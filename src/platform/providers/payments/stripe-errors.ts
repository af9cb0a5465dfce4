import { BillingUnavailable } from './payments.ts';
import { CustomerMissing, PaymentDeclined } from './provider.ts';

/** What the library throws, as far as it is read. Its classes are loaded only where it is used. */
interface StripeError extends Error {
  type?: string;
  code?: string;
  param?: string;
}

/** Runs requests to Stripe and turns its errors into those of PaymentProvider. */
export async function fromStripe<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { type, code, message } = cause as StripeError;
    if (!type?.startsWith('Stripe')) throw cause;
    if (type === 'StripeCardError') throw new PaymentDeclined(message, { cause });
    if (code === 'resource_missing' && /customer/i.test(message)) throw new CustomerMissing(message, { cause });
    throw new BillingUnavailable(message, { cause });
  }
}
