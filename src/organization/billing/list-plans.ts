import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { toMajorUnits } from '../../platform/providers/payments/money.ts';
import { Plan } from './schema.ts';

export const listPlans = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/plans',
  summary: 'List plans',
  description: "The plan catalogue, with the workspace's current plan marked.",
  access: onWorkspace('billing:manage'),
  params: Type.Object({ workspace_id: Id }),
  reply: Type.Array(Plan),
  example: {
    reply: [
      {
        plan_id: 'team_monthly',
        name: 'Team',
        description: 'For teams that write together, billed monthly.',
        interval: 'month',
        currency: 'usd',
        unit_price: 8,
        seats: 1,
        unlimited: false,
        checkout: 'subscription',
        current: true,
      },
    ],
  },
  run: async ({ one, services }) => {
    const { plan_id } = await one<{ plan_id: string | null }>(sql`
      select s.plan_id from access a left join subscriptions s on s.workspace_id = a.workspace_id`);
    return services.plans.map((plan) => ({
      plan_id: plan.plan_id,
      name: plan.name,
      description: plan.description,
      interval: plan.interval ?? '',
      currency: plan.currency,
      unit_price: toMajorUnits(plan.unit_amount, plan.currency),
      seats: plan.seats,
      unlimited: plan.unlimited,
      checkout: plan.checkout,
      current: plan.plan_id === plan_id,
    }));
  },
});
