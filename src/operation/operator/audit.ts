import { newId } from '../../platform/core/ids.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';

export interface Actor {
  credential_kind: 'command' | 'operator';
  /** null for a command, which has no user. */
  user_id: string | null;
  /** "" for a command. */
  request_id: string;
}

export const COMMAND: Actor = { credential_kind: 'command', user_id: null, request_id: '' };

/**
 * Writes the audit record of an operator's action. The workspace's owners can read it, so it omits the operator's
 * address; the log has the address under the request id.
 */
export async function record(
  query: Query,
  by: Actor,
  about: {
    workspace_id: string | null;
    event: string;
    before: object;
    after: object;
    /** Defaults to the workspace itself. */
    target?: { kind: string; id: string };
  },
): Promise<void> {
  const { workspace_id, event, before, after, target = { kind: 'workspace', id: workspace_id ?? '' } } = about;
  const { credential_kind, user_id, request_id } = by;
  await query(sql`
    insert into audit_events (event_id, workspace_id, type, target_kind, target_id, actor_id, credential_kind, credential_id,
      request_id, address, before, after)
    values (${newId('evt')}, ${workspace_id}, ${event}, ${target.kind}, ${target.id}, ${user_id}, ${credential_kind},
      ${credential_kind}, ${request_id}, '', ${JSON.stringify(before)}::jsonb, ${JSON.stringify(after)}::jsonb)`);
}
