import { Type } from 'typebox';
import { onWidget } from '../access/access-rule.ts';
import { Record } from '../core/records.ts';
import { jsonObject } from '../db/json-object.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import {
  exampleUser,
  exampleWorkspace,
  toWorkspace,
  User,
  userColumns,
  Workspace,
  WorkspaceRow,
  workspaceColumns,
} from '../workspaces/schema.ts';

export const profileWidget = endpoint({
  method: 'GET',
  path: '/v1/widgets/profile',
  summary: 'Get the profile widget',
  description: "The caller's profile and memberships.",
  access: onWidget('profile'),
  reply: Record({ user: User, workspaces: Type.Array(Workspace) }),
  example: { reply: { user: exampleUser, workspaces: [exampleWorkspace] } },
  run: async ({ one }) => {
    const { user, workspaces } = await one<{ user: User; workspaces: WorkspaceRow[] }>(sql`
      select
        ${jsonObject(User, userColumns)} as "user",
        (
          select json_agg(${jsonObject(WorkspaceRow, workspaceColumns)} order by m.created_at, m.membership_id)
          from memberships m join workspaces w on w.workspace_id = m.workspace_id
          where m.user_id = u.user_id and m.status = 'active') as workspaces
      from access a join users u on u.user_id = a.user_id
    `);
    return {
      user,
      workspaces: workspaces.map((row) => toWorkspace(row, null)),
    };
  },
});
