import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWidgetOrigins, ORIGINS_MAX, readOrigins, WidgetOrigins, widgetOriginsColumns } from './schema.ts';

/** Effective for every request that starts after the response, but browsers may cache a preflight for a minute. */
export const changeWidgetOrigins = endpoint({
  method: 'PATCH',
  path: '/v1/workspaces/:workspace_id/widget-origins',
  summary: 'Change the widget origins',
  description: 'Replaces the whole list. An empty list allows no other site.',
  access: onWorkspace('developers:manage'),
  event: 'workspace.updated',
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({ widget_origins: Type.Array(InputText(), { maxItems: ORIGINS_MAX }) }),
  reply: WidgetOrigins,
  errors: ['invalid_request'],
  example: { body: { widget_origins: exampleWidgetOrigins.widget_origins }, reply: exampleWidgetOrigins },
  run: ({ body, one, refuse }) => {
    const origins = readOrigins(body.widget_origins);
    if (origins instanceof ApiError) return refuse(origins);
    return one({
      // Lock the row so that concurrent changes run one after another and each audits the list it replaced.
      before: sql`
        select ${widgetOriginsColumns} from workspaces w join access a on a.workspace_id = w.workspace_id for no key update of w`,
      result: sql`
        update workspaces w set widget_origins = ${origins}::text[] from before
        where w.workspace_id = before.workspace_id returning ${widgetOriginsColumns}`,
    });
  },
});
