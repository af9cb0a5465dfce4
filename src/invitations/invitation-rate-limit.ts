import type { Statements } from '../access/guard.ts';
import { rateLimited } from '../core/errors.ts';
import { sql } from '../db/sql.ts';
import type { Services } from '../http/services.ts';

/**
 * 429 `rate_limited` where the workspace has sent as many invitations as it may. They are counted by their audit records,
 * which stand and fall with the message: what was refused, undone or answered from an Idempotency-Key does not count.
 * Call it under the lock on the workspace, so that two requests never count the same. The window slides: one more may go
 * out when the oldest of the last ones is past it.
 */
export async function enforceInvitationRateLimit(tx: Statements, { rates }: Services): Promise<void> {
  if (!rates) return;
  const { quota, windowSeconds } = rates.invitations;
  // By audit_events_of_invitation_mail, newest first: the row that is looked for is the quota-th.
  const full = await tx.maybeOne<{ seconds: number }>(sql`
    select ceil(extract(epoch from e.created_at - now()))::int + ${windowSeconds}::int as seconds
    from access a join audit_events e on e.workspace_id = a.workspace_id
    where e.type in ('invitation.created', 'invitation.resent')
      and e.created_at > now() - make_interval(secs => ${windowSeconds}::int)
    order by e.created_at desc offset ${quota}::int - 1 limit 1`);
  if (full) throw rateLimited(Math.max(1, full.seconds), 'invitations of this workspace');
}
