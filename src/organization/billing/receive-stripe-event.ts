import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { Record } from '../../platform/core/records.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { fromProvider } from './provider-errors.ts';
import { syncSubscription } from './sync-subscription.job.ts';

/** An event only triggers a sync. Its content is never stored, so its order, loss and repetition do not matter. */
export const receiveStripeEvent = endpoint({
  method: 'POST',
  path: '/v1/webhooks/stripe',
  summary: 'Receive an event of Stripe',
  description:
    'For Stripe only: the signature over the body is the credential. Repeated events are ignored. Events about customers of other services on the same account are accepted and ignored.',
  access: anyone(),
  event: 'workspace.payment_event_received',
  signedBody: true,
  requestHeaders: { 'Stripe-Signature': 'The time, and the signature over the time and the body.' },
  reply: Record({ received: Type.Boolean() }, { title: 'ReceivedEvent' }),
  errors: ['invalid_signature', 'foreign_event', 'invalid_request', 'not_found'],
  example: { reply: { received: true } },
  run: async ({ body, header, many, later, services }) => {
    const { provider } = services.payments;
    if (!provider) throw notFound('route');
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const { event_id, type, customer_id, created } = await fromProvider(() =>
      provider.readEvent(bytes, header('stripe-signature') ?? ''),
    );
    await many({
      customer: sql`select c.workspace_id from billing_customers c where c.customer_id = ${customer_id}`,
      event: sql`
        insert into payment_events (event_id, type, customer_id, created_at)
        select ${event_id}, ${type}, ${customer_id}, ${created} from customer on conflict do nothing returning event_id, type`,
      job: later(syncSubscription, {}, raw('(select customer.workspace_id from customer, event)')),
      result: sql`select customer.workspace_id, event.event_id, event.type from customer, event`,
    });
    return { received: true };
  },
});
