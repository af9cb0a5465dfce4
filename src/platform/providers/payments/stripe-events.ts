import type StripeLibrary from 'stripe';
import { BadSignature, ForeignEvent, type PaymentProvider, UnreadableEvent } from './provider.ts';

/** Maximum difference between the time of a signature and now. */
const TOLERANCE_SECONDS = 300;

/** End of the year 9999. */
const LAST_SECOND = 253_402_300_799;

type Webhooks = Pick<typeof StripeLibrary, 'webhooks'>;

/**
 * Verifies events against the secrets; a signature with any secret is valid. The library refuses old signatures, and
 * signatures from the future are refused here.
 */
export function eventReader(
  { webhooks }: Webhooks,
  secrets: readonly string[],
  isLive: boolean,
): PaymentProvider['readEvent'] {
  return async (body, signature) => {
    const event: unknown = await verified(webhooks, secrets, body, signature);
    if (!isEvent(event)) throw new UnreadableEvent('The body is not a Stripe event with its object.');
    const isForeign = event.livemode !== isLive || event.account !== undefined;
    if (isForeign) {
      throw new ForeignEvent(
        'The event belongs to another account, or to the other mode (test or live) than the secret key.',
      );
    }
    const { id, customer } = event.data.object as { id?: unknown; customer?: unknown };
    const named = event.type.startsWith('customer.') && !event.type.startsWith('customer.subscription') ? id : customer;
    const customer_id = idOf(named);
    return { event_id: event.id, type: event.type, customer_id, created: new Date(event.created * 1000) };
  };
}

/** The library returns any signed body, including "thin" events, which have no object. */
function isEvent(event: unknown): event is StripeLibrary.Event {
  const { id, type, created, data } = (event ?? {}) as Partial<StripeLibrary.Event>;
  const isAt = Number.isInteger(created) && Number(created) >= 0 && Number(created) <= LAST_SECOND;
  return isIdentifier(id) && isIdentifier(type) && isAt && typeof data?.object === 'object' && !!data.object;
}

/** Returns the ID of a reference, which may be expanded; "" if there is no valid ID. */
function idOf(reference: unknown): string {
  const id = typeof reference === 'object' ? (reference as { id?: unknown } | null)?.id : reference;
  return isIdentifier(id) ? id : '';
}

/** Accepts the characters of Stripe's identifiers; other strings might not be storable in the database. */
function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value);
}

async function verified(webhooks: Webhooks['webhooks'], secrets: readonly string[], body: Buffer, signature: string) {
  // The library treats a time that is not a number as the current time.
  const times = signature.split(',').filter((item) => item.trim().startsWith('t='));
  const signedAt = Number(/^t=(\d{1,12})$/.exec(times[0] ?? '')?.[1]);
  if (times.length !== 1 || Number.isNaN(signedAt)) throw new BadSignature('The signature has no valid time.');
  if (signedAt > Date.now() / 1000 + TOLERANCE_SECONDS)
    throw new BadSignature('The time of the signature is in the future.');
  for (const secret of secrets) {
    try {
      return await webhooks.constructEventAsync(body, signature, secret, TOLERANCE_SECONDS);
    } catch (error) {
      const { type } = error as { type?: string };
      if (type !== 'StripeSignatureVerificationError')
        throw new UnreadableEvent('The body is not the JSON of an event.', { cause: error });
    }
  }
  throw new BadSignature('No configured secret matches the signature, or the signature is too old.');
}
