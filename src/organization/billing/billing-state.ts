import type { Statements } from '../../platform/access/guard.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Services } from '../../platform/http/services.ts';
import type { Plan, PreviewInput } from '../../platform/providers/payments/payments.ts';

/** What the database knows of the billing of the path's workspace. */
export interface BillingState {
  workspace_id: string;
  slug: string;
  /** Of the caller. */
  email: string;
  active: number;
  now: string;
  /** null: it is on no plan. */
  plan_id: string | null;
  /** "" where the operator has set the plan. */
  subscription_id: string;
  quantity: number;
  period_start: string;
  period_end: string;
  cancel_at_period_end: boolean;
  currency: string;
  /** "" where it has never paid. */
  customer_id: string;
  revision: number;
}

export async function readBillingState({ maybeOne }: Pick<Statements, 'maybeOne'>): Promise<BillingState> {
  const state = await maybeOne<BillingState>(sql`
    select a.workspace_id, w.slug, u.email, now() as now, s.plan_id, coalesce(s.subscription_id, '') as subscription_id, s.quantity,
      s.period_start, s.period_end, coalesce(s.cancel_at_period_end, false) as cancel_at_period_end,
      coalesce(s.currency, '') as currency, coalesce(c.customer_id, '') as customer_id, coalesce(c.revision, 0)::int as revision,
      (select count(*)::int from memberships m where m.workspace_id = a.workspace_id and m.status = 'active') as active
    from access a join workspaces w on w.workspace_id = a.workspace_id join users u on u.user_id = a.user_id
      left join subscriptions s on s.workspace_id = a.workspace_id
      left join billing_customers c on c.workspace_id = a.workspace_id`);
  if (!state) throw notFound('workspace');
  return state;
}

/** The address of the web application's page about the plan. */
export function billingPage({ publicUrl }: Pick<Services, 'publicUrl'>, { slug }: Pick<BillingState, 'slug'>): string {
  return `${publicUrl}/${slug}/-/billing`;
}

/** Errors: 400 `unknown_plan`. */
export function findPlan(plans: readonly Plan[], plan_id: string): Plan {
  const plan = plans.find((candidate) => candidate.plan_id === plan_id);
  if (plan) return plan;
  const known = plans.map((candidate) => candidate.plan_id).join(', ');
  throw new ApiError('unknown_plan', `There is no such plan. The plans are ${known}.`);
}

/** What a change to `plan` is previewed from, with prorations from `now` on. */
export function previewInput(
  { plans }: Pick<Services, 'plans'>,
  state: BillingState,
  plan: Plan,
  now: Date,
): PreviewInput {
  const { plan_id, subscription_id, quantity, customer_id, active } = state;
  const current =
    plan_id === null
      ? null
      : {
          ...{ plan_id, subscription_id, quantity },
          period_start: new Date(state.period_start),
          period_end: new Date(state.period_end),
        };
  const current_plan = plans.find((candidate) => candidate.plan_id === plan_id) ?? null;
  return { plan, current, current_plan, customer_id, active, now };
}

const HOUR_MS = 3_600_000;

/**
 * From when changes that are made now are prorated: the beginning of the hour, so that what was previewed is charged also
 * some minutes later.
 */
export function prorationTime(now: Date): Date {
  return new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS);
}

/** The hour before: a preview holds for an hour at least. */
export function previousProrationTime(now: Date): Date {
  return new Date(prorationTime(now).getTime() - HOUR_MS);
}
