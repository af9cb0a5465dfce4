import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Cancellation } from './schema.ts';
import { setCancellation } from './set-cancellation.ts';

export const resumeSubscription = endpoint({
  method: 'POST',
  path: '/v1/organizations/:organization_id/billing/resume',
  summary: 'Resume the subscription',
  description: 'Undoes a cancellation before the period ends.',
  access: onWorkspace('billing:manage', { param: 'organization_id' }),
  whenUnpaid: true,
  event: 'workspace.subscription_resumed',
  params: Type.Object({ organization_id: Id }),
  reply: Cancellation,
  errors: ['not_subscribed', 'billing_by_operator', 'customer_missing', 'billing_unavailable'],
  example: { reply: { cancel_at_period_end: false, period_end: '2026-12-21T05:29:32.000Z' } },
  run: (context) => setCancellation(context, false),
});
