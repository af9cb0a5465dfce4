import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';

export interface StoredEvent {
  id: string;
  type: string;
  body: string;
}

/** What happens to the events of an account: sent at once, or kept until they are released. */
export interface Webhooks {
  readonly events: StoredEvent[];
  add(type: string, make: (id: string) => object): void;
  /** Events are sent as they happen, or are kept. */
  hold(isHeld: boolean): void;
  /** The events that were kept, which are kept no longer. */
  take(): StoredEvent[];
  /** Sends an event, signed now or at another time (seconds); answers the status and the body. */
  send(event: StoredEvent, options?: { secret?: string; timestamp?: number }): Promise<{ status: number; body: any }>;
  /** Waits for what is being sent. */
  idle(): Promise<void>;
}

export function openWebhooks(secret: string, address: () => string | undefined): Webhooks {
  const events: StoredEvent[] = [];
  const sending = new Set<Promise<unknown>>();
  let kept: StoredEvent[] = [];
  let isHeld = false;
  const webhooks: Webhooks = {
    events,
    add(type, make) {
      const id = `evt_${randomUUID().replaceAll('-', '')}`;
      const event = { id, type, body: JSON.stringify(make(id)) };
      events.push(event);
      if (isHeld || address() === undefined) return void kept.push(event);
      const sent = webhooks.send(event).finally(() => sending.delete(sent));
      sending.add(sent);
    },
    hold: (value) => void (isHeld = value),
    take() {
      const taken = kept;
      kept = [];
      return taken;
    },
    async send({ body }, { secret: other = secret, timestamp = Math.floor(Date.now() / 1000) } = {}) {
      const signature = await Stripe.webhooks.generateTestHeaderStringAsync({
        payload: body,
        secret: other,
        timestamp,
      });
      const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
      const response = await fetch(`${address()}/v1/webhooks/stripe`, { method: 'POST', headers, body });
      return { status: response.status, body: await response.json() };
    },
    async idle() {
      await Promise.all(sending);
    },
  };
  return webhooks;
}
