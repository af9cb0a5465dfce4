import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id, withoutNulls } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { toMajorUnits } from '../../platform/providers/payments/money.ts';
import { type SeatCounts, seatColumns, seatsOf } from '../workspaces/seats.ts';
import { Billing, exampleBilling } from './schema.ts';

type Row = SeatCounts & Omit<Billing, 'seats' | 'amount_due' | 'paid_online'> & { amount_due: number };

export const getBilling = endpoint({
  method: 'GET',
  path: '/v1/organizations/:organization_id/billing',
  summary: 'Get the billing of an organization',
  description:
    'The plan, the subscription and the amount due, as last reported by the payment provider. Changes appear within seconds.',
  access: onWorkspace('billing:manage', { param: 'organization_id' }),
  params: Type.Object({ organization_id: Id }),
  reply: Billing,
  example: { reply: exampleBilling },
  run: async ({ one, services }) => {
    const { active, pending, granted, unlimited, overage_allowed, amount_due, ...billing } = await one<Row>(sql`
      select a.workspace_id as organization_id, coalesce(s.plan_id, '') as plan_id,
        case when s.workspace_id is null then 'none' when s.writes_end_at <= now() then 'read_only'
          when s.unpaid_since is not null then 'past_due' else 'active' end as status,
        case when s.workspace_id is null then '' when s.subscription_id = '' then 'operator' else 'provider' end as plan_source,
        coalesce(s.quantity, 0) as quantity, coalesce(s.currency, '') as currency,
        coalesce(s.amount_due, 0)::bigint as amount_due, s.period_start, s.period_end,
        coalesce(s.cancel_at_period_end, false) as cancel_at_period_end, s.writes_end_at,
        s.workspace_id is null and coalesce(c.checkout_opened_at > now() - interval '1 day', false) as checkout_pending,
        ${seatColumns}
      from access a join workspaces w on w.workspace_id = a.workspace_id
      left join subscriptions s on s.workspace_id = a.workspace_id
      left join billing_customers c on c.workspace_id = a.workspace_id`);
    return withoutNulls({
      ...billing,
      paid_online: services.payments.provider !== undefined,
      seats: seatsOf({ active, pending, granted, unlimited, overage_allowed }),
      amount_due: amount_due === 0 ? 0 : toMajorUnits(amount_due, billing.currency),
    });
  },
});
