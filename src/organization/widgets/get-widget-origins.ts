import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWidgetOrigins, WidgetOrigins, widgetOriginsColumns } from './schema.ts';

export const getWidgetOrigins = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/widget-origins',
  summary: 'Get the widget origins',
  description: "The other sites whose pages may show this workspace's widgets.",
  access: onWorkspace('developers:manage'),
  params: Type.Object({ workspace_id: Id }),
  reply: WidgetOrigins,
  example: { reply: exampleWidgetOrigins },
  run: ({ one }) =>
    one(sql`select ${widgetOriginsColumns} from access a join workspaces w on w.workspace_id = a.workspace_id`),
});
