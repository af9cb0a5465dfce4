import type { Statements } from '../../platform/access/guard.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Services } from '../../platform/http/services.ts';
import type { Plan, PreviewInput } from '../../platform/providers/payments/payments.ts';

/** Stored billing data of the workspace in the path. */
export interface BillingState {
  workspace_id: string;
  slug: string;
  /** Email of the caller. */
  email: string;
  active: number;
  now: string;
  /** null if the workspace is on no plan. */
  plan_id: string | null;
  /** "" if the operator has set the plan. */
  subscription_id: string;
  quantity: number;
  period_start: string;
  period_end: string;
  cancel_at_period_end: boolean;
  currency: string;
  /** "" if the workspace has never paid. */
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

/** Returns the URL of the billing page in the web application. */
export function billingPage({ publicUrl }: Pick<Services, 'publicUrl'>, { slug }: Pick<BillingState, 'slug'>): string {
  return `${publicUrl}/${slug}/-/billing`;
}

/** Throws 400 `unknown_plan`. */
export function findPlan(plans: readonly Plan[], plan_id: string): Plan {
  const plan = plans.find((candidate) => candidate.plan_id === plan_id);
  if (plan) return plan;
  const known = plans.map((candidate) => candidate.plan_id).join(', ');
  throw new ApiError('unknown_plan', `Unknown plan. Available plans: ${known}.`);
}

/** Returns the input of a preview of a change to `plan`, with prorations from `now` on. */
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
 * Returns the time from which changes are prorated: the start of the hour, so that the charge equals a preview made
 * some minutes earlier.
 */
export function prorationTime(now: Date): Date {
  return new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS);
}

/** Returns the start of the previous hour. Accepting it as well keeps a preview valid for at least an hour. */
export function previousProrationTime(now: Date): Date {
  return new Date(prorationTime(now).getTime() - HOUR_MS);
}
