import type { Statements } from '../../platform/access/guard.ts';
import { canGrant, findRole } from '../../platform/access/roles.ts';
import { ApiError, notFound, paymentRequired } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { toWorkspace, type Workspace, type WorkspaceRow, workspaceColumns } from '../workspaces/schema.ts';
import { type SeatCounts, seatColumns } from '../workspaces/seats.ts';
import { presentState } from './schema.ts';

interface Facts extends SeatCounts {
  invitation_id: string;
  workspace_id: string;
  state: string;
  email: string;
  role: string;
  own_email: string;
  own_email_verified: boolean;
  bound: boolean;
  granted_permissions: string[] | null;
  member_status: 'active' | 'inactive' | null;
  inviter_role: string | null;
  read_only: boolean;
}

/** Error codes of `joinWorkspace`, in addition to the common ones. */
export const JOIN_ERRORS = [
  'forbidden',
  'key_is_workspace_bound',
  'payment_required',
  'not_found',
  'conflict',
  'already_member',
  'member_inactive',
  'seat_limit_reached',
] as const;

/**
 * Makes the caller a member by the invitation `i` that matches `isIt`. Requires a transaction that can see its
 * workspace. The caller's verified address must equal the invited one byte for byte. The locks on the workspace and the
 * invitation let only one of several concurrent callers in. Throws JOIN_ERRORS.
 */
export async function joinWorkspace(tx: Statements, isIt: Sql): Promise<Workspace> {
  await tx.maybeOne(sql`
    select 1 from workspaces w join invitations i on i.workspace_id = w.workspace_id
    where ${isIt} for no key update of w`);
  const facts = await tx.maybeOne<Facts>(sql`
    select i.invitation_id, i.workspace_id, ${presentState} as state, i.email, i.role, u.email as own_email,
      u.email_verified as own_email_verified, a.bound_workspace_id is not null as bound, a.granted as granted_permissions,
      (select m.status from memberships m where m.workspace_id = i.workspace_id and m.user_id = a.user_id) as member_status,
      (select m.role from memberships m where m.workspace_id = i.workspace_id and m.user_id = i.invited_by
        and m.status = 'active') as inviter_role, is_read_only(i.workspace_id) as read_only, ${seatColumns}
    from access a
    join users u on u.user_id = a.user_id
    join invitations i on ${isIt}
    join workspaces w on w.workspace_id = i.workspace_id and w.deleted_at is null
  `);
  refuseUnlessAcceptable(facts);
  const made = await tx.one<WorkspaceRow>({
    accepted: sql`
      update invitations i set state = 'accepted' from access a where i.invitation_id = ${facts.invitation_id}
      returning i.invitation_id, i.workspace_id, i.role`,
    joined: sql`
      insert into memberships (membership_id, workspace_id, user_id, role)
      select ${newId('mem')}, accepted.workspace_id, a.user_id, accepted.role from accepted, access a
      returning membership_id, workspace_id, user_id, role, status`,
    after: sql`select joined.*, accepted.invitation_id from joined, accepted`,
    result: sql`
      select ${workspaceColumns} from joined m join workspaces w on w.workspace_id = m.workspace_id`,
  });
  return toWorkspace(made, facts.granted_permissions);
}

function refuseUnlessAcceptable(facts: Facts | undefined): asserts facts is Facts {
  if (facts?.bound)
    throw new ApiError(
      'key_is_workspace_bound',
      'Only a person can accept an invitation: use a personal key or an access token.',
    );
  if (!facts || facts.state === 'revoked' || facts.state === 'expired') throw notFound('invitation');
  if (facts.own_email !== facts.email) {
    throw new ApiError('forbidden', "This invitation is for another address than your account's.");
  }
  if (!facts.own_email_verified) {
    throw new ApiError('forbidden', 'The address of your account is not verified, so it opens no invitation.');
  }
  if (facts.read_only) throw paymentRequired();
  if (facts.state !== 'pending') throw new ApiError('conflict', 'This invitation was already accepted.');
  if (facts.member_status === 'active')
    throw new ApiError('already_member', 'You are already a member of this workspace.');
  if (facts.member_status === 'inactive') {
    throw new ApiError(
      'member_inactive',
      'Your membership is inactive. Ask an administrator of the workspace to reactivate it.',
    );
  }
  const inviter = findRole(facts.inviter_role ?? '');
  const invited = findRole(facts.role);
  if (!inviter || !invited || !inviter.permissions.includes('members:manage') || !canGrant(inviter, invited, null)) {
    throw new ApiError('conflict', 'The member who invited you may no longer do so. Ask for a new invitation.');
  }
  // The invitation reserved a seat when it was created, but seats may have been removed since.
  if (!facts.unlimited && !facts.overage_allowed && facts.active >= facts.granted) {
    throw new ApiError('seat_limit_reached', 'The workspace has no free seat. Ask one of its administrators.');
  }
}
