import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Cancellation } from './schema.ts';
import { setCancellation } from './set-cancellation.ts';

export const cancelSubscription = endpoint({
  method: 'POST',
  path: '/v1/organizations/:organization_id/billing/cancel',
  summary: 'Cancel the subscription',
  description:
    'The subscription ends with its current period. Until then everything works, and it can be resumed. After that, the workspace is on the free plan: nothing is deleted, and members beyond its seats stay.',
  access: onWorkspace('billing:manage', { param: 'organization_id' }),
  whenUnpaid: true,
  event: 'workspace.subscription_cancelled',
  params: Type.Object({ organization_id: Id }),
  reply: Cancellation,
  errors: ['not_subscribed', 'billing_by_operator', 'customer_missing', 'billing_unavailable'],
  example: { reply: { cancel_at_period_end: true, period_end: '2026-12-21T05:29:32.000Z' } },
  run: (context) => setCancellation(context, true),
});
