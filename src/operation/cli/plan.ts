import { loadPlans, type Plan } from '../../organization/billing/plans.ts';
import { grantSeats, seatsOfPlan } from '../../organization/workspaces/seats.ts';
import type { Db } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Config } from '../config.ts';
import { COMMAND, record } from '../operator/audit.ts';
import { readArguments } from './arguments.ts';
import { UsageError, withDatabase } from './with-database.ts';
import { findWorkspace, wholeNumber } from './workspace.ts';

export const PLAN_USAGE = `  ibid plan WORKSPACE                                           shows the plan of a workspace
  ibid plan WORKSPACE PLAN_ID [--seats N] [--until DATE]        sets it without a payment; none: no plan, and
                                                                unlimited seats`;

type Print = (line: string) => void;

interface SetPlan {
  plan_id: string;
  quantity: number;
  subscription_id: string;
  period_end: string;
}

/** Runs `ibid plan …`. Throws UsageError. */
export async function runPlanCommand(config: Config, args: readonly string[], print: Print): Promise<void> {
  const { positionals, values } = readArguments(args, {
    options: { seats: { type: 'string' }, until: { type: 'string' } },
    most: 2,
    usage: PLAN_USAGE,
  });
  const [given = '', plan_id] = positionals;
  const plans = loadPlans(config.PLANS_FILE);
  await withDatabase(config, async (db) => {
    const { workspace_id, slug } = await findWorkspace(db, given);
    if (plan_id !== undefined) await setPlan(db, workspace_id, planOf(plans, plan_id), values);
    const [now] = await db.query<SetPlan>(sql`
      select plan_id, quantity, subscription_id, period_end from subscriptions where workspace_id = ${workspace_id}`);
    if (!now) return print(`${slug}: no plan`);
    const by = now.subscription_id === '' ? 'set by the operator' : `paid as ${now.subscription_id}`;
    print(`${slug}: ${now.plan_id}, ${now.quantity} seats, until ${now.period_end.slice(0, 10)}, ${by}`);
  });
}

/** Finds a plan by id; returns undefined for "none". Throws UsageError. */
function planOf(plans: readonly Plan[], plan_id: string): Plan | undefined {
  if (plan_id === 'none') return undefined;
  const plan = plans.find((candidate) => candidate.plan_id === plan_id);
  if (plan) return plan;
  throw new UsageError(`unknown plan "${plan_id}"; the plans are ${plans.map((it) => it.plan_id).join(', ')}, none.`);
}

async function setPlan(
  db: Db,
  workspace_id: string,
  plan: Plan | undefined,
  { seats, until }: { seats?: string; until?: string },
): Promise<void> {
  const quantity = seats === undefined ? Math.max(plan?.seats ?? 1, 1) : wholeNumber('--seats', seats, 1_000_000);
  const end = until === undefined ? endOf(plan) : new Date(`${until}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(until ?? '2000-01-01') || !(end.getTime() > Date.now())) {
    throw new UsageError('--until must be a future date, such as 2027-12-31.');
  }
  await db.transaction(async (query) => {
    await query(sql`select 1 from workspaces where workspace_id = ${workspace_id} for no key update`);
    const [before] = await query<SetPlan>(sql`
      select plan_id, quantity, subscription_id, period_end from subscriptions where workspace_id = ${workspace_id}`);
    if (before && before.subscription_id !== '') {
      throw new UsageError('the workspace pays for a subscription: end it at the payment provider first.');
    }
    await query(sql`delete from subscriptions where workspace_id = ${workspace_id}`);
    if (plan) {
      await query(sql`
        insert into subscriptions (workspace_id, plan_id, quantity, currency, period_start, period_end)
        values (${workspace_id}, ${plan.plan_id}, ${quantity}, ${plan.currency}, now(), ${end})`);
    }
    await query(grantSeats(workspace_id, seatsOfPlan(plan, plan && quantity)));
    const after = plan ? { plan_id: plan.plan_id, quantity, period_end: end.toISOString() } : {};
    await record(query, COMMAND, { workspace_id, event: 'workspace.plan_set', before: before ?? {}, after });
  });
}

/** Returns the end of a period that starts now: a month or a year. */
function endOf(plan: Plan | undefined): Date {
  const end = new Date();
  if (plan?.interval === 'month') end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCFullYear(end.getUTCFullYear() + 1);
  return end;
}
