import { jsonObject } from '../db/json-object.ts';
import { sql } from '../db/sql.ts';
import { Wiki, wikiColumns } from '../wikis/schema.ts';
import { manageFlags, toWorkspace, User, userColumns, WorkspaceRow, workspaceColumns } from './schema.ts';

interface OverviewRow {
  user: User;
  granted: string[] | null;
  bound_workspace_id: string | null;
  last_workspace_id: string | null;
  workspaces: WorkspaceRow[];
  wikis: Wiki[];
}

/** One model for both overviews: the caller, their workspaces (oldest membership first) and the wikis in them. */
export const overviewStatement = sql`
  select
    ${jsonObject(User, userColumns)} as "user", a.granted, a.bound_workspace_id, a.last_workspace_id,
    coalesce((
      select json_agg(${jsonObject(WorkspaceRow, workspaceColumns)} order by m.created_at, m.membership_id)
      from memberships m join workspaces w on w.workspace_id = m.workspace_id
      where m.user_id = a.user_id and m.status = 'active'
        and (a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id)), '[]') as workspaces,
    coalesce((
      select json_agg(${jsonObject(Wiki, wikiColumns)} order by w.wiki_id)
      from memberships m join wikis w on w.workspace_id = m.workspace_id
      where m.user_id = a.user_id and m.status = 'active'
        and (a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id)), '[]') as wikis
  from access a join users u on u.user_id = a.user_id`;

/** The model with what is computed: permissions, flags, and the current workspace (the key's, the last used, the oldest). */
export function readOverview(row: OverviewRow) {
  const workspaces = row.workspaces.map((workspace) => ({
    ...toWorkspace(workspace, row.granted),
    flags: manageFlags(workspace.role, row.granted),
  }));
  const current =
    workspaces.find((workspace) => workspace.workspace_id === (row.bound_workspace_id ?? row.last_workspace_id)) ??
    workspaces[0];
  const readable = new Set(
    workspaces
      .filter((workspace) => workspace.permissions.includes('pages:read'))
      .map((workspace) => workspace.workspace_id),
  );
  return { user: row.user, workspaces, current, wikis: row.wikis.filter((wiki) => readable.has(wiki.workspace_id)) };
}

export type OverviewModel = ReturnType<typeof readOverview>;
export type { OverviewRow };
