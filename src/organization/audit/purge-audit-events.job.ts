import { newId } from '../../platform/core/ids.ts';
import { sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';

/** Records deleted per transaction. */
const BATCH = 2_000;

/** Deletes audit records older than the workspace's retention period. Each batch writes an audit record of its own. */
export const purgeAuditEvents = defineJob({
  name: 'purge-audit-events',
  for: 'workspace',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 3_600,
  every: 86_400,
  due: sql`select wiki_id, workspace_id from workspaces_with_audit_retention()`,
  async run({ db, target: { workspace_id }, signal }) {
    for (let removed = BATCH; removed === BATCH && !signal.aborted; ) {
      const [batch] = await db.query<{ removed: number }>(sql`
        with purged as materialized (
          select purge_audit_events(${workspace_id}, ${BATCH}) as removed
        ), audit as (
          insert into audit_events (event_id, workspace_id, type, target_kind, target_id, request_id, address, before)
          select ${newId('evt')}, ${workspace_id}, 'workspace.audit_events_purged', 'workspace', ${workspace_id}, '', '',
            jsonb_build_object('audit_events', p.removed)
          from purged p where p.removed > 0
        )
        select removed from purged`);
      removed = batch?.removed ?? 0;
    }
  },
});
