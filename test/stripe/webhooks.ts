import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import type { Send } from '../keep-alive.ts';

interface StoredEvent {
  id: string;
  /** Workspace of the customer, or "" without one. */
  workspace_id: string;
  type: string;
  body: string;
}

/** The events of an account, which are sent at once or held back. */
export interface Webhooks {
  readonly events: StoredEvent[];
  add(type: string, workspace_id: string, make: (id: string) => object): void;
  /**
   * Holds events back, or sends them as they happen: for all workspaces, or for the workspaces that a function selects.
   */
  hold(isHeld: boolean | ((workspace_id: string) => boolean)): void;
  /** Returns the events held back, of all workspaces or of one, and stops holding them. */
  take(workspace_id?: string): StoredEvent[];
  forget(workspace_id: string): void;
  /** Sends an event, signed for now or for another time in seconds. Returns the status and the body. */
  send(event: StoredEvent, options?: { secret?: string; timestamp?: number }): Promise<{ status: number; body: any }>;
  idle(): Promise<void>;
}

export function openWebhooks(secret: string, address: () => string | undefined, sender: Send = fetch): Webhooks {
  let events: StoredEvent[] = [];
  const sending = new Set<Promise<unknown>>();
  let kept: StoredEvent[] = [];
  let isHeld = (_workspace_id: string) => false;
  const webhooks: Webhooks = {
    get events() {
      return events;
    },
    add(type, workspace_id, make) {
      const id = `evt_${randomUUID().replaceAll('-', '')}`;
      const event = { id, workspace_id, type, body: JSON.stringify(make(id)) };
      events.push(event);
      if (isHeld(workspace_id) || address() === undefined) return void kept.push(event);
      const sent = webhooks
        .send(event)
        // An unreachable service gets the event later, or never.
        .catch(() => kept.push(event))
        .finally(() => sending.delete(sent));
      sending.add(sent);
    },
    hold: (value) => void (isHeld = typeof value === 'boolean' ? () => value : value),
    take(workspace_id) {
      const taken = kept.filter((it) => workspace_id === undefined || it.workspace_id === workspace_id);
      kept = kept.filter((it) => !taken.includes(it));
      return taken;
    },
    forget(workspace_id) {
      events = events.filter((it) => it.workspace_id !== workspace_id);
      webhooks.take(workspace_id);
    },
    async send(
      { body }: Pick<StoredEvent, 'body'>,
      { secret: other = secret, timestamp = Math.floor(Date.now() / 1000) } = {},
    ) {
      const signature = await Stripe.webhooks.generateTestHeaderStringAsync({
        payload: body,
        secret: other,
        timestamp,
      });
      const headers = new Headers({ 'content-type': 'application/json', 'stripe-signature': signature });
      const response = await sender(`${address()}/v1/webhooks/stripe`, { method: 'POST', headers, body });
      return { status: response.status, body: JSON.parse(await response.text()) };
    },
    async idle() {
      await Promise.all(sending);
    },
  };
  return webhooks;
}
