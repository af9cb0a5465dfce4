import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { billingPage, readBillingState } from './billing-state.ts';
import { fromProvider, requireProvider } from './provider-errors.ts';
import { exampleRedirect, notSubscribed, Redirect } from './schema.ts';

export const openPortal = endpoint({
  method: 'POST',
  path: '/v1/organizations/:organization_id/billing/portal',
  summary: 'Open the billing portal',
  description: "Returns the URL of the payment provider's portal: payment methods, open invoices, billing address.",
  access: onWorkspace('billing:manage', { param: 'organization_id' }),
  whenUnpaid: true,
  event: 'workspace.billing_portal_opened',
  params: Type.Object({ organization_id: Id }),
  reply: Redirect,
  errors: ['not_subscribed', 'billing_by_operator', 'customer_missing', 'billing_unavailable'],
  example: { reply: exampleRedirect },
  run: async ({ one, maybeOne, services }) => {
    const state = await readBillingState({ maybeOne });
    const { customer_id } = state;
    const provider = requireProvider(services.payments);
    if (customer_id === '') throw notSubscribed();
    const url = await fromProvider(() => provider.openPortal(customer_id, billingPage(services, state)));
    await one(sql`select workspace_id from access`);
    return { url };
  },
});
