import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleRetention, Retention, retentionColumns } from './schema.ts';
import { readReason } from './set-legal-hold.ts';

export const liftLegalHold = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/legal-hold/lift',
  summary: 'Lift the legal hold',
  description:
    'Content that the trash and the retention settings would have deleted during the hold is deleted at the earliest a day later. Without a hold, nothing changes and nothing is added to the audit log.',
  access: onWorkspace('workspace:delete'),
  event: 'workspace.legal_hold_lifted',
  whenUnpaid: true,
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({ reason: InputText() }),
  reply: Retention,
  errors: ['invalid_request'],
  example: {
    body: { reason: 'The case is settled.' },
    reply: { ...exampleRetention, purges_after: '2026-11-22T05:29:32.104Z' },
  },
  run: async ({ body, many, maybeOne, refuse }) => {
    const reason = readReason(body.reason);
    if (reason instanceof ApiError) return refuse(reason);
    const [retention] = await many<Retention>({
      before: sql`
        select w.workspace_id, w.held_since, w.held_by, w.hold_reason
        from workspaces w join access a on a.workspace_id = w.workspace_id where w.held_since is not null for no key update of w`,
      changed: sql`
        update workspaces w set held_since = null, held_by = null, hold_reason = null, retention_changed_at = now()
        from before where w.workspace_id = before.workspace_id returning w.*`,
      after: sql`select w.workspace_id, '' as held_by, '' as hold_reason, ${reason}::text as lift_reason from changed w`,
      result: sql`
        select ${retentionColumns} from (
          select * from changed union all
          select w.* from workspaces w join access a on a.workspace_id = w.workspace_id where w.held_since is null) w`,
    });
    if (retention) return retention;
    // A concurrent request lifted the hold while this one waited for the row, and wrote the audit record.
    const lifted = await maybeOne<Retention>(
      sql`select ${retentionColumns} from access a join workspaces w on w.workspace_id = a.workspace_id`,
    );
    if (!lifted) throw notFound();
    return lifted;
  },
});
