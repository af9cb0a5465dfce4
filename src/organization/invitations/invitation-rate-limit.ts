import type { Statements } from '../../platform/access/guard.ts';
import { countOrRefuse } from '../../platform/access/limits/limit-counts.ts';
import type { Rate } from '../../platform/access/limits/rate-limit-buckets.ts';
import { rateLimited } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Services } from '../../platform/http/services.ts';

/** How many times as often as one user all users together send an invitation to one address. */
const USERS_PER_ADDRESS = 4;

/**
 * Counts a message with an invitation. Call it under the lock on the workspace, in the transaction that writes the
 * message's job, so that what is refused, rolled back or answered from an Idempotency-Key does not count. Errors: 429
 * `rate_limited` where the workspace, its sender, the address, or the service as a whole has been sent as many as it may.
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
 * The messages of a workspace are counted by their audit records. The window slides: one more may be sent when the
 * oldest of the last ones has left it. `ifNew`: only of a workspace that is not older than the window and has no paid plan.
 */
async function refuseOfWorkspace(tx: Statements, rate: Rate, ifNew: boolean, what: string): Promise<void> {
  const { quota, windowSeconds } = rate;
  // By audit_events_of_invitation_mail, newest first: the row that is looked for is the quota-th.
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
