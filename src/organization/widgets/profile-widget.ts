import { Type } from 'typebox';
import { onWidget } from '../../platform/access/access-rule.ts';
import { Flag, Id, Record } from '../../platform/core/records.ts';
import { jsonObject } from '../../platform/db/json-object.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
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
import { canAct } from './schema.ts';

interface Row {
  user: User;
  workspaces: WorkspaceRow[];
  workspace_id: string;
  membership_id: string;
  granted: string[] | null;
  /** Whether a session created the token. */
  is_by_session: boolean;
}

export const profileWidget = endpoint({
  method: 'GET',
  path: '/v1/widgets/profile',
  summary: 'Get the profile widget',
  description: "The caller's profile and memberships.",
  access: onWidget('profile'),
  reply: Record(
    {
      user: User,
      workspaces: Type.Array(Workspace),
      workspace_id: Id,
      membership_id: Id,
      can_change: Flag,
      can_manage_sessions: Flag,
    },
    { title: 'ProfileWidget' },
  ),
  example: {
    reply: {
      user: exampleUser,
      workspaces: [exampleWorkspace],
      workspace_id: exampleWorkspace.workspace_id,
      membership_id: 'mem_01jd8w3v6xf3e8h2k9m4n5p6r1',
      can_change: true,
      can_manage_sessions: true,
    },
  },
  run: async ({ one, credential, services }) => {
    const { workspaces, granted, is_by_session, ...row } = await one<Row>(sql`
      select a.granted, a.workspace_id, a.membership_id, a.credential_id like 'ses\\_%' as is_by_session,
        ${jsonObject(User, userColumns(services))} as "user",
        (
          select json_agg(${jsonObject(WorkspaceRow, workspaceColumns)} order by m.created_at, m.membership_id)
          from memberships m join workspaces w on w.workspace_id = m.workspace_id
          where m.user_id = u.user_id and m.status = 'active') as workspaces
      from access a join users u on u.user_id = a.user_id
    `);
    return {
      ...row,
      workspaces: workspaces.map((workspace) => toWorkspace(workspace, granted)),
      can_change: canAct(credential) && granted === null,
      can_manage_sessions: canAct(credential) && is_by_session,
    };
  },
});
