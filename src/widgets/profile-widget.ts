import { Type } from 'typebox';
import { onWidget } from '../access/access-rule.ts';
import { effectivePermissions } from '../access/roles.ts';
import { Record } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { exampleUser, exampleWorkspace, User, Workspace } from '../workspaces/schema.ts';

export const profileWidget = endpoint({
  method: 'GET',
  path: '/v1/widgets/profile',
  summary: 'Get the profile widget',
  description: "The caller's profile and memberships.",
  access: onWidget('profile'),
  reply: Record({ user: User, workspaces: Type.Array(Workspace) }),
  example: { reply: { user: exampleUser, workspaces: [exampleWorkspace] } },
  run: async ({ one }) => {
    const { user, workspaces } = await one<{ user: User; workspaces: Workspace[] }>(sql`
      select
        json_build_object('user_id', u.user_id, 'email', u.email, 'display_name', u.display_name,
          'avatar_url', u.avatar_url) as "user",
        (
          select json_agg(json_build_object('workspace_id', w.workspace_id, 'name', w.name, 'slug', w.slug, 'role', m.role)
            order by m.created_at, m.membership_id)
          from memberships m join workspaces w on w.workspace_id = m.workspace_id
          where m.user_id = u.user_id and m.status = 'active') as workspaces
      from access a join users u on u.user_id = a.user_id
    `);
    return {
      user,
      workspaces: workspaces.map((row) => ({ ...row, permissions: effectivePermissions(row.role, null) })),
    };
  },
});
