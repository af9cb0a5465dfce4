import type { Statements } from '../../platform/access/guard.ts';
import { countOrRefuse } from '../../platform/access/limits/limit-counts.ts';
import type { Services } from '../../platform/http/services.ts';

/**
 * Counts a workspace that the user creates; call it in the same transaction. Throws 429 `rate_limited` if the user has
 * created too many. Needed because each new workspace has limits of its own.
 */
export async function enforceWorkspaceRateLimit(tx: Statements, { rates }: Services, user_id: string): Promise<void> {
  if (rates) await countOrRefuse(tx, `workspaces ${user_id}`, rates.workspaces, 'new workspaces of one user');
}
