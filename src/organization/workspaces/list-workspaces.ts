import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWorkspace, toWorkspace, Workspace, type WorkspaceRow, workspaceColumns } from './schema.ts';

export const listWorkspaces = endpoint({
  method: 'GET',
  path: '/v1/workspaces',
  summary: 'List workspaces',
  description: "The caller's workspaces; a workspace key sees only its own.",
  access: signedIn(),
  reply: Type.Array(Workspace),
  example: { reply: [exampleWorkspace] },
  run: async ({ many }) => {
    const rows = await many<WorkspaceRow & { granted: string[] | null }>(sql`
      select ${workspaceColumns}, a.granted
      from access a
      join memberships m on m.user_id = a.user_id and m.status = 'active'
        and (a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id)
      join workspaces w on w.workspace_id = m.workspace_id
      order by w.workspace_id
    `);
    return rows.map(({ granted, ...row }) => toWorkspace(row, granted));
  },
});
