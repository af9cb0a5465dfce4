import type { Statements } from '../../platform/access/guard.ts';
import { canGrant, findRole, notGrantable } from '../../platform/access/roles.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import { presentState } from './schema.ts';

interface PendingFacts {
  email: string;
  role: string;
  /** Id of the caller. */
  asker_id: string;
}

/**
 * Returns a pending invitation of the workspace; the states accepted, revoked and expired are final. Throws 404, 403
 * `role_not_grantable` if its role is above the caller's, or 409 `conflict` if its state is final.
 */
export async function readPending(tx: Statements, invitation_id: string): Promise<PendingFacts> {
  const row = await tx.maybeOne<PendingFacts & { state: string; own_role: string; own_granted: string[] | null }>(sql`
    select ${presentState} as state, i.email, i.role, a.role as own_role, a.granted as own_granted, a.user_id as asker_id
    from access a
    join invitations i on i.workspace_id = a.workspace_id and i.invitation_id = ${invitation_id}
  `);
  if (!row) throw notFound('invitation');
  const own = findRole(row.own_role);
  const invited = findRole(row.role);
  if (!own || !invited || !canGrant(own, invited, row.own_granted)) throw notGrantable();
  if (row.state !== 'pending') {
    throw new ApiError('conflict', `The invitation is ${row.state} and final. Invite the address again.`);
  }
  return row;
}
