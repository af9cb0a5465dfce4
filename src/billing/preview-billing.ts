import { Type } from 'typebox';
import { onWorkspace } from '../access/access-rule.ts';
import { ApiError } from '../core/errors.ts';
import { Id, InputText } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { BillingUnavailable } from '../providers/payments/payments.ts';
import { BillingPreview } from './schema.ts';

interface BillingRow {
  active: number;
  now: string;
  plan_id: string | null;
  quantity: number;
  period_start: string;
  period_end: string;
}

/** Stores nothing. */
export const previewBilling = endpoint({
  method: 'POST',
  path: '/v1/organizations/:organization_id/billing/preview',
  summary: 'Preview the billing of a plan',
  access: onWorkspace('billing:manage', { param: 'organization_id' }),
  params: Type.Object({ organization_id: Id }),
  body: Type.Object({ plan_id: InputText() }),
  reply: BillingPreview,
  errors: ['unknown_plan', 'billing_unavailable'],
  example: {
    body: { plan_id: 'team_monthly' },
    reply: {
      plan_id: 'team_monthly',
      checkout_type: 'subscription',
      currency: 'usd',
      line_items: [{ name: 'Team', description: '5 seats, paid every month', quantity: 5, subtotal: 40, total: 40 }],
      redirect_to_checkout: true,
      subtotal: 40,
      total: 40,
    },
  },
  run: async ({ body, one, services }) => {
    const row = await one<BillingRow>(sql`
      select (select count(*)::int from memberships m where m.workspace_id = a.workspace_id and m.status = 'active') as active,
        now() as now, s.plan_id, s.quantity, s.period_start, s.period_end
      from access a left join subscriptions s on s.workspace_id = a.workspace_id
    `);
    const plan = services.plans.find((candidate) => candidate.plan_id === body.plan_id);
    if (!plan) {
      const known = services.plans.map((candidate) => candidate.plan_id).join(', ');
      throw new ApiError('unknown_plan', `There is no such plan. The plans are ${known}.`);
    }
    const current =
      row.plan_id === null
        ? null
        : {
            plan_id: row.plan_id,
            quantity: row.quantity,
            period_start: new Date(row.period_start),
            period_end: new Date(row.period_end),
          };
    const current_plan = services.plans.find((candidate) => candidate.plan_id === row.plan_id) ?? null;
    try {
      return await services.payments.preview({
        plan,
        current,
        current_plan,
        active: row.active,
        now: new Date(row.now),
      });
    } catch (cause) {
      if (!(cause instanceof BillingUnavailable)) throw cause;
      throw new ApiError(
        'billing_unavailable',
        'The billing of this plan cannot be previewed just now. Try again later.',
        { cause },
      );
    }
  },
});
