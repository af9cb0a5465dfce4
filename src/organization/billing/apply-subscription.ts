import { newId } from '../../platform/core/ids.ts';
import type { ContextDb, Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { JobServices } from '../../platform/jobs/define-job.ts';
import type { ProviderSubscription } from '../../platform/providers/payments/provider.ts';
import { grantSeats, seatsOfPlan, unpaidPlan } from '../workspaces/seats.ts';
import { type DunningStage, dunningStage, graceEnd, tellOwners } from './dunning.ts';

/** The provider's state at `asked_at`. */
interface ProviderAnswer {
  workspace_id: string;
  asked_at: string;
  own: ProviderSubscription | undefined;
  /** Whether the answer completes the change that this process has claimed. */
  endsClaim: boolean;
}

interface StoredSubscription {
  plan_id: string;
  quantity: number;
  subscription_id: string;
  currency: string;
  amount_due: number;
  cancel_at_period_end: boolean;
  period_start: string;
  period_end: string;
  unpaid_since: string | null;
  writes_end_at: string | null;
  dunning_stage: DunningStage;
}

/** Starting point for a change of the quantity. */
export interface AppliedState {
  active: number;
  revision: number;
}

/**
 * Stores the provider's state in one transaction with its audit record: the subscription, its seats and the notices to
 * owners. Ignores an answer older than the stored one and then returns undefined; also ignores an answer without a
 * subscription if the operator has set the plan. Usually nothing has changed, which takes one statement to find out.
 */
export async function applySubscription(
  db: ContextDb,
  services: JobServices,
  answer: ProviderAnswer,
): Promise<AppliedState | undefined> {
  const { workspace_id, asked_at } = answer;
  const seen = await takeAnswer(db.query, answer);
  if (!seen || isStored(seen.before, services, answer)) return seen;
  return db.transaction(async (query) => {
    await query(sql`select 1 from workspaces where workspace_id = ${workspace_id} for no key update`);
    const locked = await takeAnswer(query, answer);
    if (!locked || isStored(locked.before, services, answer)) return locked;
    const { before, active, revision } = locked;
    const after = answer.own && copyOf(answer.own, before, services, new Date(asked_at));
    await store(query, workspace_id, after);
    await grantSeatsOf(query, workspace_id, services, after);
    await query(sql`update billing_customers set revision = revision + 1 where workspace_id = ${workspace_id}`);
    await record(query, workspace_id, before, after);
    const step = after ? after.dunning_stage : 'ended';
    if (before && step !== before.dunning_stage)
      await tellOwners(query, workspace_id, step === '' ? 'paid' : step, asked_at);
    return { active, revision: revision + 1 };
  });
}

/** Records the time of the answer and returns the stored copy; undefined if a newer answer is stored. */
async function takeAnswer(
  query: Query,
  { workspace_id, asked_at, endsClaim }: ProviderAnswer,
): Promise<(AppliedState & { before: StoredSubscription | undefined }) | undefined> {
  const [row] = await query<AppliedState & { is_stored: boolean } & StoredSubscription>(sql`
    with latest as (
      update billing_customers set synced_at = ${asked_at}, changing_until = case when ${endsClaim} then null else changing_until end
      where workspace_id = ${workspace_id} and (synced_at is null or synced_at <= ${asked_at}) returning workspace_id, revision)
    select l.revision::int as revision, s.workspace_id is not null as is_stored,
      (select count(*)::int from memberships m where m.workspace_id = l.workspace_id and m.status = 'active') as active,
      s.plan_id, s.quantity, s.subscription_id, s.currency, s.amount_due::bigint as amount_due, s.cancel_at_period_end, s.period_start,
      s.period_end, s.unpaid_since, s.writes_end_at, s.dunning_stage
    from latest l left join subscriptions s on s.workspace_id = l.workspace_id`);
  if (!row) return undefined;
  const { revision, active, is_stored, ...before } = row;
  return { revision, active, before: is_stored ? before : undefined };
}

function isStored(
  before: StoredSubscription | undefined,
  services: JobServices,
  { own, asked_at }: ProviderAnswer,
): boolean {
  if (!own) return !before || before.subscription_id === '';
  return JSON.stringify(before) === JSON.stringify(copyOf(own, before, services, new Date(asked_at)));
}

function copyOf(
  own: ProviderSubscription,
  before: StoredSubscription | undefined,
  { plans }: JobServices,
  now: Date,
): StoredSubscription {
  const { plan_id, quantity, subscription_id, currency, amount_due, cancel_at_period_end, unpaid_since } = own;
  const end = graceEnd(
    unpaid_since,
    plans.find((plan) => plan.plan_id === plan_id),
  );
  return {
    ...{ plan_id, quantity, subscription_id, currency, amount_due, cancel_at_period_end },
    period_start: own.period_start.toISOString(),
    period_end: own.period_end.toISOString(),
    unpaid_since: unpaid_since?.toISOString() ?? null,
    writes_end_at: end?.toISOString() ?? null,
    dunning_stage: dunningStage(end, before?.dunning_stage ?? '', now),
  };
}

async function store(query: Query, workspace_id: string, after: StoredSubscription | undefined): Promise<void> {
  if (!after) {
    await query(sql`delete from subscriptions where workspace_id = ${workspace_id}`);
    return;
  }
  await query(sql`
    insert into subscriptions (workspace_id, plan_id, quantity, subscription_id, currency, amount_due, cancel_at_period_end,
      period_start, period_end, unpaid_since, writes_end_at, dunning_stage)
    select ${workspace_id}, s.* from jsonb_to_record(${JSON.stringify(after)}::jsonb) as s (plan_id text, quantity int,
      subscription_id text, currency text, amount_due bigint, cancel_at_period_end boolean, period_start timestamptz,
      period_end timestamptz, unpaid_since timestamptz, writes_end_at timestamptz, dunning_stage text)
    on conflict (workspace_id) do update set plan_id = excluded.plan_id, quantity = excluded.quantity,
      subscription_id = excluded.subscription_id, currency = excluded.currency, amount_due = excluded.amount_due,
      cancel_at_period_end = excluded.cancel_at_period_end, period_start = excluded.period_start,
      period_end = excluded.period_end, unpaid_since = excluded.unpaid_since, writes_end_at = excluded.writes_end_at,
      dunning_stage = excluded.dunning_stage`);
}

/**
 * Sets the seats of the plan. Members above the seats stay. If the plan is no longer in the catalogue, the seats stay
 * unchanged.
 */
async function grantSeatsOf(
  query: Query,
  workspace_id: string,
  services: JobServices,
  after: StoredSubscription | undefined,
): Promise<void> {
  const plan = after ? services.plans.find(({ plan_id }) => plan_id === after.plan_id) : unpaidPlan(services);
  if (after && !plan) {
    services.log.error({ workspace_id, plan_id: after.plan_id }, 'the plan of a subscription is not in the catalogue');
    return;
  }
  await query(grantSeats(workspace_id, seatsOfPlan(plan, after?.quantity)));
}

async function record(query: Query, workspace_id: string, before?: object, after?: object): Promise<void> {
  const was = before as Record<string, unknown> | undefined;
  const became = after as Record<string, unknown> | undefined;
  const names = Object.keys(became ?? was ?? {}).filter((name) => was?.[name] !== became?.[name]);
  const pick = (from?: Record<string, unknown>) =>
    JSON.stringify(
      Object.fromEntries(names.filter((name) => from?.[name] != null).map((name) => [name, from?.[name]])),
    );
  await query(sql`
    insert into audit_events (event_id, workspace_id, type, target_kind, target_id, credential_kind, credential_id, request_id,
      address, before, after)
    values (${newId('evt')}, ${workspace_id}, 'workspace.subscription_changed', 'workspace', ${workspace_id}, 'provider',
      'provider', '', '', ${pick(was)}::jsonb, ${pick(became)}::jsonb)`);
}
