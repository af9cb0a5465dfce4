import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import type { Credential } from '../../platform/access/credential.ts';
import { claimsOf } from '../../platform/access/credential-kinds.ts';
import type { AuthorizedDb } from '../../platform/access/guard.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import type { Plan } from '../../platform/providers/payments/payments.ts';
import type { PaymentProvider, ProviderSubscription } from '../../platform/providers/payments/provider.ts';
import { type BillingState, billingPage, findPlan, readBillingState } from './billing-state.ts';
import { fromProvider, requireProvider } from './provider-errors.ts';
import { exampleRedirect, Redirect, requireQuantity } from './schema.ts';

export const startCheckout = endpoint({
  method: 'POST',
  path: '/v1/organizations/:organization_id/billing/checkout',
  summary: 'Start a checkout',
  description:
    'Returns the URL of the page where the customer pays for a first plan. Any open checkout expires. The plan starts when the payment provider reports the payment.',
  access: onWorkspace('billing:manage', { param: 'organization_id' }),
  whenUnpaid: true,
  event: 'workspace.checkout_started',
  params: Type.Object({ organization_id: Id }),
  body: Type.Object({
    plan_id: InputText(),
    return_url: Type.Optional(
      InputText({
        description:
          'Where to redirect after the payment, with `checkout=done` or `checkout=cancelled` added to the query: a page of the origin in the widget token, or of this service. Default: the plan page.',
        maxLength: 2_000,
      }),
    ),
  }),
  reply: Redirect,
  errors: [
    ...['unknown_plan', 'already_subscribed', 'billing_by_operator', 'quantity_too_large', 'customer_missing'],
    ...['plan_unpriced', 'billing_unavailable', 'invalid_request'],
  ],
  example: { body: { plan_id: 'team_monthly' }, reply: exampleRedirect },
  run: async ({ body, credential, one, maybeOne, execute, services }) => {
    const state = await readBillingState({ maybeOne });
    const plan = findPlan(services.plans, body.plan_id);
    const provider = requireProvider(services.payments);
    refuseCheckout(state, plan, services.plans);
    const quantity = requireQuantity(plan, state.active);
    const back = returnPage(billingPage(services, state), body.return_url, credential);
    const { workspace_id } = state;
    const { customer_id, subscriptions } = await findCustomer({ execute, maybeOne }, provider, state);
    if (subscriptions.length > 0) throw alreadySubscribed();
    const url = await fromProvider(async () => {
      await provider.expireCheckouts(customer_id);
      return provider.startCheckout({
        ...{ customer_id, workspace_id, plan, quantity },
        success_url: back('done'),
        cancel_url: back('cancelled'),
      });
    });
    await one({
      opened: sql`
        update billing_customers c set checkout_opened_at = now() from access a where c.workspace_id = a.workspace_id
        returning c.workspace_id`,
      result: sql`select workspace_id, ${plan.plan_id}::text as plan_id, ${quantity}::int as quantity from opened`,
    });
    return { url };
  },
});

/**
 * Returns the URLs to return to after a payment. A widget token may only return to its own origin, so that customers
 * are not sent from the payment to a page that the workspace has not allowed. Throws 400 `invalid_request`.
 */
function returnPage(own: string, return_url: string | undefined, credential: Credential): (end: string) => string {
  const page = URL.parse(return_url ?? own);
  const isOfWidget = page !== null && page.origin === claimsOf(credential)?.origin;
  const isAllowed = isOfWidget || page?.origin === new URL(own).origin;
  if (!page || !isAllowed || page.username !== '' || page.password !== '') {
    throw new ApiError('invalid_request', 'return_url must be on the site that shows the widget, or on this service.');
  }
  page.hash = '';
  return (end) => {
    page.searchParams.set('checkout', end);
    return page.href;
  };
}

function refuseCheckout(state: BillingState, plan: Plan, plans: readonly Plan[]): void {
  const current = plans.find(({ plan_id }) => plan_id === state.plan_id);
  if (
    plan.checkout !== 'subscription' ||
    (state.plan_id !== null && state.subscription_id === '' && current?.checkout !== 'none')
  ) {
    throw new ApiError(
      'billing_by_operator',
      'The operator of the service sets this plan or the current one. Contact them.',
    );
  }
  if (state.subscription_id !== '') throw alreadySubscribed();
}

function alreadySubscribed(): ApiError {
  return new ApiError(
    'already_subscribed',
    'The workspace already has a subscription, and a checkout would add a second one. Change its plan instead.',
  );
}

/**
 * Returns the workspace's customer and its subscriptions. Creates a customer if there is no customer or it was deleted.
 */
async function findCustomer(
  { execute, maybeOne }: Pick<AuthorizedDb, 'execute' | 'maybeOne'>,
  provider: PaymentProvider,
  { workspace_id, customer_id, email }: BillingState,
): Promise<{ customer_id: string; subscriptions: ProviderSubscription[] }> {
  if (customer_id !== '') {
    const { is_deleted, subscriptions } = await fromProvider(() => provider.readCustomer(customer_id));
    if (!is_deleted) return { customer_id, subscriptions };
    // From now on, syncs read only the new customer.
    await fromProvider(() => provider.refundOverlaps(customer_id));
  }
  const key = `customer:${workspace_id}:${customer_id}`;
  const made = await fromProvider(() => provider.createCustomer({ workspace_id, email, key }));
  await execute(sql`
    insert into billing_customers as c (workspace_id, customer_id, synced_at) select a.workspace_id, ${made}, now() from access a
    on conflict (workspace_id) do update set customer_id = excluded.customer_id where c.customer_id = ${customer_id}`);
  const kept = await readBillingState({ maybeOne });
  // A concurrent request may have stored another customer first.
  const { subscriptions } = await fromProvider(() => provider.readCustomer(kept.customer_id));
  return { customer_id: kept.customer_id, subscriptions };
}
