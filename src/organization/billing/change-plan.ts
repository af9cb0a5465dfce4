import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import type { AuthorizedDb } from '../../platform/access/guard.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import type { Services } from '../../platform/http/services.ts';
import type { Plan } from '../../platform/providers/payments/payments.ts';
import type { PaymentProvider } from '../../platform/providers/payments/provider.ts';
import {
  type BillingState,
  findPlan,
  previewInput,
  previousProrationTime,
  prorationTime,
  readBillingState,
} from './billing-state.ts';
import { changeInProgress, claimChange, releaseClaim } from './claim-change.ts';
import { previewHash } from './preview-hash.ts';
import { fromProvider, requireProvider } from './provider-errors.ts';
import { BillingPreview, examplePreview, notSubscribed, requireQuantity } from './schema.ts';
import { syncSubscription } from './sync-subscription.job.ts';

/** Calls the provider between two statements: the first claims the change, the last enqueues a sync of its result. */
export const changePlan = endpoint({
  method: 'POST',
  path: '/v1/organizations/:organization_id/billing/change',
  summary: 'Change the plan',
  description:
    'Changes the plan of a subscription in place and charges the previewed amount. `preview_hash` is the Preview-Hash header of that preview: if the cost has changed since, nothing is changed. Returns what is charged.',
  access: onWorkspace('billing:manage', { param: 'organization_id' }),
  whenUnpaid: true,
  event: 'workspace.plan_changed',
  params: Type.Object({ organization_id: Id }),
  body: Type.Object({ plan_id: InputText(), preview_hash: InputText({ minLength: 1 }) }),
  reply: BillingPreview,
  errors: [
    ...[
      'unknown_plan',
      'payment_declined',
      'preview_changed',
      'not_subscribed',
      'billing_by_operator',
      'currency_mismatch',
    ],
    ...['quantity_too_large', 'customer_missing', 'conflict', 'plan_unpriced', 'billing_unavailable'],
  ],
  example: {
    body: { plan_id: 'business_monthly', preview_hash: 'NkBZ0cZq0a1o1ZqJ0o9bq8m3u7sZ2yq4h5t6r7e8w9Q' },
    reply: { ...examplePreview, plan_id: 'business_monthly', checkout_type: 'update', redirect_to_checkout: false },
  },
  run: async ({ body, one, maybeOne, execute, later, services }) => {
    const state = await readBillingState({ maybeOne });
    const plan = findPlan(services.plans, body.plan_id);
    const provider = requireProvider(services.payments);
    refuseChange(state, plan);
    const quantity = requireQuantity(plan, state.active);
    const release = { released: releaseClaim(raw('access')), job: later(syncSubscription, {}) };
    const revision = await claim({ maybeOne }, state.revision);
    let charged: BillingPreview;
    try {
      charged = await change(services, provider, {
        state: { ...state, revision },
        plan,
        quantity,
        preview_hash: body.preview_hash,
      });
    } catch (error) {
      // The change may have been applied even if its response was lost.
      await execute({ ...release, result: sql`select 1` });
      throw error;
    }
    await one({
      ...release,
      result: sql`select workspace_id, ${plan.plan_id}::text as plan_id, ${quantity}::int as quantity from access`,
    });
    return charged;
  },
});

/** Claims the change and returns the revision of the claim. */
async function claim({ maybeOne }: Pick<AuthorizedDb, 'maybeOne'>, revision: number): Promise<number> {
  const claimed = await maybeOne<{ revision: number }>({
    claimed: claimChange(raw('access'), revision),
    result: sql`select revision from claimed`,
  });
  if (!claimed) throw changeInProgress();
  return claimed.revision;
}

function refuseChange(state: BillingState, plan: Plan): void {
  if (state.subscription_id === '') throw notSubscribed();
  if (plan.checkout === 'contact_sales') {
    throw new ApiError('billing_by_operator', 'The operator of the service sets this plan. Contact them.');
  }
  if (plan.checkout === 'none') {
    throw new ApiError('conflict', 'This plan is free. To switch to it, cancel the subscription.');
  }
  if (plan.plan_id === state.plan_id) throw new ApiError('conflict', 'The workspace is already on this plan.');
  if (plan.currency !== state.currency) {
    throw new ApiError(
      'currency_mismatch',
      'A subscription cannot change its currency. Cancel it, and start a checkout for the other plan when it ends.',
    );
  }
}

interface Change {
  state: BillingState;
  plan: Plan;
  quantity: number;
  preview_hash: string;
}

/** Throws 409 `preview_changed`, and the errors of the provider. */
async function change(services: Services, provider: PaymentProvider, { state, plan, quantity, preview_hash }: Change) {
  const now = new Date(state.now);
  const { workspace_id, customer_id, subscription_id, currency, revision } = state;
  for (const at of [prorationTime(now), previousProrationTime(now)]) {
    const preview = await fromProvider(() => services.payments.preview(previewInput(services, state, plan, at)));
    if (previewHash(preview) !== preview_hash) continue;
    const key = `change:${workspace_id}:${revision}:${preview_hash}`;
    const subscription = { subscription_id, currency, customer_id };
    await fromProvider(() => provider.changePlan({ subscription, plan, quantity, at, key }));
    return preview;
  }
  throw new ApiError('preview_changed', 'The price has changed since the preview. Preview it again.');
}
