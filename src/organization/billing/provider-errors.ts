import { ApiError } from '../../platform/core/errors.ts';
import { BillingUnavailable, type Payments } from '../../platform/providers/payments/payments.ts';
import {
  BadSignature,
  CustomerMissing,
  ForeignEvent,
  PaymentDeclined,
  type PaymentProvider,
  PlanUnpriced,
  UnreadableEvent,
} from '../../platform/providers/payments/provider.ts';

/** Throws 409 `billing_by_operator`. */
export function requireProvider({ provider }: Payments): PaymentProvider {
  if (provider) return provider;
  throw new ApiError(
    'billing_by_operator',
    'This service has no online payment; its operator sets the plan of a workspace. Contact them.',
  );
}

/** Runs requests to the payment provider and translates their errors into API errors. */
export async function fromProvider<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toBillingError(error);
  }
}

function toBillingError(cause: unknown): unknown {
  if (cause instanceof PaymentDeclined) {
    const message =
      'The payment was declined, so nothing was changed. Change the payment method in the portal and try again.';
    return new ApiError('payment_declined', message, { cause });
  }
  if (cause instanceof CustomerMissing) {
    const message = 'The payment provider no longer has this customer. Start a checkout to create a new one.';
    return new ApiError('customer_missing', message, { cause });
  }
  if (cause instanceof PlanUnpriced) {
    const message =
      'The catalogue and the payment provider disagree on the price of this plan or the current one. Contact the operator.';
    return new ApiError('plan_unpriced', message, { cause });
  }
  if (cause instanceof BadSignature) {
    const message =
      'The signature does not match the body and the current time. Check the signing secret and the clock.';
    return new ApiError('invalid_signature', message, { cause });
  }
  if (cause instanceof ForeignEvent) {
    const message = 'The event is from another account or mode. Send it to the service with the matching secret key.';
    return new ApiError('foreign_event', message, { cause });
  }
  if (cause instanceof UnreadableEvent) {
    const message = 'The signed body is not an event with its object. Send "snapshot" events, not "thin" ones.';
    return new ApiError('invalid_request', message, { cause });
  }
  if (cause instanceof BillingUnavailable) {
    const message = 'The payment provider is unavailable. Try again later.';
    return new ApiError('billing_unavailable', message, { cause });
  }
  return cause;
}
