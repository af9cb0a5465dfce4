import { BillingUnavailable } from './payments.ts';
import { CustomerMissing, PaymentDeclined } from './provider.ts';

/**
 * The fields of the library's errors that are used here. Its error classes are not imported, because the library is
 * loaded on demand.
 */
interface StripeError extends Error {
  type?: string;
  code?: string;
  param?: string;
}

/** Runs requests to Stripe and translates its errors to the errors of PaymentProvider. */
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
