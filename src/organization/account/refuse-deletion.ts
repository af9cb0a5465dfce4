import { ApiError } from '../../platform/core/errors.ts';

/** A workspace that the caller is or was a member of. */
export interface AccountWorkspace {
  workspace_id: string;
  /** '' if the caller has left it. */
  name: string;
  membership_id: string | null;
  is_only_owner: boolean;
  other_members: number;
  wikis: number;
  /** Whether a plan renews, or a payment may be in progress. */
  is_paid: boolean;
  is_held: boolean;
}

type OwnMembership = AccountWorkspace & { membership_id: string };

/**
 * Returns the memberships that end with an account. Throws 409 `last_owner`, `workspace_not_empty`, `conflict` or
 * `legal_hold`, with a message that names the workspaces and the remedy.
 */
export function refuseDeletion(workspaces: readonly AccountWorkspace[]): OwnMembership[] {
  const memberships = workspaces.filter((it): it is OwnMembership => it.membership_id !== null);
  const orphaned = memberships.filter((it) => it.is_only_owner && it.other_members > 0);
  if (orphaned.length > 0) {
    throw new ApiError(
      'last_owner',
      `You are the only owner of ${names(orphaned)}, which has other members. Make another member an owner first.`,
    );
  }
  if (workspaces.some(({ is_held }) => is_held)) throw heldAccount(memberships.filter(({ is_held }) => is_held));
  const alone = memberships.filter(({ other_members }) => other_members === 0);
  const paid = alone.filter(({ is_paid }) => is_paid);
  if (paid.length > 0) {
    throw new ApiError(
      'conflict',
      `You are the only member of ${names(paid)}, which has a renewing plan or a payment from today. Cancel the plan first.`,
    );
  }
  const filled = alone.filter(({ wikis }) => wikis > 0);
  if (filled.length > 0) {
    throw new ApiError(
      'workspace_not_empty',
      `You are the only member of ${names(filled)}, which has wikis. Export what you want to keep, then delete them. Deleting your account also deletes the workspace.`,
    );
  }
  return memberships;
}

/** A legal hold also preserves authorship. The message does not name workspaces that the caller has left. */
function heldAccount(held: readonly AccountWorkspace[]): ApiError {
  const where = held.length > 0 ? names(held) : 'A workspace you were in';
  return new ApiError(
    'legal_hold',
    `${where} is under a legal hold, which preserves authorship. Delete your account after the hold is lifted.`,
  );
}

/** Lists up to three names. */
function names(workspaces: readonly AccountWorkspace[]): string {
  const shown = workspaces.slice(0, 3).map(({ name }) => `“${name}”`);
  const more = workspaces.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ').replace(/, (?=[^,]*$)/, ' and ');
}
