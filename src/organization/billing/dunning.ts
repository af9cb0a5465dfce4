import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Plan } from '../../platform/providers/payments/payments.ts';
import { sendBillingMail } from './send-billing-mail.job.ts';

/** Latest notice sent to the owners about an unpaid invoice; "" if nothing is unpaid. */
export type DunningStage = '' | 'payment_failed' | 'grace_ending' | 'read_only';

const DAY_MS = 86_400_000;
const DEFAULT_GRACE_DAYS = 14;
/** Days before the end of the grace period when owners are reminded. */
const REMINDER_DAYS = 3;

/** Returns the time from which writes are refused; undefined if everything is paid. */
export function graceEnd(unpaid_since: Date | null, plan: Plan | undefined): Date | undefined {
  if (unpaid_since === null) return undefined;
  return new Date(unpaid_since.getTime() + (plan?.grace_days ?? DEFAULT_GRACE_DAYS) * DAY_MS);
}

/** Returns the next stage. It never goes back while the same invoice is unpaid. */
export function dunningStage(end: Date | undefined, before: DunningStage, now: Date): DunningStage {
  if (!end) return '';
  if (now >= end) return 'read_only';
  if (now.getTime() >= end.getTime() - REMINDER_DAYS * DAY_MS && before !== '') return 'grace_ending';
  return before === '' ? 'payment_failed' : before;
}

/** Enqueues a message to each active owner. */
export async function tellOwners(
  query: Query,
  workspace_id: string,
  step: Exclude<DunningStage, ''> | 'paid' | 'ended',
  at: string,
): Promise<void> {
  const owners = await query<{ user_id: string }>(sql`
    select user_id from memberships where workspace_id = ${workspace_id} and role = 'owner' and status = 'active'`);
  for (const { user_id } of owners) {
    await query(sendBillingMail.enqueue({ user_id, step, at }, sql`(select ${workspace_id}::text as workspace_id)`));
  }
}
