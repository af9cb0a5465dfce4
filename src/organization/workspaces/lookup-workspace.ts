import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWorkspace, toWorkspace, Workspace, type WorkspaceRow, workspaceColumns } from './schema.ts';

export const lookupWorkspace = endpoint({
  method: 'GET',
  path: '/v1/workspaces/lookup',
  summary: 'Look up a workspace by its slug',
  description:
    "Finds one of the caller's workspaces by its slug or one of its last ten slugs. The response has the current slug.",
  access: signedIn(),
  query: Type.Object({ slug: Type.String({ minLength: 1, maxLength: 256 }) }),
  reply: Workspace,
  errors: ['not_found'],
  example: { reply: exampleWorkspace },
  run: async ({ query: { slug }, one }) => {
    const { granted, ...row } = await one<WorkspaceRow & { granted: string[] | null }>(sql`
      select ${workspaceColumns}, a.granted
      from access a
      cross join lateral (
        select o.workspace_id from workspaces o where o.slug = ${slug}
        union all
        select s.workspace_id from workspace_slugs s where s.slug = ${slug}
        limit 1) named
      join memberships m on m.user_id = a.user_id and m.status = 'active' and m.workspace_id = named.workspace_id
        and (a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id)
      join workspaces w on w.workspace_id = m.workspace_id
    `);
    return toWorkspace(row, granted);
  },
});
