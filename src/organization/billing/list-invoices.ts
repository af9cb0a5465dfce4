import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { toMajorUnits } from '../../platform/providers/payments/money.ts';
import { readBillingState } from './billing-state.ts';
import { fromProvider } from './provider-errors.ts';
import { Invoice } from './schema.ts';

export const listInvoices = endpoint({
  method: 'GET',
  path: '/v1/organizations/:organization_id/billing/invoices',
  summary: 'List invoices',
  description: 'The newest 100, from the payment provider; empty if the operator sets the plan.',
  access: onWorkspace('billing:manage', { param: 'organization_id' }),
  params: Type.Object({ organization_id: Id }),
  reply: Type.Array(Invoice),
  errors: ['customer_missing', 'billing_unavailable'],
  example: {
    reply: [
      {
        ...{
          invoice_id: 'in_1Pgc6tB7WZ01zgkWu9fdqL6I',
          number: 'IBID-0001',
          status: 'paid',
          currency: 'usd',
          total: 40,
        },
        ...{ amount_due: 0, created_at: '2026-11-21T05:29:32.000Z' },
        ...{
          url: 'https://invoice.stripe.com/i/acct_1/live_a1',
          pdf_url: 'https://invoice.stripe.com/i/acct_1/live_a1/pdf',
        },
      },
    ],
  },
  run: async ({ maybeOne, services }) => {
    const { customer_id } = await readBillingState({ maybeOne });
    const { provider } = services.payments;
    if (customer_id === '' || !provider) return [];
    const invoices = await fromProvider(() => provider.listInvoices(customer_id));
    return invoices.map(({ created_at, total, amount_due, ...invoice }) => ({
      ...invoice,
      total: toMajorUnits(total, invoice.currency),
      amount_due: toMajorUnits(amount_due, invoice.currency),
      created_at: created_at.toISOString(),
    }));
  },
});
