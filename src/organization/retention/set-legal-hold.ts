import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleHold, exampleRetention, HOLD_REASON_MAX, Retention, retentionColumns } from './schema.ts';

/**
 * Once the response is sent, no data of the workspace is deleted for good. A concurrent deletion holds the lock on the
 * workspace row, and this request waits for it.
 */
export const setLegalHold = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/legal-hold',
  summary: 'Set a legal hold',
  description:
    'Under a legal hold, nothing in the workspace is permanently deleted: users cannot delete a wiki, source or attachment (409 `legal_hold`), and the trash and the retention settings delete nothing. If a hold already exists, its reason is replaced.',
  access: onWorkspace('workspace:delete'),
  event: 'workspace.legal_hold_set',
  whenUnpaid: true,
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({ reason: InputText() }),
  reply: Retention,
  errors: ['invalid_request'],
  example: { body: { reason: exampleHold.reason }, reply: { ...exampleRetention, legal_hold: exampleHold } },
  run: ({ body, one, refuse }) => {
    const reason = readReason(body.reason);
    if (reason instanceof ApiError) return refuse(reason);
    return one({
      before: sql`
        select w.workspace_id, coalesce(w.held_by, '') as held_by, coalesce(w.hold_reason, '') as hold_reason
        from workspaces w join access a on a.workspace_id = w.workspace_id
        where w.deleted_at is null for no key update of w`,
      changed: sql`
        update workspaces w set held_since = coalesce(w.held_since, now()), held_by = a.user_id, hold_reason = ${reason}
        from before, access a where w.workspace_id = before.workspace_id returning w.*`,
      after: sql`select w.workspace_id, w.held_by, w.hold_reason from changed w`,
      result: sql`select ${retentionColumns} from changed w`,
    });
  },
});

/** Trims a reason. Returns an ApiError if it is empty or too long. */
export function readReason(given: string): string | ApiError {
  const reason = given.trim();
  if (reason !== '' && reason.length <= HOLD_REASON_MAX) return reason;
  return new ApiError('invalid_request', `Give a reason of 1 to ${HOLD_REASON_MAX} characters for the audit log.`);
}
