import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DeletedWorkspace, exampleWorkspace } from './schema.ts';

export const listDeletedWorkspaces = endpoint({
  method: 'GET',
  path: '/v1/me/deleted-workspaces',
  summary: 'List deleted workspaces',
  description: 'Workspaces that were deleted in the last 30 days and that the caller owned.',
  access: signedIn({ session: true }),
  reply: Type.Array(DeletedWorkspace),
  example: {
    reply: [
      {
        workspace_id: exampleWorkspace.workspace_id,
        name: exampleWorkspace.name,
        slug: exampleWorkspace.slug,
        deleted_at: '2026-11-21T05:29:32.104Z',
        purged_after: '2026-12-21T05:29:32.104Z',
      },
    ],
  },
  run: ({ many }) => many(sql`select d.* from access, deleted_workspaces() d order by d.deleted_at, d.workspace_id`),
});
