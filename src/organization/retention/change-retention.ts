import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Id } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import {
  exampleRetention,
  Retention,
  type RetentionSetting,
  retentionColumns,
  SHORTEST_DAYS,
  settingColumns,
} from './schema.ts';

const { trash_days, revision_days, audit_days } = Retention.properties;

/** Nothing is deleted within a day of a change, so that a mistake can be reverted. */
export const changeRetention = endpoint({
  method: 'PATCH',
  path: '/v1/workspaces/:workspace_id/retention',
  summary: 'Change the retention settings',
  description:
    'Omitted settings do not change. Content that exceeds a shorter period is permanently deleted, at the earliest a day after the change. Until then, a longer period keeps it.',
  access: onWorkspace('enterprise:manage'),
  event: 'workspace.retention_changed',
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({
    trash_days: Type.Optional(trash_days),
    revision_days: Type.Optional(revision_days),
    audit_days: Type.Optional(audit_days),
  }),
  reply: Retention,
  errors: ['invalid_request'],
  example: {
    body: { trash_days: 60, revision_days: 365 },
    reply: { ...exampleRetention, purges_after: '2026-11-22T05:29:32.104Z' },
  },
  run: ({ body, one, refuse }) => {
    const tooShort = findTooShort(body);
    if (tooShort) return refuse(tooShort);
    const given = (days: number | null | undefined, current: Sql) => (days === undefined ? current : sql`${days}::int`);
    const trash = given(body.trash_days, sql`w.trash_days`);
    const revisions = given(body.revision_days, sql`w.revision_days`);
    const audit = given(body.audit_days, sql`w.audit_days`);
    return one({
      // Lock the row so that concurrent changes run one after another and each audits the values it replaced.
      before: sql`
        select ${settingColumns} from workspaces w join access a on a.workspace_id = w.workspace_id for no key update of w`,
      changed: sql`
        update workspaces w set trash_days = ${trash}, revision_days = ${revisions}, audit_days = ${audit},
          retention_changed_at = case
            when (w.trash_days, w.revision_days, w.audit_days) is distinct from (${trash}, ${revisions}, ${audit}) then now()
            else w.retention_changed_at end
        from before where w.workspace_id = before.workspace_id returning w.*`,
      after: sql`select ${settingColumns} from changed w`,
      result: sql`select ${retentionColumns} from changed w`,
    });
  },
});

function findTooShort(given: { [name in RetentionSetting]?: number | null }): ApiError | undefined {
  for (const [name, shortest] of Object.entries(SHORTEST_DAYS) as [RetentionSetting, number][]) {
    const days = given[name] ?? shortest;
    if (days < shortest) {
      return new ApiError(
        'invalid_request',
        `${name} is ${days}; the minimum is ${shortest}, to leave time to notice a loss.`,
      );
    }
  }
  return undefined;
}
