import type { Statements } from '../../platform/access/guard.ts';
import { canGrant, findRole, notGrantable, type RoleEntry } from '../../platform/access/roles.ts';
import { notFound } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import { type SeatCounts, seatColumns } from '../workspaces/seats.ts';

interface MemberFacts extends SeatCounts {
  /** Role of the caller. */
  own: RoleEntry;
  /** Permissions granted to the caller's credential; null means all permissions of the role. */
  own_granted: string[] | null;
  present: RoleEntry;
  status: 'active' | 'inactive';
  is_self: boolean;
  /** Whether the member is the only active owner. */
  is_last_owner: boolean;
}

/**
 * Reads the facts that the rules about a member depend on. Call it under the lock on the workspace. Throws 404 if the
 * membership is not in this workspace, 403 `role_not_grantable` if the member's role is above the caller's.
 */
export async function readMemberFacts(tx: Statements, membership_id: string): Promise<MemberFacts> {
  const row = await tx.maybeOne<Omit<MemberFacts, 'own' | 'present'> & { own_role: string; role: string }>(sql`
    select a.role as own_role, a.granted as own_granted, m.role, m.status, m.membership_id = a.membership_id as is_self, ${seatColumns},
      m.role = 'owner' and m.status = 'active' and not exists (
        select from memberships o where o.workspace_id = a.workspace_id and o.role = 'owner' and o.status = 'active'
          and o.membership_id <> m.membership_id) as is_last_owner
    from access a
    join workspaces w on w.workspace_id = a.workspace_id
    join memberships m on m.workspace_id = a.workspace_id and m.membership_id = ${membership_id}
  `);
  if (!row) throw notFound('member');
  const own = findRole(row.own_role);
  const present = findRole(row.role);
  if (!own || !present) throw new Error('a stored role is not in the catalogue');
  if (!canGrant(own, present, row.own_granted)) throw notGrantable();
  return { ...row, own, present };
}
