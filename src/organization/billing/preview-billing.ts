import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { findPlan, previewInput, prorationTime, readBillingState } from './billing-state.ts';
import { PREVIEW_HASH_HEADER, previewHash } from './preview-hash.ts';
import { fromProvider } from './provider-errors.ts';
import { BillingPreview, examplePreview, requireQuantity } from './schema.ts';

/** Stores nothing. */
export const previewBilling = endpoint({
  method: 'POST',
  path: '/v1/organizations/:organization_id/billing/preview',
  summary: 'Preview the billing of a plan',
  description:
    'What the plan would cost now. The Preview-Hash header identifies the response. Send it with a plan change, which is refused if the charge would differ.',
  access: onWorkspace('billing:manage', { param: 'organization_id' }),
  whenUnpaid: true,
  params: Type.Object({ organization_id: Id }),
  body: Type.Object({ plan_id: InputText() }),
  reply: BillingPreview,
  replyHeaders: { 'Preview-Hash': 'Identifies this preview; sent as preview_hash in a plan change.' },
  headers: (preview) => ({ [PREVIEW_HASH_HEADER]: previewHash(preview as BillingPreview) }),
  errors: ['unknown_plan', 'quantity_too_large', 'customer_missing', 'plan_unpriced', 'billing_unavailable'],
  example: { body: { plan_id: 'team_monthly' }, reply: examplePreview },
  run: async ({ body, maybeOne, services }) => {
    const state = await readBillingState({ maybeOne });
    const plan = findPlan(services.plans, body.plan_id);
    if (services.payments.provider && plan.checkout === 'subscription') requireQuantity(plan, state.active);
    const input = previewInput(services, state, plan, prorationTime(new Date(state.now)));
    return fromProvider(() => services.payments.preview(input));
  },
});
