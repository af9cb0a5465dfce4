import { effectivePermissions } from '../access/roles.ts';
import { sql } from '../db/sql.ts';
import { manageFlags, type User, type Workspace } from './schema.ts';

interface OverviewRow {
  user: User;
  granted: string[] | null;
  bound_workspace_id: string | null;
  last_workspace_id: string | null;
  workspaces: Omit<Workspace, 'permissions'>[];
  wikis: { wiki_id: string; workspace_id: string; slug: string; title: string; description: string }[];
}

/** One model for both overviews: the caller, their workspaces (oldest membership first) and the wikis in them. */
export const overviewStatement = sql`
  select
    json_build_object('user_id', u.user_id, 'email', u.email, 'display_name', u.display_name, 'avatar_url', u.avatar_url) as "user",
    a.granted, a.bound_workspace_id, a.last_workspace_id,
    coalesce((
      select json_agg(json_build_object('workspace_id', w.workspace_id, 'name', w.name, 'slug', w.slug, 'role', m.role)
        order by m.created_at, m.membership_id)
      from memberships m join workspaces w on w.workspace_id = m.workspace_id
      where m.user_id = a.user_id and m.status = 'active'
        and (a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id)), '[]') as workspaces,
    coalesce((
      select json_agg(json_build_object('wiki_id', k.wiki_id, 'workspace_id', k.workspace_id, 'slug', k.slug,
        'title', k.title, 'description', k.description) order by k.wiki_id)
      from memberships m join wikis k on k.workspace_id = m.workspace_id
      where m.user_id = a.user_id and m.status = 'active'
        and (a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id)), '[]') as wikis
  from access a join users u on u.user_id = a.user_id`;

/** The model with what is computed: permissions, flags, and the current workspace (the key's, the last used, the oldest). */
export function readOverview(row: OverviewRow) {
  const workspaces = row.workspaces.map((workspace) => ({
    ...workspace,
    permissions: effectivePermissions(workspace.role, row.granted),
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
