import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleRetention, Retention, retentionColumns } from './schema.ts';

export const getRetention = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/retention',
  summary: 'Get the retention settings',
  description:
    'How long the workspace keeps deleted pages, old revisions and audit records, and whether it is under a legal hold.',
  access: onWorkspace('enterprise:manage'),
  params: Type.Object({ workspace_id: Id }),
  reply: Retention,
  example: { reply: exampleRetention },
  run: ({ one }) =>
    one(sql`select ${retentionColumns} from access a join workspaces w on w.workspace_id = a.workspace_id`),
});
