import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';

/** A frame is requested before its token is known. The response reveals no more than a preflight does. */
export const mayBeFramed = endpoint({
  method: 'GET',
  path: '/v1/widget-frames',
  summary: 'May a site frame widgets',
  description:
    'Whether the workspace allows pages of this origin to show its widgets; false if there is no such workspace.',
  access: anyone(),
  query: Type.Object({
    workspace: Type.Optional(
      Type.String({ maxLength: 64, description: 'ID of the workspace. If omitted, the result is false.' }),
    ),
    origin: Type.Optional(
      Type.String({
        maxLength: 300,
        description: 'As browsers send it: `https://host[:port]`. If omitted, the result is false.',
      }),
    ),
  }),
  reply: Record({ allowed: Type.Boolean() }, { title: 'FramePermission' }),
  example: { reply: { allowed: true } },
  run: ({ query: { workspace = '', origin = '' }, one }) =>
    one(sql`select widget_origin_is_allowed(${origin}, ${workspace}) as allowed from access`),
});
