import type StripeLibrary from 'stripe';
import { BadSignature, ForeignEvent, type PaymentProvider } from './provider.ts';

/** How far the time of a signature may be from now. */
const TOLERANCE_SECONDS = 300;

type Webhooks = Pick<typeof StripeLibrary, 'webhooks'>;

/**
 * Reads events that one of the secrets has signed. The library refuses signatures that are too old; those of the future are
 * refused here.
 */
export function eventReader(
  { webhooks }: Webhooks,
  secrets: readonly string[],
  isLive: boolean,
): PaymentProvider['readEvent'] {
  return async (body, signature) => {
    const event = await verified(webhooks, secrets, body, signature);
    const isForeign = event.livemode !== isLive || event.account !== undefined;
    if (isForeign) {
      throw new ForeignEvent(
        'The event is of another account, or of the other mode (test or live) than the secret key.',
      );
    }
    const { id, customer } = event.data.object as { id?: string; customer?: string | { id: string } | null };
    const named = event.type.startsWith('customer.') && !event.type.startsWith('customer.subscription') ? id : customer;
    const customer_id = (typeof named === 'object' ? named?.id : named) ?? '';
    return { event_id: event.id, type: event.type, customer_id, created: new Date(event.created * 1000) };
  };
}

async function verified(webhooks: Webhooks['webhooks'], secrets: readonly string[], body: Buffer, signature: string) {
  const signedAt = Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(signature)?.[1]);
  if (signedAt > Date.now() / 1000 + TOLERANCE_SECONDS) throw new BadSignature('The signature is of the future.');
  for (const secret of secrets) {
    try {
      return await webhooks.constructEventAsync(body, signature, secret, TOLERANCE_SECONDS);
    } catch (error) {
      const { type } = error as { type?: string };
      if (type !== 'StripeSignatureVerificationError')
        throw new BadSignature('The event is not readable.', { cause: error });
    }
  }
  throw new BadSignature('No secret has signed this body at this time.');
}
