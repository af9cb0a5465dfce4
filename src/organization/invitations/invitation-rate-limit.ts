import type { Statements } from '../../platform/access/guard.ts';
import { countOrRefuse } from '../../platform/access/limits/limit-counts.ts';
import type { Rate } from '../../platform/access/limits/rate-limit-buckets.ts';
import { rateLimited } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Services } from '../../platform/http/services.ts';

/** All users together may send this many times the limit of one user to one address. */
const USERS_PER_ADDRESS = 4;

/**
 * Counts an invitation email. Call it under the lock on the workspace, in the transaction that enqueues the message, so
 * that requests that are refused, rolled back or replayed for an Idempotency-Key do not count. Throws 429
 * `rate_limited` if the workspace, the sender, the address or the service as a whole has reached its limit.
 */
export async function enforceInvitationRateLimit(
  tx: Statements,
  { rates }: Services,
  { sent_by, email }: { sent_by: string; email: string },
): Promise<void> {
  if (!rates) return;
  await refuseOfWorkspace(tx, rates.invitations, false, 'invitations of this workspace');
  await refuseOfWorkspace(
    tx,
    rates.new_workspace_invitations,
    true,
    'invitations of a new workspace without a paid plan',
  );
  const to = rates.address_invitations;
  const toAll = { ...to, quota: to.quota * USERS_PER_ADDRESS };
  await countOrRefuse(tx, `invitations by ${sent_by}`, rates.user_invitations, 'invitations of one user');
  await countOrRefuse(tx, `invitations by ${sent_by} to ${email}`, to, 'invitations to this address');
  await countOrRefuse(tx, `invitations to ${email}`, toAll, 'invitations to this address');
  await countOrRefuse(tx, 'invitations', rates.service_invitations, 'invitations of this service');
}

/**
 * Counts the messages of a workspace by their audit records, in a sliding window: another message may be sent once the
 * oldest one leaves the window. `ifNew` applies the limit only to a workspace younger than the window and without a
 * paid plan.
 */
async function refuseOfWorkspace(tx: Statements, rate: Rate, ifNew: boolean, what: string): Promise<void> {
  const { quota, windowSeconds } = rate;
  // Uses the index audit_events_of_invitation_mail, newest first; finds the quota-th row.
  const full = await tx.maybeOne<{ seconds: number }>(sql`
    select ceil(extract(epoch from e.created_at - now()))::int + ${windowSeconds}::int as seconds
    from access a join audit_events e on e.workspace_id = a.workspace_id
    join workspaces w on w.workspace_id = a.workspace_id
    where e.type in ('invitation.created', 'invitation.resent')
      and e.created_at > now() - make_interval(secs => ${windowSeconds}::int)
      and (not ${ifNew}::boolean or (
        w.created_at > now() - make_interval(secs => ${windowSeconds}::int)
        and not exists (select from subscriptions s where s.workspace_id = w.workspace_id and s.period_end > now())))
    order by e.created_at desc offset ${quota}::int - 1 limit 1`);
  if (full) throw rateLimited(Math.max(1, full.seconds), what);
}
